"""A short answer of the chat server: CPU time of its process for a run of ten events, ten at once, again and again.

The floor is FastAPI with a route, a request to the provider and two durable commits, without reading what it relays.
The peers stream the same answers of the same provider and store nothing. Each round asks each server in turn. `first
byte` is the wall time of the slowest of a hundred when fifty users ask at once.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from statistics import quantiles
from typing import Any

import aiohttp

from figures import FLOOR, Figure, save
from processes import processor_seconds
from servers import HERE, bare, client, ours, proxy, pydantic_ai, read, started

#: Events of an answer, answers in a round, how many at once, and rounds.
EVENTS, RUNS, AT_ONCE, ROUNDS = 10, 200, 10, 8
USERS = 50
SERVERS: dict[str, tuple[Callable[[str, str], Any], str]] = {
    FLOOR: (bare, "/api/chat"),
    "ours": (ours, "/api/chat"),
    "LiteLLM 1.109": (proxy, "/v1/chat/completions"),
    "pydantic-ai 2.68": (pydantic_ai, "/api/chat"),
}


@asynccontextmanager
async def asking(url: str, path: str) -> AsyncIterator[Callable[[int, int], Any]]:
    """A function that asks for a number of answers, some at once, and returns the seconds to each first byte."""
    async with client(url) as session:

        async def ask(count: int, at_once: int) -> list[float]:
            places = asyncio.Semaphore(at_once)

            async def one(session: aiohttp.ClientSession) -> float:
                async with places:
                    return await read(session, EVENTS, path)

            return await asyncio.gather(*(one(session) for _ in range(count)))

        yield ask


async def measure() -> list[Figure]:
    """Measure all servers."""
    costs: dict[str, list[float]] = {name: [] for name in SERVERS}
    firsts: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        running = {
            name: (*stack.enter_context(start(folder, provider)), path) for name, (start, path) in SERVERS.items()
        }
        for at in range(ROUNDS + 1):
            for name, (url, process, path) in running.items():
                async with asking(url, path) as ask:
                    before = processor_seconds(process)
                    await ask(RUNS if name in {FLOOR, "ours"} else RUNS // 4, AT_ONCE)
                    spent = (processor_seconds(process) - before) * 1000
                if at:
                    costs[name].append(spent / (RUNS if name in {FLOOR, "ours"} else RUNS // 4))
            async with asking(running["ours"][0], "/api/chat") as ask:
                await ask(USERS, USERS)
                if at:
                    firsts.append(quantiles(await ask(2 * USERS, USERS), n=100)[-1] * 1000)
    own = costs.pop("ours")
    work = f"a run of {EVENTS} events, {AT_ONCE} at once"
    return [
        Figure(work, "ms", own, costs, of="floor", goal=3, before="7.0"),
        Figure(work, "ms", own, costs, of="best peer", goal=8, before="2.9"),
        Figure(f"first byte, {USERS} users at once, p99, wall", "ms", firsts, goal=100, before="290 to 390"),
    ]


if __name__ == "__main__":
    started_at = time.perf_counter()
    save(__doc__, asyncio.run(measure()))
    print(f"{time.perf_counter() - started_at:.0f} s")
