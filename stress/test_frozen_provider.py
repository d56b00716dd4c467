"""A provider that is frozen: its runs can be stopped at once and end in time, and nobody else notices."""

import asyncio
import re
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest
from frozen import DEADLINE, SECONDS, Footprint, Workload, frozen_process, report, running_for_users

from support.paths import ROOT
from support.serving import chat_body, chunks_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 600)]
MODEL = "openai:gpt-5-mini"
#: As many as a user may have at once beside others.
RUNS_OF_ONE = 4


@asynccontextmanager
async def fake_provider():
    """A provider as a process of its own, and the environment that reaches it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.fake_provider"), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        environ = {}
        while "OPENAI_API_KEY" not in environ:
            line = (await process.stdout.readline()).decode()
            environ |= dict([re.fullmatch(r"export (\w+)=(.*)\n", line).groups()])  # pyright: ignore[reportCallIssue] - each line matches
        yield process.pid, environ
    finally:
        process.terminate()
        await process.communicate()


async def chat(program, user, chat_id):
    """The chunks of a run with the provider's model."""
    timeout = aiohttp.ClientTimeout(total=SECONDS + 120)
    body = chat_body("hello", chat_id, model=MODEL)
    async with program.session.post(f"{program.url}/api/chat", json=body, headers=user, timeout=timeout) as answer:
        assert answer.status == 200, await answer.text()
        return chunks_in(await answer.read())


async def stop(program, user, chat_id):
    async with program.session.post(f"{program.url}/api/chat/{chat_id}/stop", headers=user) as answer:
        assert answer.status == 204, await answer.text()


def serving_runs(folder, environ):
    """A server whose runs take at most half the time of the freeze."""
    return running_for_users(folder, "--max-seconds", str(SECONDS / 2), **environ)


@asynccontextmanager
async def working(folder):
    """A server, its frozen-to-be provider, and four users who work with the inspector."""
    async with (
        fake_provider() as (provider, environ),
        serving_runs(folder, environ) as (program, headers),
        Workload(program.url, [headers(f"user {number}") for number in range(4)]) as work,
    ):
        await work.until(3)
        yield provider, program, headers, work


def failures(chunks):
    return [chunk for chunk in chunks if chunk["type"] == "error"]


async def test_a_frozen_provider_delays_nobody_else(tmp_path):
    async with working(tmp_path) as (provider, program, headers, work):
        ann = headers("ann")
        users = [ann] * RUNS_OF_ONE + [headers(f"ann {number // RUNS_OF_ONE}") for number in range(16)]
        assert not failures(await chat(program, ann, "before"))
        before = Footprint.of(program.process.pid)
        with frozen_process(provider), work.during() as frozen:
            waiting = [asyncio.create_task(chat(program, user, f"run {number}")) for number, user in enumerate(users)]
            await asyncio.sleep(SECONDS / 4)
            during = Footprint.of(program.process.pid)
            async with asyncio.timeout(DEADLINE):
                await stop(program, ann, "run 0")
                stopped = await waiting[0]
            async with asyncio.timeout(SECONDS / 2 + DEADLINE):
                ended = await asyncio.gather(*waiting[1:])
        assert not failures(await chat(program, ann, "after"))
        report(work.summary(frozen), before, during, await before.returns(program.process.pid))
    report(stopped[-1], ended[0][-2:])
    assert during.threads <= before.threads + 8
    assert not work.late(frozen, DEADLINE)
    assert not work.failed(frozen)
