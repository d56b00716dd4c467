"""Two hundred readers of the chat server, for minutes: 20 runs at a time, each read by ten, 100 words a second in all.

Each message has a new picture of 1 MB. A quarter of the readers take a kilobyte a second; the others may not be
affected, and are measured. Each word contains the time at which the provider sent it. Provider, server and readers are
three processes on one machine. `python bench/load.py 10` takes ten minutes. No peer keeps answers for other readers.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from statistics import quantiles

import aiohttp
from PIL import Image

from figures import Figure, save
from processes import processor_seconds
from sample_files import MIB
from servers import HERE, NUMBERS, asks, client, ours, resident, started

RUNS, READERS = 20, 10
#: Words of a run, and the seconds between two of them: a hundred a second in all.
WORDS, EVERY = 150, 0.2
STAMP = re.compile(rb'"delta":" (\d+\.\d{6})"')
GOAL = 100.0
#: Of 200 readers, how many take a kilobyte a second (G2); the others may not be affected.
SLOW = 50


def picture() -> bytes:
    """A PNG of about 1 MB, different each time."""
    held = io.BytesIO()
    Image.frombytes("RGB", (590, 590), os.urandom(590 * 590 * 3)).save(held, "PNG", compress_level=1)
    assert MIB * 0.9 < held.tell() < MIB * 1.1
    return held.getvalue()


async def follow(answer: aiohttp.ClientResponse, late: list[float], *, slow: bool) -> None:
    """Read an answer to its end and record the latency of each word."""
    rest = b""
    while piece := await (answer.content.read(1000) if slow else answer.content.readany()):
        now, rest = time.time(), rest[-100:] + piece
        if slow:
            await asyncio.sleep(1)
            continue
        late += [now - float(stamp) for stamp in STAMP.findall(rest)]
        rest = rest[rest.rfind(b"\n\n") :]


async def turn(session: aiohttp.ClientSession, chat: str, late: list[float], slow: int) -> None:
    """Send a message with an image, and read the answer with all readers."""
    async with session.put("/api/attachments?name=noise.png", data=picture()) as answer:
        assert answer.status == 201, await answer.text()
        file = (await answer.json())["id"]
    body = asks(WORDS, EVERY, chat)
    body["messages"][0]["id"] = f"message {next(NUMBERS)}"
    body["messages"][0]["parts"].insert(0, {"type": "data-attachment", "data": {"id": file}})
    answer = await session.post("/api/chat", json=body)
    assert answer.status == 200, await answer.text()
    others = [await session.get(f"/api/chat/{chat}/stream") for _ in range(READERS - 1)]
    assert {other.status for other in others} == {200}
    readers = [answer, *others]
    await asyncio.gather(*(follow(item, late, slow=at < slow) for at, item in enumerate(reversed(readers))))


async def talk(session: aiohttp.ClientSession, at: int, until: float, late: list[float]) -> int:
    """Run conversations of a few messages until the time is up."""
    await asyncio.sleep(at * WORDS * EVERY / RUNS)
    count, chat = 0, ""
    while time.monotonic() < until:
        if count % 5 == 0:
            chat = f"load {next(NUMBERS)}"
        await turn(session, chat, late, SLOW // RUNS + (at < SLOW % RUNS))
        count += 1
    return count


async def measure(minutes: float) -> list[Figure]:
    """Let everybody talk, and measure."""
    late: list[float] = []
    held: list[int] = []
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        url, process = stack.enter_context(ours(folder, provider))
        session = await stack.enter_async_context(client(url))

        async def watch() -> None:
            while True:
                await asyncio.sleep(minutes * 60 / 40)
                held.append(resident(process))

        watching = asyncio.create_task(watch())
        before, begun, until = processor_seconds(process), time.monotonic(), time.monotonic() + minutes * 60
        counts = await asyncio.gather(*(talk(session, at, until, late) for at in range(RUNS)))
        taken = (processor_seconds(process) - before) / (time.monotonic() - begun)
        watching.cancel()
    cuts = quantiles(late, n=1000)
    warm = held[len(held) // 3 :]
    return [
        Figure("a word from the provider to a reader, median, wall", "ms", [cuts[499] * 1e3]),
        Figure("a word from the provider to a reader, p99, wall", "ms", [cuts[989] * 1e3], goal=GOAL),
        Figure("a word from the provider to a reader, at most, wall", "ms", [max(late) * 1e3]),
        Figure(f"words that readers received in {minutes:g} minutes", "words", [len(late)]),
        Figure(f"messages with a picture of 1 MB in {minutes:g} minutes", "messages", [sum(counts)]),
        Figure("CPU time of the server", "% of a core", [taken * 100]),
        Figure("memory of the server after a third of the time", "MB", [warm[0] / 1e6]),
        Figure("memory of the server at the end", "MB", [warm[-1] / 1e6]),
    ]


if __name__ == "__main__":
    save(__doc__, asyncio.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)))
