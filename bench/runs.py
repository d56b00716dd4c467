"""A short answer of the chat server: CPU time of its processes for a run of ten events, ten at once, again and again.

The floor is FastAPI with a route, a request to the provider and two durable commits, without reading what it relays.
The peers stream the same answers of the same provider and store nothing. Each round asks each server in turn. On
PostgreSQL, which runs in processes of its own that don't count, one server has one worker and one has four. Paced are
answers of a hundred events, ten at once, beside a bare ASGI application that passes on what aiohttp receives. `first
byte` is the wall time of the slowest of a hundred when fifty users ask at once.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp

from figures import FLOOR, Figure, save
from own_postgres import own_postgres
from processes import tree_seconds
from servers import HERE, bare, client, ours, proxy, pydantic_ai, read, relay, started

#: Events of an answer, answers in a round, how many at once, and rounds.
EVENTS, RUNS, AT_ONCE, ROUNDS = 10, 200, 10, 8
USERS = 50
#: Events of a paced answer, seconds between two of them, and answers.
PACED, EVERY, PACED_RUNS = 100, 0.02, 20
ALONE, POSTGRES, FOUR = "ours", "ours on PostgreSQL", "ours on PostgreSQL, 4 workers"
LITELLM, PYDANTIC_AI, RELAY = "LiteLLM 1.109", "pydantic-ai 2.68", "bare relay"
PATHS = {LITELLM: "/v1/chat/completions"}


def cost(process: int, count: int, asking: Callable[[], Awaitable[object]]) -> Awaitable[float]:
    """The CPU milliseconds of a server for one of several answers."""

    async def spend() -> float:
        before = tree_seconds(process)
        await asking()
        return (tree_seconds(process) - before) * 1000 / count

    return spend()


async def ask(session: aiohttp.ClientSession, path: str, count: int, at_once: int, *asked: float) -> list[float]:
    """Ask for answers, some at once. Returns the seconds to each first byte."""
    places = asyncio.Semaphore(at_once)
    words, every = asked or (EVENTS, 0)

    async def one() -> float:
        async with places:
            return await read(session, int(words), path, every)

    return await asyncio.gather(*(one() for _ in range(count)))


def start(stack: ExitStack, folder: str, provider: str, database: Callable[[], str]) -> dict[str, tuple[str, int]]:
    """Start all servers. Returns URL and process of each."""

    def own(name: str, *options: str) -> Any:
        return ours(str(Path(folder, name)), provider, options=options)

    servers = {
        FLOOR: bare(folder, provider),
        ALONE: own("sqlite"),
        POSTGRES: own("postgres", "--database", database()),
        FOUR: own("four", "--database", database(), "--workers", "4"),
        RELAY: relay(folder, provider),
        LITELLM: proxy(folder, provider),
        PYDANTIC_AI: pydantic_ai(folder, provider),
    }
    return {name: stack.enter_context(server) for name, server in servers.items()}


async def measure() -> list[Figure]:
    """Measure all servers."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        running = start(stack, folder, provider, stack.enter_context(own_postgres()))
        short: dict[str, list[float]] = {name: [] for name in running if name != RELAY}
        paced: dict[str, list[float]] = {ALONE: [], RELAY: []}
        firsts: dict[str, list[float]] = {ALONE: [], FLOOR: []}
        for at in range(ROUNDS + 1):
            for name, (url, process) in running.items():
                async with client(url) as session:
                    path = PATHS.get(name, "/api/chat")
                    spent: dict[str, float] = {}
                    if name in short:
                        count = RUNS // 4 if name in {LITELLM, PYDANTIC_AI} else RUNS
                        asking = (session, path, count, AT_ONCE)
                        spent["short"] = await cost(process, count, lambda asking=asking: ask(*asking))
                    if name in paced:
                        asking = (session, path, PACED_RUNS, AT_ONCE, PACED, EVERY)
                        spent["paced"] = await cost(process, PACED_RUNS, lambda asking=asking: ask(*asking))
                    if name in firsts:
                        await ask(session, path, USERS, USERS)
                        spent["first"] = quantiles(await ask(session, path, 2 * USERS, USERS), n=100)[-1] * 1000
                for kind, costs in (("short", short), ("paced", paced), ("first", firsts)):
                    if at and kind in spent:
                        costs[name].append(spent[kind])
    return figures_of(short, paced, firsts)


def figures_of(
    short: dict[str, list[float]], paced: dict[str, list[float]], firsts: dict[str, list[float]]
) -> list[Figure]:
    """What was measured, with its goals."""
    work, own, postgres = f"a run of {EVENTS} events, {AT_ONCE} at once", short[ALONE], short[POSTGRES]
    others = {name: short[name] for name in (FLOOR, LITELLM, PYDANTIC_AI)}
    slow = {FLOOR: paced[RELAY]}
    return [
        Figure(work, "ms", own, others, of="floor", goal=3, before="7.0"),
        Figure(work, "ms", own, {LITELLM: short[LITELLM]}, of="best peer", goal=8, before="2.9"),
        Figure(f"{work}, on PostgreSQL beside SQLite", "ms", postgres, {FLOOR: own}, of="floor", goal=1.3, before="2"),
        Figure(f"{work}, 4 workers beside 1", "ms", short[FOUR], {FLOOR: postgres}, of="floor", goal=1.15),
        Figure(f"{PACED} events, one each {EVERY * 1000:g} ms", "ms", paced[ALONE], slow, of="floor", goal=1.5),
        Figure(
            f"first byte, {USERS} users at once, p99, wall",
            "ms",
            firsts[ALONE],
            {FLOOR: firsts[FLOOR]},
            goal=100,
            before="290 to 390",
        ),
    ]


if __name__ == "__main__":
    started_at = time.perf_counter()
    save(__doc__, asyncio.run(measure()))
    print(f"{time.perf_counter() - started_at:.0f} s")
