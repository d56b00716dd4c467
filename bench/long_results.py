"""Long tool results.

A tool returns 30 MB, and the run ends when the model has answered about their start and end, and all of it is a file
that `get_document` reads. CPU time, and the longest wall time in which the event loop could do nothing else. The floor
is the same run with 30 kB. The others put all of the text into their next request, which no provider takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from figures import Figure, rounds, save
from model_answers import ASKED
from own_loop import make_agent, run
from processes import install, peer
from showandtell import Agent, get_document
from steps import PACKAGES, PEERS

GOAL = 200.0
SIZE = 30_000_000
ROUNDS = 9
ASCII = "2026-11-26 04:20:64, worker 64: 17 of 640 files were read, 3 with warnings\n"
OTHER = "Füße am Kai um 9 Uhr 64, Größe 42; der Kran hebt wie gestern 12 t.\n"


def make(line: str, size: int) -> str:
    """Text of about this size in bytes."""
    return line * (size // len(line.encode()))


RESULTS: dict[str, object] = {
    "30 kB": make(ASCII, 30_000),
    "30 MB of ASCII text": make(ASCII, SIZE),
    "30 MB of German text": make(OTHER, SIZE),
    "30 MB of JSON, 100,000 rows": [{"row": at, "text": ASCII * 4} for at in range(SIZE // (4 * len(ASCII) + 20))],
}


def returning(name: str) -> Callable[[int], object]:
    """A tool that returns one of them."""

    def draw(page: int) -> object:  # noqa: ARG001 - the model gives it
        """Read it."""
        return RESULTS[name]

    return draw


def once(name: str) -> float:
    """The CPU milliseconds of a run in this process."""
    return run(2, returning(name), get_document)


def first(name: str) -> float:
    """The same of the first run of a process."""
    output = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


async def stall(name: str) -> float:
    """The longest time in milliseconds in which the event loop did nothing else during a run."""
    stalls: list[float] = []

    async def watch() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            stalls.append((time.perf_counter() - start) * 1000 - 1)

    task = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    done = await make_agent(2, returning(name), get_document).run(ASKED)
    assert done.status == "complete", done.error
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return max(stalls)


class Document:
    """A conversation whose file is 30 MB of text, and a model that calls what the user types."""

    def __init__(self, name: str) -> None:
        self.agent = Agent("inspector", [returning(name), get_document])
        self.conversation = self.agent.run_sync("/draw page=1").conversation

    def call(self, **arguments: object) -> float:
        """The CPU milliseconds of a run that calls `get_document`."""
        given = " ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
        start = time.process_time()
        self.agent.run_sync(f"/get_document number_or_name=1 {given}", conversation=self.conversation)
        return (time.process_time() - start) * 1000


def figures(folder: Path) -> Iterator[Figure]:
    """Of each kind of result."""
    python = install("loops", *PACKAGES)
    for name, result in RESULTS.items():
        if name == "30 kB":
            continue
        path = folder / "result.txt"
        path.write_text(result if isinstance(result, str) else json.dumps(result))
        with ExitStack() as stack:
            arguments = ("words", str(path), "2", "2")
            others = {one: stack.enter_context(peer(python, script, *arguments)) for one, script in PEERS.items()}
            named = {f"{one} {other.version}": other for one, other in others.items()}
            costs = rounds(ROUNDS, ours=lambda name=name: once(name), floor=lambda: once("30 kB"), **named)
        yield Figure(f"a tool returns {name}, first", "ms", [first(name) for _ in range(3)])
        yield Figure(f"a tool returns {name}, again", "ms", costs.pop("ours"), costs, goal=GOAL)
        stalls = rounds(ROUNDS, ours=lambda name=name: asyncio.run(stall(name)))
        yield Figure(f"a tool returns {name}: the event loop is held", "ms, wall", stalls["ours"])
    for name in ("30 MB of ASCII text", "30 MB of German text"):
        document = Document(name)
        at = len(str(RESULTS[name])) - 1000
        yield Figure(f"get_document at the end of {name}, first", "ms", [document.call(offset=at)])
        ways = {"ours": lambda document=document, at=at: document.call(offset=at)}
        yield Figure(f"get_document at the end of {name}, again", "ms", rounds(ROUNDS, **ways)["ours"])
        ways = {"ours": lambda document=document: document.call(search="not in it")}
        yield Figure(f"get_document searches {name}", "ms", rounds(ROUNDS, **ways)["ours"])


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", list(figures(Path(folder))))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(once(sys.argv[1]))
    else:
        main()
