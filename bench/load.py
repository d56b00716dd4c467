"""The chat server under load for minutes: 200 readers, 100 events a second in all, a picture of 1 MB in every message.

Twenty runs go on at a time, each read by ten: who asked, and nine who follow. Each word says when its provider sent it,
so that every reader knows how long it was on its way; the provider, the server and the readers are three processes on
one machine. `python bench/load.py 10` takes ten minutes.
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

from cases import MIB, table, verdict
from server import HERE, NUMBERS, asks, client, ours, resident, seconds, started

RUNS, READERS = 20, 10
#: Words of a run, and the seconds between two of them: a hundred a second in all.
WORDS, EVERY = 150, 0.2
STAMP = re.compile(rb'"delta":" (\d+\.\d{6})"')
GOAL = 100.0
#: Of 200 readers so many take a kilobyte a second (G2): nobody else may notice.
SLOW = 50


def picture() -> bytes:
    """A PNG of about 1 MB, each time another one."""
    held = io.BytesIO()
    Image.frombytes("RGB", (590, 590), os.urandom(590 * 590 * 3)).save(held, "PNG", compress_level=1)
    assert MIB * 0.9 < held.tell() < MIB * 1.1
    return held.getvalue()


async def follow(answer: aiohttp.ClientResponse, late: list[float], *, slow: bool) -> None:
    """Read an answer to its end, and note how long each word was on its way."""
    rest = b""
    while piece := await (answer.content.read(1000) if slow else answer.content.readany()):
        now, rest = time.time(), rest[-100:] + piece
        if slow:
            await asyncio.sleep(1)
            continue
        late += [now - float(stamp) for stamp in STAMP.findall(rest)]
        rest = rest[rest.rfind(b"\n\n") :]


async def turn(session: aiohttp.ClientSession, chat: str, late: list[float], slow: int) -> None:
    """One message with a picture, and all who read its answer."""
    async with session.put("/api/attachments?name=noise.png", data=picture()) as answer:
        assert answer.status == 201, await answer.text()
        file = (await answer.json())["id"]
    body = asks(WORDS, EVERY, chat)
    body["messages"][0]["id"] = f"message {next(NUMBERS)}"
    body["messages"][0]["parts"].insert(0, {"type": "data-attachment", "data": {"id": file}})
    answer = await session.post("/api/chat", json=body)
    assert answer.status == 200, await answer.text()
    others = [await session.get(f"/api/chat/{chat}/stream") for _ in range(READERS - 1)]
    assert {one.status for one in others} == {200}
    readers = [answer, *others]
    await asyncio.gather(*(follow(one, late, slow=at < slow) for at, one in enumerate(reversed(readers))))


async def talk(session: aiohttp.ClientSession, at: int, until: float, late: list[float]) -> int:
    """One conversation after the other until the time is over; a new one after a few messages."""
    await asyncio.sleep(at * WORDS * EVERY / RUNS)
    count, chat = 0, ""
    while time.monotonic() < until:
        if count % 5 == 0:
            chat = f"load {next(NUMBERS)}"
        await turn(session, chat, late, SLOW // RUNS + (at < SLOW % RUNS))
        count += 1
    return count


async def measure(minutes: float) -> list[list[object]]:
    """The table's rows."""
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
        before, begun, until = seconds(process), time.monotonic(), time.monotonic() + minutes * 60
        counts = await asyncio.gather(*(talk(session, at, until, late) for at in range(RUNS)))
        taken = (seconds(process) - before) / (time.monotonic() - begun)
        watching.cancel()
    cuts = quantiles(late, n=1000)
    warm = held[len(held) // 3 :]
    return [
        ["minutes", f"{minutes:g}", ""],
        ["messages with a picture of 1 MB", sum(counts), ""],
        ["words that reached a reader", len(late), ""],
        ["on its way, median, ms", f"{cuts[499] * 1e3:.1f}", ""],
        ["on its way, p99, ms", f"{cuts[989] * 1e3:.1f}", verdict(cuts[989] * 1e3, GOAL)],
        ["on its way, the longest, ms", f"{max(late) * 1e3:.1f}", ""],
        ["the server's share of one core", f"{taken:.0%}", ""],
        ["memory, MB, after a third of the time", f"{warm[0] / 1e6:.0f}", ""],
        ["memory, MB, at the end", f"{warm[-1] / 1e6:.0f}", ""],
        ["most memory, MB", f"{max(held) / 1e6:.0f}", ""],
    ]


def main() -> None:
    """Print the table."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"{RUNS} runs at a time, {RUNS * READERS} readers of which {SLOW} slow, {os.cpu_count()} cores")
    print(table(["", "measured", "goal"], asyncio.run(measure(minutes))))


if __name__ == "__main__":
    main()
