"""Clients that stop reading: others are served as before, and after a minute they are let go with all that they held."""

import asyncio
import json
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from frozen import DEADLINE, MB, SECONDS, Footprint, Workload, report, running_for_users

from showandtell.server.downloads import MAX_OPEN
from showandtell.server.middleware.h11_timeouts import READ_TIMEOUT
from support.serving import chat_body

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 900)]
USERS, FILE_BYTES = 17, 19_000_000
#: Stalled clients: as many downloads as each user may have open.
STALLED = USERS * MAX_OPEN


def stall(program, headers, path, method="GET", body=b""):
    """Send a request and read nothing of its response."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
    client.connect((urlsplit(program.url).hostname, urlsplit(program.url).port))
    lines = {"Host": urlsplit(program.url).netloc, **headers, "Content-Length": len(body)}
    lines |= {"Content-Type": "application/json"} if body else {}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    client.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    return client


async def stalled_downloads(program, headers, clients):
    """Each user uploads a file, and requests it as often as allowed."""
    for number in range(USERS):
        user = headers(f"user {number}")
        data = number.to_bytes(4, "big") * (FILE_BYTES // 4)
        async with program.session.put(
            f"{program.url}/api/attachments?name=a.bin", data=iter_of(data), headers=user
        ) as put:
            assert put.status == 201, await put.text()
            url = urlsplit((await put.json())["url"])
        path = f"{url.path}?{url.query}"
        for _ in range(MAX_OPEN):
            clients.enter_context(stall(program, user, path))


async def iter_of(data):
    for start in range(0, len(data), MB):
        yield data[start : start + MB]


async def until_open(pid, count, condition, seconds=READ_TIMEOUT * 2 + 60):
    """Wait until the number of a process's descriptors fulfills a condition."""
    async with asyncio.timeout(seconds):
        while not condition(Footprint.of(pid).descriptors, count):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.5)
    return Footprint.of(pid)


async def test_stalled_downloads_cost_little_and_leave(tmp_path):
    async with running_for_users(tmp_path) as (program, headers), Workload(program.url, [headers("ann")] * 2) as work:
        pid = program.process.pid
        await work.until(3)
        with ExitStack() as clients, work.during() as frozen:
            before = Footprint.of(pid)
            await stalled_downloads(program, headers, clients)
            # A connection and an open file each.
            held = await until_open(pid, before.descriptors + 2 * STALLED - 10, int.__ge__)
            report(f"{STALLED} stalled downloads: {(held.memory - before.memory) / STALLED / MB:.2f} MB each")
            assert held.memory - before.memory < STALLED * MB
            await until_open(pid, before.descriptors + 20, int.__le__)
        await work.until(3)
        report(work.summary(frozen), before, await before.returns(pid))
        assert not work.late(frozen, DEADLINE)
        assert not work.failed(frozen)


async def test_stalled_readers_of_runs_leave(tmp_path):
    words = json.dumps(chat_body("word " * 100_000, "long")).encode()
    async with running_for_users(tmp_path) as (program, headers), Workload(program.url, [headers("ann")]) as work:
        pid = program.process.pid
        await work.until(3)
        before = Footprint.of(pid)
        with ExitStack() as clients:
            for number in range(20):
                clients.enter_context(stall(program, headers(f"user {number}"), "/api/chat", "POST", words))
            await until_open(pid, before.descriptors + 20, int.__ge__)
            await work.until(1, {"chat"})  # the runs themselves take the processor for a while
            with work.during() as frozen:
                await until_open(pid, before.descriptors + 5, int.__le__)
        assert not work.late(frozen, DEADLINE)
        assert not work.failed(frozen)
        # Conversations and answers of half a megabyte each stay in caches.
        report(work.summary(frozen), before, await before.returns(pid, memory=20 * 10 * MB))
