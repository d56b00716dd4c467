"""The messages of a conversation as the page has them: from the stream, and loaded from the server."""

import asyncio

import msgspec

from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.answer import UiAccumulator
from support.serving import chunks_of, kinds


async def stored(site):
    return await site.store.open((await site.store.newest()).id)


async def page(site):
    """The newest conversation as the server sends it."""
    found = await site.get(f"/api/conversations/{(await site.store.newest()).id}")
    assert found[0] == 200
    return found[1]


async def idle(site):
    """Wait until no run is left."""
    await until(lambda: not site.server.runs.live_count)


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - many tasks may make it true
            await asyncio.sleep(0.01)


def read_chunk(chunk):
    return msgspec.json.decode(msgspec.json.encode(chunk), type=ui.Chunk)


def fold(chunks):
    """The message that a client builds from a stream."""
    made = UiAccumulator()
    made.add(map(read_chunk, chunks))
    return msgspec.to_builtins(made.message)


async def check_page(site, chunks):
    """Check that the loaded message equals the streamed one."""
    assert fold(chunks) == (await page(site))["messages"][-1]


async def check_usable(site, chat):
    """Every call has its result, and the conversation can continue."""
    status, chunks = await site.post("Hello", chat, id="after")
    assert (status, kinds(chunks)[-1], chunks[-1]["finishReason"]) == (200, "finish", "stop")


async def both(session, body):
    async with session.post("/api/chat", json=body) as answer:
        return answer.status, await chunks_of(answer)
