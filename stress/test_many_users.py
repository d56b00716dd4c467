"""A hundred users who chat without a pause, and five thousand readers of answers that are not there yet."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from statistics import quantiles

import aiohttp
import pytest
from frozen import Footprint, report, running_for_users, sampled

from support import fixtures
from support.serving import chat_body, chunks_in

#: Seconds that the users chat.
SECONDS = float(os.environ.get("MANY_USERS_SECONDS", "600"))
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 600)]
USERS = 100
#: Messages of a conversation; every fourth has a new picture, and every fourth calls a tool.
MESSAGES = 20
#: Every eighth message, one with a new picture, asks about it: the answer needs OCR, which reads one picture at a time.
QUESTION_EVERY = 8
#: Runs whose tool waits, and the readers of each.
RUNS, READERS = 50, 100
#: Threads for work on files, which come and go with the load: as many as `MAX_THREADS` of `storage.blobs.threads`.
POOLED = 64
TOOLS = """
import asyncio

async def wait() -> str:
    await asyncio.Event().wait()

TOOLS = [wait]
"""


async def answer(session, body):
    """Send a message, and check that its answer is complete."""
    async with session.post("/api/chat", json=body) as response:
        data = await response.read()
        assert response.status == 200, data
        assert chunks_in(data)[-1]["type"] == "finish", data[-500:]


async def chat(session, user, until, seconds):
    """Whole turns of one user, one after the other. Appends the seconds of each."""
    count = 0
    while time.monotonic() < until:
        name, files = f"chat {user} {count // MESSAGES}", ()
        words = "/view_file number=1" if count % MESSAGES and count % 4 == 2 else "hello"
        words = "what is this?" if count % QUESTION_EVERY == 0 else words
        started = time.monotonic()
        if count % 4 == 0:
            picture = fixtures.png(100 + user, 100 + count % 1000)
            async with session.put("/api/attachments", params={"name": "a.png"}, data=picture) as put:
                assert put.status == 201, await put.text()
                files = ((await put.json())["id"],)
        await answer(session, chat_body(words, name, f"message {count}", files))
        seconds.append(time.monotonic() - started)
        count += 1


async def test_turns_of_a_hundred_users_take_about_the_same_time(tmp_path):
    seconds = []
    async with running_for_users(tmp_path) as (program, headers), AsyncExitStack() as stack:
        sessions = []
        for number in range(USERS):
            client = aiohttp.ClientSession(program.url, headers=headers(f"user {number}"))
            sessions.append(await stack.enter_async_context(client))
        async with sampled(program.process.pid) as samples:
            end = time.monotonic() + SECONDS
            await asyncio.gather(*(chat(session, user, end, seconds) for user, session in enumerate(sessions)))
    cuts, warm = quantiles(seconds, n=100), samples[len(samples) // 3]
    report(
        f"{len(seconds)} turns of {USERS} users in {SECONDS:.0f} s, no error",
        f"median {cuts[49]:.2f} s, p95 {cuts[94]:.2f}, p99 {cuts[98]:.2f} ({cuts[98] / cuts[49]:.1f} x), at most {max(seconds):.2f}",
        f"after a third of the time {warm}, at the end {samples[-1]}",
    )
    assert warm.holds(samples[-1], threads=POOLED)


async def test_thousands_of_idle_readers_cost_little_and_no_more_when_they_come_again(tmp_path):
    timeout, connector = aiohttp.ClientTimeout(total=None), aiohttp.TCPConnector(limit=0)
    (tmp_path / "waiting.py").write_text(TOOLS)
    async with (
        running_for_users(tmp_path, "--tools", "waiting:TOOLS") as (program, headers),
        aiohttp.ClientSession(program.url, timeout=timeout, connector=connector) as session,
    ):
        pid, users = program.process.pid, [headers(f"user {number}") for number in range(RUNS)]

        async def start(user):
            return await session.post("/api/chat", json=chat_body("/wait", "idle"), headers=user)

        async def follow(user):
            return await session.get("/api/chat/idle/stream", headers=user)

        answers = await asyncio.gather(*map(start, users))
        before, rounds = Footprint.of(pid), []
        for _ in range(2):
            for _ in range(READERS):
                answers += await asyncio.gather(*map(follow, users))
            assert {one.status for one in answers} == {200}
            during = Footprint.of(pid)
            while answers:
                answers.pop().close()
            rounds += [during, await replace(during, descriptors=before.descriptors).returns(pid)]
    each = (rounds[0].memory - before.memory) / (RUNS * READERS)
    report(f"{RUNS * READERS} readers: {each / 1000:.1f} kB each; {before}, then {rounds}")
    assert rounds[0].holds(rounds[2])
