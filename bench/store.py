"""Cost of storage: a file compared to sha256 and write, a duplicate, a conversation compared to sqlite3.

Also uploads over their limit, and planning a conversation of thousands of messages and files.
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
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import BinaryIO

import msgspec

from cases import MIB, question, step, table, verdict
from memory import peak_mib
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

ROUNDS = 60
GOAL_MESSAGES = 200
GOAL_STORE, GOAL_DUPLICATE_US, GOAL_LOAD_MS, GOAL_LOAD, GOAL_RSS_MIB, GOAL_PLAN_MS = 1.4, 50.0, 0.6, 2.5, 300.0, 20.0
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


def storing(*, durable: bool) -> list[object]:
    """Milliseconds to store 1 MiB of new bytes beside the floor, and the microseconds of a duplicate after its hash."""
    ours: list[float] = []
    floor: list[float] = []
    hashing: list[float] = []
    again: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder, beside = Folder(Path(place) / "blobs", durable=durable), Path(place) / "bare"
        folder.path.mkdir()
        beside.mkdir()
        for at in range(ROUNDS):
            data = os.urandom(MIB)

            def source(data: bytes = data) -> BinaryIO:
                return io.BytesIO(data)

            floor.append(wall(lambda data=data, at=at: bare(beside, data, at, sync=durable)))
            ours.append(wall(lambda source=source: folder.store(source, "file", 2 * MIB)))
            hashing.append(wall(lambda data=data: hashlib.sha256(data).hexdigest()))
            spooled = folder.spool(source, "file", 2 * MIB)

            def keep(spooled: object = spooled) -> None:
                folder.commit(spooled)
                folder.discard(spooled)

            again.append(wall(keep))
    ratio = median(item / two for item, two in zip(ours, floor, strict=True))
    duplicate = median(again) * 1e6
    name = "durable: fsync of file and folder" if durable else "without fsync"
    cells = [name, f"{median(ours) * 1e3:.2f}", f"{median(floor) * 1e3:.2f}", f"{ratio:.2f}"]
    good = "" if durable else verdict(ratio, GOAL_STORE)
    return [*cells, good, f"{duplicate:.0f}", verdict(duplicate, GOAL_DUPLICATE_US), f"{median(hashing) * 1e3:.2f}"]


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
    for kind, name in ((Message, "messages"), (Attachment, "attachments")):
        rows = connection.execute(f"SELECT record FROM {name} WHERE conversation_id = ?", (which,))  # noqa: S608 - a name of ours
        found += msgspec.json.decode(f"[{','.join(row[0] for row in rows)}]", type=list[kind])
    connection.close()
    return found


async def loading(count: int) -> list[object]:
    """Milliseconds to read a conversation of `count` messages, beside the floor."""
    with tempfile.TemporaryDirectory() as place:
        async with Store.at(place) as store:
            which = await fill(store, count)
            ours: list[float] = []
            floor: list[float] = []
            for _ in range(ROUNDS * 3):
                start = time.perf_counter()
                await store.open(which)
                ours.append(time.perf_counter() - start)
                floor.append(wall(lambda: raw(Path(place) / "showandtell.db", which)))
    ms, ratio = median(ours) * 1e3, median(ours) / median(floor)
    return [
        count,
        f"{ms:.2f}",
        verdict(ms, GOAL_LOAD_MS) if count == GOAL_MESSAGES else "",
        f"{median(floor) * 1e3:.2f}",
        f"{ratio:.2f}",
        verdict(ratio, GOAL_LOAD),
    ]


class Endless(io.RawIOBase):
    """An endless stream for uploads of 2 GB."""

    def __init__(self) -> None:
        self.left = 2 * GB

    def readable(self) -> bool:
        """Always readable."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """Leave the buffer as it is."""
        count = min(self.left, len(buffer))
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


def flooding() -> list[object]:
    """The same in a process of its own."""
    received = subprocess.run([sys.executable, __file__, "flood"], check=True, capture_output=True, text=True).stdout
    mib, seconds, left, _ = received.split()
    return ["10 x 2 GB, cap 1 GB", mib, verdict(float(mib), GOAL_RSS_MIB), seconds, left]


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


def planning(model: str) -> list[object]:
    """Milliseconds to plan a long conversation the first time, in each later step, and when a person says more."""
    view, cache, target = long_talk(10_000, 2_000), PlanCache(), resolve(model)
    first = wall(lambda: plan(view, target, {}, Policy(cache=True), cache=cache))
    later: list[float] = []
    output: list[float] = []
    messages, attachments, answering = view.messages, dict(view.attachments), view.answering
    for at in range(12):
        facts = [Facts(hashlib.sha256(f"new{at}".encode()).hexdigest(), "image/png", 200_000, (800, 600))]
        more, new = step(3_000 + at, facts)
        messages, attachments = (*messages, *more), attachments | new
        now = View(messages, attachments, answering)
        later.append(wall(lambda now=now: plan(now, target, {}, Policy(cache=True), cache=cache)))
        more = Message(f"b_{at}", "assistant", (Text("As you see."),), stop="end"), question(f"again{at}")
        messages, answering = (*messages, *more), more[-1].id
        asked = View(messages, attachments, answering)
        output.append(wall(lambda asked=asked: plan(asked, target, {}, Policy(cache=True), cache=cache)))
    ms, again = median(later[1:]) * 1e3, median(output[1:]) * 1e3
    return [
        model,
        len(view.messages),
        len(view.attachments),
        f"{first * 1e3:.0f}",
        f"{ms:.1f}",
        f"{again:.1f}",
        verdict(max(ms, again), GOAL_PLAN_MS),
        f"{max(later + output) * 1e3:.0f}",
    ]


def main() -> None:
    """Print each figure with its floor and goal."""
    gc.freeze()
    head = [
        "storing 1 MiB",
        "ms",
        "sha256 + write, ms",
        "ratio",
        f"<= {GOAL_STORE}",
        "duplicate, us",
        f"<= {GOAL_DUPLICATE_US:.0f}",
        "sha256, ms",
    ]
    print(table(head, [storing(durable=False), storing(durable=True)]))
    head = ["messages", "opened, ms", f"<= {GOAL_LOAD_MS}", "sqlite3 + msgspec, ms", "ratio", f"<= {GOAL_LOAD}"]
    print("\n" + table(head, [asyncio.run(loading(count)) for count in (50, 200, 1000)]))
    head = ["uploads", "peak MiB", f"<= {GOAL_RSS_MIB:.0f}", "seconds", "leftover bytes"]
    print("\n" + table(head, [flooding()]))
    head = [
        "planning",
        "messages",
        "files",
        "first time, ms",
        "each step after, ms",
        "each message after, ms",
        f"<= {GOAL_PLAN_MS:.0f}",
        "the slowest, ms",
    ]
    print("\n" + table(head, [planning("anthropic:claude-sonnet-4-5"), planning("openai-chat:gpt-5-mini")]))


if __name__ == "__main__":
    flood() if sys.argv[1:] == ["flood"] else main()
