"""Storing: bytes, conversations, uploads over their limit, and planning what a long conversation shows.

Wall time. The floor of storing hashes the same bytes and writes them with one `write`; with fsync it syncs file and
folder. The floor of opening reads the same records with sqlite3 and decodes them with msgspec, a connection for each.
There are no peers here: other agent libraries store neither files nor conversations.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import io
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from typing_extensions import Buffer

from figures import FLOOR, Figure, rounds, save
from memory import peak_mib
from sample_files import MIB
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import Shown, Text, ToolCall
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.store import Store
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.proofs import probe_all

ROUNDS = 40
GB = 10**9


def wall(work: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare(folder: Path, data: bytes, at: int, *, sync: bool) -> None:
    """The floor: hash, write, and perhaps make it durable."""
    name = hashlib.sha256(data).hexdigest()
    handle = os.open(folder / f"{at}-{name}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, data)
    if sync:
        os.fsync(handle)
        place = os.open(folder, os.O_RDONLY)
        os.fsync(place)
        os.close(place)
    os.close(handle)


def storing(*, durable: bool) -> Iterator[Figure]:
    """Milliseconds to store 1 MiB of new bytes beside the floor, and the microseconds of a duplicate after its hash."""
    data: list[bytes] = []
    again: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder, beside = Folder(Path(place) / "blobs", durable=durable), Path(place) / "bare"
        folder.path.mkdir()
        beside.mkdir()

        def floor() -> float:
            data.append(os.urandom(MIB))
            return wall(lambda: bare(beside, data[-1], len(data), sync=durable)) * 1000

        def ours() -> float:
            new = os.urandom(MIB)
            ms = wall(lambda: folder.store(lambda: io.BytesIO(new), "file", 2 * MIB)) * 1000
            spooled = folder.spool(lambda: io.BytesIO(new), "file", 2 * MIB)

            def keep() -> None:
                folder.commit(spooled)
                folder.discard(spooled)

            again.append(wall(keep) * 1e6)
            return ms

        costs = rounds(ROUNDS, ours=ours, floor=floor)
    name = "with fsync of file and folder" if durable else "without fsync"
    goal, beside_it = None if durable else 1.4, {FLOOR: costs["floor"]}
    yield Figure(f"storing 1 MiB, first, {name}", "ms wall", costs["ours"], beside_it, "floor", goal, inner=True)
    yield Figure(f"the same again, after its hash, {name}", "µs wall", again[1:], goal=50, inner=True)


async def fill(store: Store, count: int) -> str:
    """A conversation with a file in every eighth message."""
    conversation = await store.create()
    async with conversation.turn:
        for at in range(count):
            words = (Text(f"Message {at}: " + "words of a usual length, as people write them. " * 4),)
            files = (File.from_bytes(f"note {at}".encode(), name=f"note{at}.txt"),) if at % 8 == 0 else ()
            draft = Draft("user", (*words, *files)) if at % 2 == 0 else Draft("assistant", words, stop="end")
            await conversation.record(draft, await conversation.probe(draft))
    return conversation.id


def raw(path: Path, which: str) -> list[object]:
    """The floor: the same rows by sqlite3, decoded by msgspec."""
    connection = sqlite3.connect(path)
    found: list[object] = []
    for kind, name in ((Message, "showandtell_messages"), (Attachment, "showandtell_attachments")):
        rows = connection.execute(f"SELECT record FROM {name} WHERE conversation_id = ?", (which,))  # noqa: S608 - a name of ours
        found += msgspec.json.decode(f"[{','.join(row[0] for row in rows)}]", type=list[kind])
    connection.close()
    return found


def loading(count: int) -> Figure:
    """Milliseconds to open a conversation of `count` messages, beside the floor."""
    with tempfile.TemporaryDirectory() as place, asyncio.Runner() as runner:
        store: Store = runner.run(Store.at(place).__aenter__())
        which = runner.run(fill(store, count))
        path = Path(place) / "showandtell.db"
        costs = rounds(
            ROUNDS * 3,
            ours=lambda: wall(lambda: runner.run(store.open(which))) * 1000,
            floor=lambda: wall(lambda: raw(path, which)) * 1000,
        )
        runner.run(store.__aexit__(None, None, None))
    work, beside = f"opening a stored conversation of {count:,} messages", {FLOOR: costs["floor"]}
    return Figure(work, "ms wall", costs["ours"], beside, of="floor", goal=2.5)


class Endless(io.RawIOBase):
    """An endless stream for uploads of 2 GB."""

    def __init__(self) -> None:
        self.left = 2 * GB

    def readable(self) -> bool:
        """Always readable."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Leave the buffer as it is."""
        count = min(self.left, memoryview(buffer).nbytes)
        self.left -= count
        return count


def flood() -> None:
    """Ten uploads of 2 GB at once against a cap of 1 GB; prints what the process has held, and the seconds."""
    with tempfile.TemporaryDirectory() as place:
        file_cache = FileCache(Folder(Path(place)), max_file_bytes=GB)
        files = [File(Reader(lambda: io.BufferedReader(Endless(), MIB), 2 * GB), name=f"{at}.bin") for at in range(10)]
        start = time.perf_counter()
        proved = asyncio.run(probe_all(file_cache, files))
        seconds = time.perf_counter() - start
        assert all(item.problem and "larger than" in item.problem for item in proved), proved
        left = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{peak_mib():.0f} {seconds:.1f} {left} {children}")


def flooding() -> Iterator[Figure]:
    """The same in a process of its own."""
    received = subprocess.run([sys.executable, __file__, "flood"], check=True, capture_output=True, text=True).stdout
    mib, seconds, left, _ = map(float, received.split())
    assert not left, "an upload has left something behind"
    work = "ten uploads of 2 GB at once against a cap of 1 GB"
    yield Figure(f"memory of {work}", "MiB", [mib], goal=300)
    yield Figure(work, "s wall", [seconds])


def long_talk(messages: int, files: int) -> View:
    """A conversation of `messages` messages, with `files` images from tools."""
    output: list[Message] = []
    attachments: dict[int, Attachment] = {}
    asked = question()
    every = messages // files
    for at in range(messages // 5):
        output.append(Message(f"u{at}", "user", (Text(f"Question {at}"),)))
        shown: list[Shown] = []
        for number in range(at * 5 // every + 1, (at + 1) * 5 // every + 1):
            facts = Facts(hashlib.sha256(str(number).encode()).hexdigest(), "image/png", 200_000, (800, 600))
            attachments[number] = Attachment(
                f"att_{number}", number, f"p{number}.png", Origin("tool", "plot", f"c{at}"), "2026-11-22", facts
            )
            shown.append(Shown(number, f"att_{number}"))
        output.append(
            Message(f"a{at}", "assistant", (ToolCall(f"c{at}", "plot", "{}"), ToolCall(f"d{at}", "plot", "{}")))
        )
        output.append(Message(f"t{at}", "tool", (Text("Here:"), *shown), f"c{at}", "plot"))
        output.append(Message(f"s{at}", "tool", (Text("done"),), f"d{at}", "plot"))
        output.append(Message(f"b{at}", "assistant", (Text("As you see."),), stop="end"))
    return View((*output, asked), attachments, asked.id)


def planning(model: str) -> Iterator[Figure]:
    """Milliseconds to plan a long conversation the first time, in each later step, and when a person says more."""
    view, cache, target = long_talk(10_000, 2_000), PlanCache(), resolve(model)
    first = wall(lambda: plan(view, target, {}, Policy(cache=True), cache=cache)) * 1000
    later: list[float] = []
    answered: list[float] = []
    messages, attachments, answering = view.messages, dict(view.attachments), view.answering
    for at in range(12):
        facts = [Facts(hashlib.sha256(f"new{at}".encode()).hexdigest(), "image/png", 200_000, (800, 600))]
        more, new = step(3_000 + at, facts)
        messages, attachments = (*messages, *more), attachments | new
        now = View(messages, attachments, answering)
        later.append(wall(lambda now=now: plan(now, target, {}, Policy(cache=True), cache=cache)) * 1000)
        more = Message(f"b_{at}", "assistant", (Text("As you see."),), stop="end"), question(f"again{at}")
        messages, answering = (*messages, *more), more[-1].id
        asked = View(messages, attachments, answering)
        answered.append(wall(lambda asked=asked: plan(asked, target, {}, Policy(cache=True), cache=cache)) * 1000)
    work = f"planning 10,001 messages with 2,000 files for {model}"
    yield Figure(f"{work}, first", "ms wall", [first], inner=True)
    yield Figure(f"{work}, each step after", "ms wall", later[1:], goal=20, inner=True)
    yield Figure(f"{work}, each message after", "ms wall", answered[1:], goal=20, inner=True)


def step(number: int, files: Sequence[Facts], seed: str = "") -> tuple[list[Message], dict[int, Attachment]]:
    """One step: a call for each file, numbered from `number`, and its result. Another `seed`, other values."""
    numbers = range(number, number + len(files))
    calls = tuple(ToolCall(f"toolu_{seed}{at:04}", "plot", f'{{"page":{at}}}') for at in numbers)
    attachments = {at: _attachment(at, facts, call) for at, facts, call in zip(numbers, files, calls, strict=True)}
    results = [_result(call, attachments[at]) for at, call in zip(numbers, calls, strict=True)]
    return [Message(f"a_{seed}{number}", "assistant", calls), *results], attachments


def _attachment(number: int, facts: Facts, call: ToolCall) -> Attachment:
    origin = Origin("tool", call.tool, call.call_id)
    return Attachment(f"att_{call.call_id}", number, f"chart_{number}.png", origin, "2026-11-21", facts)


def _result(call: ToolCall, file: Attachment) -> Message:
    parts = (Text(f"Page {file.number} is drawn."), Shown(file.number, file.id))
    return Message(f"t_{call.call_id}", "tool", parts, call.call_id, call.tool)


def question(seed: str = "") -> Message:
    """What the run answers."""
    return Message(f"u_{seed}", "user", (Text("Draw every page, and tell me what changed."),))


def main() -> None:
    """Print the table."""
    gc.freeze()
    figures = [*storing(durable=False), *storing(durable=True), *map(loading, (50, 200, 1000)), *flooding()]
    for model in ("anthropic:claude-sonnet-4-5", "openai-chat:gpt-5-mini"):
        figures += planning(model)
    save(__doc__ or "", figures)


if __name__ == "__main__":
    flood() if sys.argv[1:] == ["flood"] else main()
