"""Steps of the loop.

A model that answers from memory calls a tool in each step. What a step costs is what 40 of them cost more than 20,
divided by 20. The picture is the same in each step, so it is known from the second one on; what its sha256 costs is in
the figure, and stands beside it as the floor. The model doesn't read the requests that hold pictures, for `request.py`
and `wire.py` measure these; it reads those of words, as the others' models do. The others' requests, pictures included,
are whole when they get there. 40 ÷ 20 and 400 ÷ 200 tell whether a step costs more in a longer run; pictures of 1 MiB
leave the view of a request of 32 MB ten times in 200 steps. The bytes are those of all requests and uploads of a run in
which each step makes a new picture.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from time import process_time

from figures import FLOOR, Figure, rounds, save
from model_answers import ASKED, answers
from own_loop import JSON, MODEL, body, run, step
from processes import install, peer
from sample_files import MIB, photo, saved, write
from showandtell import Agent, File, FilePolicy, RunLimits
from showandtell.testing import FakeConnection, HttpRequest, HttpResponse

PACKAGES = (
    "pydantic-ai-slim[anthropic]==2.68.0",
    "langchain==1.5.2",
    "langchain-anthropic==1.7.7",
    "anthropic==2.14.0",
)
PEERS = {"pydantic-ai": "loop_pydantic_ai", "langchain": "loop_langchain"}
COUNTS = (20, 40)
ROUNDS, LONG_ROUNDS = 9, 3
#: Milliseconds of a step beside sha256.
GOAL = 0.8


def shows(data: bytes) -> Callable[[int], object]:
    """A tool that returns the same picture each time."""

    def draw(page: int) -> object:  # noqa: ARG001 - the model gives it
        """Draw a page."""
        return File.from_bytes(data, "image/png", "page.png")

    return draw


def says(page: int) -> str:
    """Draw a page."""
    return f"Page {page} is drawn."


async def says_at_once(page: int) -> str:
    """Draw a page."""
    return f"Page {page} is drawn."


says.__name__ = says_at_once.__name__ = "draw"


def hashing(data: bytes) -> float:
    """The CPU milliseconds of one sha256."""
    start = process_time()
    for _ in range(20):
        hashlib.sha256(data).hexdigest()
    return (process_time() - start) * 50


def compared(work: str, own: Callable[[], float], kind: str, path: Path, data: bytes = b"") -> Iterator[Figure]:
    """A step of ours beside the others', and beside sha256 of its picture."""
    python = install("loops", *PACKAGES)
    with ExitStack() as stack:
        arguments = (kind, str(path), *map(str, COUNTS))
        others = {name: stack.enter_context(peer(python, script, *arguments)) for name, script in PEERS.items()}
        named = {f"{name} {one.version}": one for name, one in others.items()}
        floor: dict[str, Callable[[], float]] = {FLOOR: lambda: hashing(data)} if data else {}
        costs = rounds(ROUNDS, ours=own, **floor, **named)
    ours = costs.pop("ours")
    yield Figure(work, "ms a step", ours, costs)
    if data:
        rest = [spent - floor for spent, floor in zip(ours, costs[FLOOR], strict=True)]
        yield Figure(f"{work}, without its sha256", "ms a step", rest, goal=GOAL, before="4.5 to 6")


def growth(draw: Callable[[int], object]) -> Iterator[Figure]:
    """Whole runs by their number of steps, and how the last doubling grows."""
    for name, tool, counts, count, goal, before in (
        ("words", says, (5, 10, 20, 40), ROUNDS, None, ""),
        ("a known picture", draw, (5, 10, 20, 40), ROUNDS, 2.15, "2.4 to 2.9"),
        ("pictures that leave the view", draw, (200, 400), LONG_ROUNDS, 2.2, "3.1"),
    ):
        ways = {str(steps): (lambda steps=steps, tool=tool: run(steps, tool)) for steps in counts}
        costs = rounds(count, **ways)
        for steps in counts:
            yield Figure(f"{steps} steps, {name}", "ms", costs[str(steps)])
        short, long = (costs[str(steps)] for steps in counts[-2:])
        ratios = [more / less for less, more in zip(short, long, strict=True)]
        yield Figure(f"{counts[-1]} steps ÷ {counts[-2]}, {name}", "times", ratios, goal=goal, before=before)


def sent(steps: int, *, uploads: bool) -> int:
    """The bytes of all requests and uploads of a run in which each step makes a new picture of 1 MiB."""
    total, count, bodies = 0, 0, iter(answers(steps))

    @asynccontextmanager
    async def send(request: HttpRequest) -> AsyncIterator[HttpResponse]:
        nonlocal total, count
        total += sum([len(piece) async for piece in request.body()])
        is_step, count = request.url.endswith("/messages"), count + 1
        yield HttpResponse(200, JSON, body(next(bodies) if is_step else json.dumps({"id": f"file_{count}"}).encode()))

    with tempfile.TemporaryDirectory() as folder:
        picture = write(Path(folder), "PNG", MIB).read_bytes()

        def draw(page: int) -> object:
            """Draw a page."""
            return File.from_bytes(picture + os.urandom(8), "image/png", f"page {page}.png")

        agent = Agent(
            MODEL,
            [draw],
            limits=RunLimits(steps=steps),
            file_policy=FilePolicy(uploads=uploads),
            connection=FakeConnection(send=send),
        )
        assert asyncio.run(agent.run(ASKED).finish()).text == "Nothing changed."
    return total


def weighed() -> Iterator[Figure]:
    """What runs send."""
    for name, uploads, goal in (("in the requests", False, None), ("uploaded", True, 2.15)):
        totals = {steps: sent(steps, uploads=uploads) for steps in COUNTS}
        for steps, total in totals.items():
            yield Figure(f"bytes of {steps} steps, pictures {name}", "MiB", [total / MIB])
        ratio = totals[40] / totals[20]
        yield Figure(f"bytes of 40 steps ÷ 20, pictures {name}", "times", [ratio], goal=goal)


def figures(folder: Path) -> Iterator[Figure]:
    """All of them."""
    words = folder / "words.txt"
    words.write_text("Page 1 is drawn.")
    small, large = folder / "page.png", write(folder, "PNG", MIB)
    small.write_bytes(saved(photo(64, 48), "PNG"))
    data, known = small.read_bytes(), large.read_bytes()
    yield from compared("a step with a plain tool", lambda: step(says, COUNTS, reads=True), "words", words)
    spent = rounds(ROUNDS, ours=lambda: step(says_at_once, COUNTS, reads=True))["ours"]
    yield Figure("a step with a plain async tool", "ms a step", spent)
    own = shows(data)
    yield from compared("a step with a known picture of 10 kB", lambda: step(own, COUNTS), "picture", small, data)
    shown = shows(known)
    spent = rounds(ROUNDS, ours=lambda: step(shown, COUNTS), floor=lambda: hashing(known))
    rest = [more - floor for more, floor in zip(spent["ours"], spent[FLOOR], strict=True)]
    work = "a step with a known picture of 1 MiB"
    yield Figure(work, "ms a step", spent["ours"], {FLOOR: spent[FLOOR]})
    yield Figure(f"{work}, without its sha256", "ms a step", rest, goal=GOAL, before="4.5 to 6")
    yield from growth(shown)
    yield from weighed()


def main() -> None:
    """Print the table."""
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", list(figures(Path(folder))))


if __name__ == "__main__":
    main()
