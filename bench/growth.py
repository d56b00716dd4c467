"""How cost grows: each number is doubled four times, and the exponent of what a user's request costs is measured.

1 is linear: twice as much costs twice as much; 0 is flat. An exponent is the slope of a line through the logarithms of
sizes and costs. Ours runs as `showandtell serve` or as an `Agent`, and asks a provider over HTTP. Counts are calls of
Python functions in all threads, SQL statements, instructions of SQLite and bytes to the provider and to the readers;
they hardly depend on the machine, and `make stress` fails where one grows faster.
Times are CPU time in a run of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from math import log
from statistics import linear_regression

import aiohttp
from PIL import Image

from counting import counted, counted_by
from counting import start as start_counting
from figures import Figure, save
from processes import processor_seconds
from servers import HERE, NUMBERS, asks, client, ours, reaching, started
from showandtell import Agent, File, RunLimits, tool

EVENTS, SPAN = 10, 10
MODEL = "anthropic:claude-sonnet-4-5"
LINEAR, FLAT = 1.05, 0.05
ROUNDS = 3
Work = Callable[[], Awaitable[object]]
Totals = Mapping[str, float]


@dataclass(frozen=True)
class Place:
    """Where a request is made: the provider, the server with a client of it, and whether calls are counted."""

    provider: str
    session: aiohttp.ClientSession
    server: int
    #: The socket of the server's counts.
    counts: str | None
    #: Bytes that readers received, and conversations.
    received: list[int] = field(default_factory=list[int])
    chats: set[str] = field(default_factory=set[str])

    async def totals(self, *, is_server: bool) -> Totals:
        """What was used until now, by this process or by the server."""
        async with self.session.get(f"{self.provider}/received") as answer:
            sent = {"bytes to the provider": int(await answer.text()), "bytes to readers": sum(self.received)}
        if self.counts is None:
            return {"ms": (processor_seconds(self.server) if is_server else time.process_time()) * 1000}
        return (counted_by(self.counts) if is_server else counted()) | sent

    async def ask(self, text: str, chat: str = "", files: Sequence[str] = ()) -> None:
        """Send a message to the server, and read its answer."""
        chat = chat or f"growth {next(NUMBERS)}"
        self.chats.add(chat)
        body = asks(EVENTS, 0, chat)
        parts = [{"type": "data-attachment", "data": {"id": file}} for file in files]
        body["messages"][0] |= {"id": f"message {next(NUMBERS)}", "parts": [*parts, {"type": "text", "text": text}]}
        async with self.session.post("/api/chat", json=body) as answer:
            assert answer.status == 200, await answer.text()
            await self.read(answer)

    async def read(self, answer: aiohttp.ClientResponse) -> None:
        """Read an answer to its end."""
        self.received.append(len(await answer.read()))

    async def upload(self) -> str:
        """Upload a new picture, and give its id."""
        async with self.session.put("/api/attachments?name=noise.png", data=noise()) as answer:
            assert answer.status == 201, await answer.text()
            return (await answer.json())["id"]


WORDS = f"words={EVENTS} every=0"


async def by_turns(place: Place, size: int) -> Work:
    """Messages to a conversation, by its turns."""
    chat = f"growth {next(NUMBERS)}"
    for _ in range(size):
        await place.ask(WORDS, chat)

    async def work() -> None:
        for _ in range(SPAN):
            await place.ask(WORDS, chat)

    return work


async def by_conversations(place: Place, size: int) -> Work:
    """New conversations and the list of the newest, by the conversations that are stored."""
    while len(place.chats) < size:
        await place.ask(WORDS)

    async def work() -> None:
        for _ in range(SPAN):
            await place.ask(WORDS)
            async with place.session.get("/api/conversations") as answer:
                assert answer.status == 200, await answer.text()
                await place.read(answer)

    return work


async def by_users(place: Place, size: int) -> Work:
    """New conversations, by the users who start one at the same time."""

    async def work() -> None:
        for _ in range(SPAN // 2):
            await asyncio.gather(*(place.ask(WORDS) for _ in range(size)))

    return work


async def by_readers(place: Place, size: int) -> Work:
    """An answer of fifty words, by those who read it while it is written."""
    chat = f"growth {next(NUMBERS)}"

    async def follow() -> None:
        async with place.session.get(f"/api/chat/{chat}/stream") as answer:
            assert answer.status == 200, await answer.text()
            await place.read(answer)

    async def work() -> None:
        asking = asyncio.create_task(place.ask("words=50 every=0.02", chat))
        await asyncio.sleep(0.2)
        await asyncio.gather(asking, *(follow() for _ in range(size)))

    return work


async def by_files(place: Place, size: int) -> Work:
    """A message with new uploads, by its files."""

    async def work() -> None:
        await place.ask(WORDS, files=[await place.upload() for _ in range(size)])

    return work


async def by_steps(_: Place, size: int) -> Work:
    """An agent's run, by its steps, each with a tool that returns words."""
    agent = Agent(MODEL, [tool(name="draw")(write)], limits=RunLimits(steps=size + 1))
    return lambda: complete(agent, f"calls=1 steps={size}", 0)


async def by_pictures(_: Place, size: int) -> Work:
    """An agent's run, by its steps, each with a tool that returns a new picture."""
    agent = Agent(MODEL, [draw], limits=RunLimits(steps=size + 1))
    return lambda: complete(agent, f"calls=1 steps={size}", size)


async def by_calls(_: Place, size: int) -> Work:
    """An agent's run, by the calls of a tool in one step."""
    return lambda: complete(Agent(MODEL, [draw]), f"calls={size} steps=1", size)


async def by_tools(_: Place, size: int) -> Work:
    """Later runs of an agent, by its tools."""
    agent = Agent(MODEL, [tool(name=f"write_{at}")(write) for at in range(size)])
    await complete(agent, WORDS, 0)

    async def work() -> None:
        for _ in range(SPAN):
            await complete(agent, WORDS, 0)

    return work


def write() -> str:
    """Write something."""
    return "It is written."


def draw() -> File:
    """Draw something new."""
    return File.from_bytes(noise(), "noise.png")


async def complete(agent: Agent, text: str, files: int) -> None:
    """Run an agent to its end."""
    run = await agent.run(text)
    assert (run.status, len(run.files)) == ("complete", files), run.reason


def noise() -> bytes:
    """A small PNG, different each time."""
    held = io.BytesIO()
    Image.frombytes("RGB", (40, 40), os.urandom(4800)).save(held, "PNG")
    return held.getvalue()


@dataclass(frozen=True)
class Growth:
    """What grows, to which size in four doublings, and what doesn't grow with it."""

    work: Callable[[Place, int], Awaitable[Work]]
    largest: int
    flat: frozenset[str] = frozenset()
    #: What grows faster because every request holds the conversation.
    unbounded: frozenset[str] = frozenset()
    #: Whether the server does it, and not an agent in this process.
    is_served: bool = True

    def goal(self, name: str) -> float | None:
        """The most that the exponent of a cost may be, if there is a goal."""
        return None if name in self.unbounded else FLAT if name in self.flat else LINEAR


SENT = frozenset({"bytes to the provider"})
OWN = frozenset({"calls", "statements", "steps of SQLite", "ms"})
GROWTHS = {
    "turns": Growth(by_turns, 160, OWN),
    "conversations": Growth(by_conversations, 640, OWN | SENT),
    "users": Growth(by_users, 80),
    "readers": Growth(by_readers, 80),
    "files": Growth(by_files, 48),
    "steps": Growth(by_steps, 80, unbounded=SENT, is_served=False),
    "pictures": Growth(by_pictures, 80, unbounded=SENT | OWN, is_served=False),
    "calls": Growth(by_calls, 80, is_served=False),
    "tools": Growth(by_tools, 80, OWN, is_served=False),
}


async def costs(growth: Growth, sizes: Sequence[int], *, is_counting: bool) -> list[Totals]:
    """What the work costs at each size, after it was done once at the smallest."""
    found: list[Totals] = []
    async with prepared(growth, is_counting=is_counting) as place:
        await (await growth.work(place, sizes[0]))()
        for size in sizes:
            work = await growth.work(place, size)
            before = await place.totals(is_server=growth.is_served)
            await work()
            after = await place.totals(is_server=growth.is_served)
            found.append({name: after[name] - before[name] for name in after})
    return found


@asynccontextmanager
async def prepared(growth: Growth, *, is_counting: bool) -> AsyncIterator[Place]:
    """A provider, and a server that has answered before."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="growth-"))
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        os.environ |= reaching(provider)
        counts = f"{folder}/counts" if is_counting else None
        url, process = provider, 0
        if growth.is_served:
            url, process = stack.enter_context(ours(folder, provider, counts=counts))
        session = await stack.enter_async_context(client(url))
        place = Place(provider, session, process, counts)
        for _ in range(20 if growth.is_served else 0):
            await place.ask(WORDS)
        yield place


def exponents(sizes: Sequence[int], found: Sequence[Totals]) -> dict[str, float]:
    """The slope of each cost, without those that are nothing."""
    logs = [log(size) for size in sizes]
    return {
        name: linear_regression(logs, [log(one[name]) for one in found]).slope for name in found[0] if found[0][name]
    }


def sizes_of(growth: Growth, doublings: int) -> list[int]:
    """Sizes from the smallest."""
    return [growth.largest * 2**at // 16 for at in range(doublings + 1)]


def count(names: Sequence[str], doublings: int) -> dict[str, dict[str, float]]:
    """The exponents of counts by what grows."""
    start_counting()
    found: dict[str, dict[str, float]] = {}
    for name in names:
        sizes = sizes_of(GROWTHS[name], doublings)
        found[name] = exponents(sizes, asyncio.run(costs(GROWTHS[name], sizes, is_counting=True)))
    return found


def main() -> None:
    """Print exponents."""
    parser = argparse.ArgumentParser(description="How cost grows with files, turns, steps, tools, users and readers.")
    parser.add_argument("--counts", nargs="+", choices=GROWTHS, help="print exponents of counts alone, as JSON")
    parser.add_argument("--doublings", type=int, default=4, help="how often each number is doubled; default 4")
    arguments = parser.parse_args()
    if arguments.counts:
        print(json.dumps(count(arguments.counts, arguments.doublings)))
        return
    command = [sys.executable, __file__, "--counts", *GROWTHS]
    counts = json.loads(subprocess.run(command, check=True, stdout=-1).stdout)
    figures: list[Figure] = []
    for name, growth in GROWTHS.items():
        sizes = sizes_of(growth, arguments.doublings)
        times = [exponents(sizes, asyncio.run(costs(growth, sizes, is_counting=False))) for _ in range(ROUNDS)]
        work = " ".join((growth.work.__doc__ or "").split()).rstrip(".")
        figures += [
            Figure(f"{work}: {cost}", "exponent", [value], goal=growth.goal(cost))
            for cost, value in counts[name].items()
        ]
        figures.append(Figure(f"{work}: CPU time", "exponent", [one["ms"] for one in times], goal=growth.goal("ms")))
    save(__doc__, figures)


if __name__ == "__main__":
    main()
