"""Soak test of the chat server: twenty concurrent conversations for half an hour, with faults in 1% of operations.

The provider rejects requests, breaks off and hangs; readers and uploads disconnect; the server is killed twice. At the
end everything is read back: no turn may be lost, and the server must hold no more resources than after warm-up.
`python bench/soak.py 30` takes half an hour. A second argument is the share of faults (default: 0.01).
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

import aiohttp
from msgspec import Struct
from msgspec.structs import astuple

from figures import table
from load import picture
from served.checks import read_back
from served.talks import Clients
from servers import HERE, client, ours, resident, started

TALKERS, SEED, CROWD = 20, 25, 100
#: Parts of the time after which the server is killed, and that after which it is warm.
KILLS, WARM = (0.1, 0.2), 1 / 3
#: The longest wait until a server without work has let go of what it held, in seconds, and how long it must stay so.
REST, STEADY = 180.0, 40.0
#: The server's pools of threads grow with concurrent requests, up to this many threads in all; none of them ends.
POOLS = 140
NAMES = ("file descriptors", "threads", "child processes", "running runs", "open streams")
GAUGE = re.compile(r"^showandtell_(running|open_streams) ([\d.]+)", re.MULTILINE)


class Held(Struct, frozen=True):
    """Resources of a server: file descriptors, threads, child processes, runs, streams, bytes of memory."""

    fds: int
    threads: int
    children: int
    runs: int
    streams: int
    memory: int


class Server:
    """The server. After a kill it restarts with the same port and data."""

    def __init__(self, folder: Path, provider: str) -> None:
        self.data, self.log, self.provider = folder / "data", folder / "log", provider
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.pid, self.since = 0, 0.0
        self._stack = ExitStack()

    def start(self) -> str:
        """Start it and return its URL."""
        log = self._stack.enter_context(self.log.open("a"))
        self.since = time.time()
        url, self.pid = self._stack.enter_context(ours(str(self.data), self.provider, port=self.port, log=log))
        return url

    def end(self) -> None:
        """Stop it, or wait for a killed one."""
        self._stack.close()

    def start_again(self) -> None:
        """Restart it after a kill."""
        self.end()
        self.start()

    def spooled(self) -> int:
        """Number of files in the upload folder since the start."""
        spool = self.data / "blobs" / "spool"
        return sum(path.is_file() and path.stat().st_mtime > self.since for path in spool.rglob("*"))


async def look(url: str, pid: int) -> Held:
    """The current resources of the server, without this connection."""
    async with client(url) as session:
        await (await session.get("/api/me")).read()  # an answer to somebody: then idle threads are let go
        async with session.get("/metrics") as answer:
            gauges = {name: int(float(value)) for name, value in GAUGE.findall(await answer.text())}
    await asyncio.sleep(1)
    return Held(*count(Path(f"/proc/{pid}")), gauges["running"], gauges["open_streams"], resident(pid))


def count(process: Path) -> tuple[int, int, int]:
    """The file descriptors, threads and child processes of a process."""
    threads = list((process / "task").iterdir())
    children = [part for thread in threads for part in (thread / "children").read_text().split()]
    return len(list((process / "fd").iterdir())), len(threads), len(children)


async def rest(clients: Clients, pid: int) -> Held:
    """Wait until the server has let go of what it doesn't keep; gives what it holds then.

    First many ask at once: threads and decoders that are started when they are needed are all there afterwards.
    """
    async with client(clients.url) as clients.session:
        await asyncio.gather(*(clients.upload(picture(), is_cut=False) for _ in range(TALKERS)))
        await asyncio.gather(*(clients.hash_of(file) for file in [*clients.files][:CROWD]))
    now = lowest = await look(clients.url, pid)
    begun = since = time.monotonic()
    while time.monotonic() < min(begun + REST, since + STEADY):
        now = await look(clients.url, pid)
        if astuple(now)[:-1] != astuple(lowest)[:-1]:
            lowest, since = now, time.monotonic()
    return now


async def work(clients: Clients, until: float, name: str) -> None:
    """Run all conversations until a time of the loop's clock."""
    async with client(clients.url) as clients.session:
        await asyncio.gather(*(clients.talk(f"{SEED} {name} {at}", until) for at in range(TALKERS)))


async def kill_twice(server: Server, clients: Clients, moments: list[float]) -> None:
    """Kill and restart the server at times of the loop's clock."""
    for moment in moments:
        await asyncio.sleep(moment - asyncio.get_running_loop().time())
        os.kill(server.pid, SIGKILL)
        clients.kill()
        await asyncio.to_thread(server.start_again)


async def soak(minutes: float, share: float) -> tuple[list[list[object]], list[str]]:
    """The rows of the table, and the errors."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        server, clock = Server(folder, provider), asyncio.get_running_loop().time
        clients = Clients(server.start(), share)
        stack.callback(server.end)
        begun, whole = clock(), minutes * 60
        killing = asyncio.create_task(kill_twice(server, clients, [begun + whole * part for part in KILLS]))
        await work(clients, begun + whole * WARM, "warm")
        await killing
        warm = await rest(clients, server.pid)
        await work(clients, clock() + whole * (1 - WARM), "long")
        end = await rest(clients, server.pid)
        async with client(clients.url) as clients.session:
            found = await read_back(clients)
        async with aiohttp.ClientSession(provider) as session, session.get("/open") as answer:
            found["hang"] = int(await answer.text())
        found["spooled"] = server.spooled()
        output = server.log.read_text().splitlines()
        clients.wrong += (errors := [line for line in output if not line.startswith(("warning", " "))])
        found["errors"], found["warnings"] = len(errors), len(output) - len(errors)
    return [["minutes", f"{minutes:g}", ""], *outcomes(clients, found), *resources(warm, end)], clients.wrong


def outcomes(clients: Clients, found: Counter[str]) -> list[list[object]]:
    """Rows with what the clients did and what was read back."""
    pictures, tools = found["lost pictures"], found["lost files of tools"]
    none = {
        "lost turns": found["lost turns"],
        "lost images": pictures,
        "lost tool files": tools,
        "other errors": len(clients.wrong) - found["lost turns"] - pictures - tools - found["errors"],
        "runs still active": found["still running"],
        "requests still open at the provider": found["hang"],
        "leftover partial uploads": found["spooled"],
        "errors in the server log": found["errors"],
    }
    return [
        ["conversations", len(clients.talks), ""],
        ["turns", found["turns"], ""],
        ["complete answers", found["complete"], ""],
        ["answers ended early, with a reason", found["ended with a reason"], ""],
        *([name, done, ""] for name, done in sorted(clients.done.items()) if done),
        *([name, seen, ""] for name, seen in sorted(found.items()) if name.startswith("killed")),
        ["uploaded images", len(clients.files), ""],
        ["tool files", found["files of tools"], ""],
        ["tool files not stored because of a stop", found["files that a stop left unstored"], ""],
        ["warnings in the server log", found["warnings"], ""],
        *([name, seen, verdict(seen, 0)] for name, seen in none.items()),
    ]


def resources(warm: Held, end: Held) -> list[list[object]]:
    """Rows with the server's resources after warm-up and at the end."""
    rows: list[list[object]] = [
        [f"{name}, after warm-up and at the end", f"{was}, {now}", verdict(now, POOLS if name == "threads" else was)]
        for name, was, now in zip(NAMES, astuple(warm), astuple(end), strict=False)
    ]
    return [*rows, ["memory, MB, after warm-up and at the end", f"{warm.memory / 1e6:.0f}, {end.memory / 1e6:.0f}", ""]]


def verdict(measured: float, limit: float) -> str:
    """Whether a count keeps to its limit."""
    return "ok" if measured <= limit else "MISSED"


def main() -> None:
    """Print the table. Exit with 1 after any error or missed goal."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.01
    print(f"{TALKERS} conversations at a time, {share:.0%} faults, seed {SEED}, {os.cpu_count()} cores", flush=True)
    rows, wrong = asyncio.run(soak(minutes, share))
    print(table(["", "measured", "goal"], rows))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong) or any(row[2] == "MISSED" for row in rows))


if __name__ == "__main__":
    main()
