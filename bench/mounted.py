"""The chat mounted in a FastAPI program beside the same chat at the root: what the mount adds to a request.

Both are served by uvicorn in one process of their own, on two ports, with one store. The client asks them in turn over
kept connections. Processor time of the server's process a request, median of the rounds, and the median of the ratios
of the two in each round.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile

import aiohttp
import uvicorn
from fastapi import FastAPI

from figures import FLOOR, Figure, save
from processes import processor_seconds
from showandtell import Agent, Store
from showandtell.asgi import chat_app

GOAL = 1.05
ROUNDS, REQUESTS = 31, 200
PATHS = ("/api/me", "/api/conversations")


async def identify(request: object) -> str:
    """Everybody is one user."""
    del request
    return "ann"


async def serve() -> None:
    """Serve both until standard input ends, and print their ports."""
    settings = {"secret": b"s" * 32, "rates": "reads=1000000/minute"}
    chat = chat_app(Store.at(tempfile.mkdtemp()), Agent("inspector"), user=identify, **settings)
    host = FastAPI()
    host.mount("/assistant", chat)
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    for one in sockets:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    servers = [uvicorn.Server(uvicorn.Config(app, log_level="error")) for app in (chat, host)]
    serving = [server.serve([one]) for server, one in zip(servers, sockets, strict=True)]
    tasks = [asyncio.create_task(coroutine) for coroutine in serving]
    print(*(one.getsockname()[1] for one in sockets), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks)


async def measure(process: int, url: str, path: str, session: aiohttp.ClientSession) -> float:
    """Microseconds a request."""
    start = processor_seconds(process)
    for _ in range(REQUESTS):
        async with session.get(url + path) as answer:
            assert answer.status == 200
            await answer.read()
    return (processor_seconds(process) - start) / REQUESTS * 1e6


async def main() -> None:
    """Print the table."""
    child = await asyncio.create_subprocess_exec(sys.executable, __file__, "serve", stdin=-1, stdout=-1)
    assert child.stdout is not None
    assert child.stdin is not None
    ports = (await child.stdout.readline()).split()
    urls = [f"http://127.0.0.1:{int(ports[0])}", f"http://127.0.0.1:{int(ports[1])}/assistant"]
    figures: list[Figure] = []
    async with aiohttp.ClientSession() as session:
        for path in PATHS:
            times = [[await measure(child.pid, url, path, session) for url in urls] for _ in range(ROUNDS + 1)][1:]
            at_root, mounted = ([*column] for column in zip(*times, strict=True))
            work = f"GET of `{path}`, mounted, beside the chat at the root (the floor)"
            figures.append(Figure(work, "µs", mounted, {FLOOR: at_root}, of="floor", goal=GOAL))
    child.stdin.close()
    await child.wait()
    save(__doc__, figures)


if __name__ == "__main__":
    asyncio.run(serve() if sys.argv[1:] == ["serve"] else main())
