"""Decoders that are frozen again and again: their files are refused in time, and nobody else notices."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from frozen import FREE, SECONDS, Footprint, Workload

from support import fixtures
from support.many_users import ask
from support.server_process import running, until

pytestmark = pytest.mark.anyio
#: Seconds: a file's limit in a child, of which one user has two, and what a busy machine adds.
DEADLINE = {"upload": 10 + 5, "thumbnail": 30 + 5}
PATH = "/api/attachments"


def children(pid):
    """The decoding processes of a server, with those that they started."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that ended
            found += [int(child) for child in (task / "children").read_text().split()]
    decoders = [child for child in found if is_decoder(child)]
    return [*decoders, *(below for child in decoders for below in children(child))]


def is_decoder(pid):
    with suppress(OSError):
        return b"showandtell.media.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def is_stopped(pid):
    return "T (stopped)" in Path(f"/proc/{pid}/status").read_text()


async def freeze(pid):
    """Stop every decoder that there is, and each new one soon after its start."""
    frozen = set()
    try:
        while True:
            for child in children(pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGSTOP)
                    frozen.add(child)
            await asyncio.sleep(0.1)
    finally:
        print(f"{len(frozen)} decoders were frozen")  # noqa: T201


async def store_pdf(session, url):
    """The URL of a new PDF's thumbnail."""
    data = fixtures.pdf(os.urandom(8).hex())
    async with session.put(f"{url}{PATH}?name=a.pdf", data=data) as answer:
        return f"{url}{PATH}/{(await answer.json())['id']}/thumbnail"


async def decode(session, url, thumbnail, outcomes):
    """Upload pictures and ask for a thumbnail, one after the other."""
    count = 0
    while True:
        count += 1
        for kind, method, where, data in (
            ("upload", "PUT", f"{url}{PATH}?name=a.bmp", fixtures.bmp(count % 2000 + 1, count // 2000 + 1)),
            ("thumbnail", "GET", thumbnail, None),
        ):
            started = time.monotonic()
            status, body = await ask(session, method, where, data=data)
            outcomes.append((kind, time.monotonic() - started, status, body))
            await asyncio.sleep(0.05)


async def test_frozen_decoders_refuse_their_files_and_stop_nobody_else(tmp_path):
    async with running(tmp_path, "--rate", f"{FREE},decoder=1000000/hour") as program:
        pid, outcomes = program.process.pid, []
        users = [{"authorization": f"Bearer {program.token}"}] * 6
        thumbnails = [await store_pdf(program.session, program.url) for _ in range(2)]
        async with Workload(program.url, users) as work:
            await work.until(5)
            before = Footprint.of(pid)
            pictures = [
                asyncio.create_task(decode(program.session, program.url, thumbnail, outcomes))
                for thumbnail in thumbnails
            ]
            freezing = asyncio.create_task(freeze(pid))
            with work.during() as span:
                await asyncio.sleep(SECONDS)
            freezing.cancel()
            print(work.summary(span))  # noqa: T201
            assert not work.late(span)
            assert not work.failed(span)
            refused = [one for one in outcomes if one[2] >= 300]
            assert refused
            for kind, seconds, status, body in outcomes:
                assert seconds < DEADLINE[kind], (kind, seconds, status, body)
                assert status < 300 or (status in {404, 422, 429} and b"error" in body)
            outcomes.clear()
            await until(lambda: {"upload", "thumbnail"} <= {one[0] for one in outcomes if one[2] < 300})
            for task in pictures:
                task.cancel()
            await asyncio.wait(pictures)
        print(await before.returns(pid), before)  # noqa: T201
        assert not [child for child in children(pid) if is_stopped(child)]
