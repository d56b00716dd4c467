"""A server that is killed at many moments of a run: what was acknowledged is there, and no tool is run twice (E5, F1, F4)."""

import asyncio
import json
from contextlib import suppress

import aiohttp
import pytest

from support.postgres import each_database, new_database
from support.server_process import running
from support.serving import chat_body

pytestmark = pytest.mark.anyio
POINTS = 24
#: The first moment, and the time between two of them, in seconds: a run takes about a tenth of one.
FIRST, STEP = 0.08, 0.008


async def kill_after(program, chat, seconds):
    """Say something, and kill the server so long after; gives whether a stream had begun."""
    begun = False
    killing = asyncio.create_task(kill(program, seconds))
    with suppress(aiohttp.ClientError):
        async with program.session.post(
            f"{program.url}/api/chat", json=chat_body(f"/hold name={chat}", chat)
        ) as answer:
            async for line in answer.content:
                begun = begun or line.startswith(b"data: {")
    await killing
    return begun


async def kill(program, seconds):
    await asyncio.sleep(seconds)
    program.process.kill()
    await program.process.wait()


async def read(program, path):
    async with program.session.get(program.url + path) as answer:
        return answer.status, await answer.read()


async def settle(program, chat):
    """Follow a chat until nothing runs in it; gives what the last stream said."""
    output = b""
    while True:
        status, data = await read(program, f"/api/chat/{chat}/stream")
        if status != 200:
            return output
        output = data or output


def words(stream):
    chunks = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith(b"data: {")]
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


@each_database
async def test_a_server_that_is_killed_at_any_moment_loses_nothing_and_runs_no_tool_twice(database, tmp_path):
    place = ("--database", new_database(database, tmp_path))
    ended = {"nothing": 0, "whole": 0, "open": 0}
    for point in range(POINTS):
        chat = f"c{point}"
        (tmp_path / f"{chat}.go").touch()
        async with running(tmp_path, *place) as program:
            begun = await kill_after(program, chat, FIRST + point * STEP)
        async with running(tmp_path, *place) as program:
            output = words(await settle(program, chat))
            assert len([*tmp_path.glob(f"{chat}.[0-9]*")]) <= 1
            ended[await check(program, chat, output, begun=begun)] += 1
            async with program.session.post(f"{program.url}/api/chat", json=chat_body("Hello", chat, "m2")) as answer:
                assert (answer.status, b'"finishReason":"stop"' in await answer.read()) == (200, True)
    print(f"\n{database}: {ended}")  # noqa: T201 - counted


async def check(program, chat, output, *, begun):
    """What is left of a run: nothing if nothing was acknowledged, or the message and the answer to it."""
    _, listed = await read(program, "/api/conversations?limit=1")
    listed = json.loads(listed)["conversations"]
    found = None
    for item in listed:
        _, data = await read(program, f"/api/conversations/{item['id']}")
        found = json.loads(data)
    if found is None or found["alias"] != chat or not found["messages"]:
        assert not begun
        return "nothing"
    assert not found["running"]
    assert found["messages"][0]["role"] == "user"
    assert [message["role"] for message in found["messages"]].count("user") == 1
    texts = [part["text"] for message in found["messages"][1:] for part in message["parts"] if part["type"] == "text"]
    assert output in {"", "".join(texts)}
    return "whole" if found["messages"][-1]["metadata"]["status"] == "complete" else "open"
