"""A tool that returns 30 MB of text: from its return to a stored result of head, tail and file, by the public API.

A run in memory with the embedded model: the same run with a tool that returns 30 kB is the floor. In milliseconds, in a
fresh process each: the first run of an agent, and the median of those after it; wall time, and processor time of the
whole process, which other programs on the machine disturb less. Beside it the longest time in which the event loop
could do nothing else, and reading the end of the file by `get_document`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from statistics import median

from cases import table
from showandtell import Agent, get_document

GOAL_MS = 200.0
SIZE = 30_000_000
ROUNDS = 15
ASCII = "2026-11-26 04:20:64, worker 64: 17 of 640 files were read, 3 with warnings\n"
OTHER = "Füße am Kai um 9 Uhr 64, Größe 42; der Kran hebt wie gestern 12 t.\n"


def make(line: str, size: int) -> str:
    """Text of about this size in bytes."""
    return line * (size // len(line.encode()))


RESULTS = {
    "ASCII text": make(ASCII, SIZE),
    "text in German": make(OTHER, SIZE),
    "JSON, 100,000 rows": [{"row": at, "text": ASCII * 4} for at in range(SIZE // (4 * len(ASCII) + 20))][:100_000],
}


async def watch(stalls: list[float]) -> None:
    """Note how late the event loop is."""
    while True:
        start = time.perf_counter()
        await asyncio.sleep(0.001)
        stalls.append(time.perf_counter() - start - 0.001)


async def measure(result: object) -> list[float]:
    """Milliseconds of the first run: wall and processor time; those of later ones; and the median of their stalls."""

    def read() -> object:
        """Read it."""
        return result

    agent = Agent("inspector", [read, get_document])
    times: list[tuple[float, float, float]] = []
    async with agent:
        for _ in range(ROUNDS):
            stalls: list[float] = []
            task = asyncio.create_task(watch(stalls))
            await asyncio.sleep(0.01)
            start, cpu = time.perf_counter(), time.process_time()
            run = await agent.run("/read")
            wall, used = time.perf_counter() - start, time.process_time() - cpu
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert run.status == "complete", run.error
            times.append((wall * 1000, used * 1000, max(stalls) * 1000))
    return [*times[0][:2], *(median(column) for column in zip(*times[1:], strict=True))]


async def read_end(text: str) -> tuple[float, float, float]:
    """Milliseconds of `get_document` at the end of the file: the first time and later; and of a search in all of it."""

    def read() -> str:
        """Read it."""
        return text

    agent = Agent("inspector", [read, get_document])
    async with agent:
        run = await agent.run("/read")
        times: list[float] = []
        for arguments in ({"offset": len(text) - 1000},) * 4 + ({"search": "not in it"},) * 3:
            start = time.perf_counter()
            call = " ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
            await agent.run(f"/get_document number_or_name=1 {call}", conversation=run.conversation)
            times.append((time.perf_counter() - start) * 1000)
    return times[0], median(times[1:4]), median(times[4:])


def main(name: str) -> None:
    """Measure one kind of result in this process."""
    print(json.dumps(asyncio.run(measure(RESULTS.get(name, "word " * 6000)))))


async def report() -> None:
    """Measure each kind in a process of its own."""
    rows: list[tuple[object, ...]] = []
    for name in ("30 kB, the floor", *RESULTS):
        process = await asyncio.create_subprocess_exec(sys.executable, __file__, name, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        figures = json.loads(output)
        rows.append((name, *(f"{figure:.0f}" for figure in figures), "met" if figures[2] <= GOAL_MS else "missed"))
    heads = ("result", "first", "its CPU", "later", "their CPU", "longest stall", f"later ≤ {GOAL_MS:.0f}")
    print(table(heads, rows))
    for name in ("ASCII text", "text in German"):
        first, later, search = await read_end(str(RESULTS[name]))
        print(f"the end of {name} by get_document: first {first:.0f} ms, later {later:.0f}; a search {search:.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        asyncio.run(report())
