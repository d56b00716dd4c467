"""What a page shows of a conversation: from its stream, and after loading it again."""

import asyncio

import msgspec

from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.answer import UiAccumulator
from support.serving import chunks_of, kinds


async def stored(site):
    return await site.store.open((await site.store.newest()).id)


async def page(site):
    """What the page gets of the newest conversation."""
    found = await site.get(f"/api/conversations/{(await site.store.newest()).id}")
    assert found[0] == 200
    return found[1]


async def idle(site):
    """Wait until nothing runs."""
    await until(lambda: not site.server.runs.live_count)


async def until(true):
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - many things may make it so
            await asyncio.sleep(0.01)


def read_chunk(chunk):
    if chunk["type"] == "tool-input-available":
        given = msgspec.Raw(msgspec.json.encode(chunk["input"]))
        return ui.Input(chunk["toolCallId"], chunk["toolName"], given)
    return msgspec.convert(chunk, ui.Chunk)


def fold(chunks):
    """The message that a client makes of a stream."""
    made = UiAccumulator()
    made.add(map(read_chunk, chunks))
    return msgspec.to_builtins(made.message)


async def check_page(site, chunks):
    """What the page reads is what the stream came to."""
    assert fold(chunks) == (await page(site))["messages"][-1]


async def check_usable(site, chat):
    """Every call has its result, and the conversation can continue."""
    status, chunks = await site.post("Hello", chat, id="after")
    assert (status, kinds(chunks)[-1], chunks[-1]["finishReason"]) == (200, "finish", "stop")


async def both(session, body):
    async with session.post("/api/chat", json=body) as answer:
        return answer.status, await chunks_of(answer)
