"""Cost of building a request, from stored files to the last byte of the body, compared to a minimal loop.

The floor reads the same files in the same pieces, encodes them with pybase64 and copies them once. Both give their
bytes to the same sink, which copies each piece as a kernel would. Memory is the peak of a fresh process for each case
over that of one that imports the same and does nothing.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from statistics import median
from time import process_time

import pybase64

from cases import MIB, MODELS, cpu, one_step, store, stored, table, temporary, unlimited, verdict
from memory import peak_mib
from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.planning.plan import plan, raise_refused
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Request, compose
from showandtell.storage.blobs.folder import CHUNK_SIZE, Folder

CASES = ((20, 1), (10, 10))
GOAL_RATIO, GOAL_MIB = 1.5, 8.0
ROUNDS = 15


class Sink:
    """Copies bytes like a socket, and discards them."""

    def __init__(self) -> None:
        self.buffer = bytearray(2 * MIB)
        self.size = 0

    def take(self, piece: bytes) -> None:
        """Copy one piece."""
        self.buffer[: len(piece)] = piece
        self.size += len(piece)


def floor(folder: Folder, files: Sequence[Facts], sink: Sink) -> None:
    """Only read, encode and copy."""
    buffer = memoryview(bytearray(CHUNK_SIZE))
    for file in files:
        with folder.blob(file.sha256).open("rb", buffering=0) as source:
            while count := source.readinto(buffer):
                sink.take(pybase64.b64encode(buffer[:count]))


def build(files: Sequence[Facts], target: Target, folder: Folder) -> Request:
    """Plan and render the complete conversation."""
    planned = plan(one_step(files), target, {}, Policy())
    raise_refused(planned, target)
    return compose(planned, target, Options("You draw charts."), {}, folder)


def by_chunks(files: Sequence[Facts], target: Target, folder: Folder, sink: Sink) -> None:
    """Build and drain, without an event loop."""
    for piece in build(files, target, folder).chunks():
        sink.take(piece)


async def by_body(files: Sequence[Facts], target: Target, folder: Folder, sink: Sink) -> float:
    """Build and drain like an HTTP client. Returns CPU seconds without the start of the event loop."""
    start = process_time()
    async for piece in build(files, target, folder).body():
        sink.take(piece)
    return process_time() - start


def once(way: str, files: Sequence[Facts], target: Target, folder: Folder) -> float:
    """CPU seconds of one request."""
    sink = Sink()
    if way == "body":
        seconds = asyncio.run(by_body(files, target, folder, sink))
    else:
        seconds = cpu(lambda: by_chunks(files, target, folder, sink))
    assert sink.size > sum(file.size for file in files) * 4 // 3, "a file is missing from the body"
    return seconds


def bare(files: Sequence[Facts], folder: Folder) -> float:
    """CPU seconds of the floor."""
    sink = Sink()
    return cpu(lambda: floor(folder, files, sink))


def times(way: str, api: str, folder: Folder) -> tuple[float, float, float]:
    """CPU milliseconds of the floor and of ours, and their ratio: medians of alternating rounds."""
    files, target = stored(folder), unlimited(MODELS[api])
    rounds = [(bare(files, folder), once(way, files, target, folder)) for _ in range(ROUNDS)][1:]
    baseline, ours = zip(*rounds, strict=True)
    return median(baseline) * 1000, median(ours) * 1000, median(own / bottom for bottom, own in rounds)


def peak(way: str, api: str, folder: Folder) -> float:
    """The peak MiB of a fresh process that builds one request, or does nothing."""
    words = [sys.executable, __file__, way, api, str(folder.path)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def child(way: str, api: str, path: str) -> None:
    """The job of the fresh process."""
    folder = temporary(path)
    files, target = stored(folder), unlimited(MODELS[api])
    if way != "nothing":
        once(way, files, target, folder)
    print(peak_mib())


def main() -> None:
    """Print time and memory of every case, api and way."""
    rows: list[Sequence[object]] = []
    for count, size in CASES:
        folder = temporary()
        store(folder, count, size * MIB)
        base = peak("nothing", "openai-chat", folder)
        for api, way in product(MODELS, ("chunks", "body")):
            baseline, ours, ratio = times(way, api, folder)
            over = peak(way, api, folder) - base
            figures = [f"{baseline:.1f}", f"{ours:.1f}", f"{ratio:.2f}", verdict(ratio, GOAL_RATIO), f"{over:.1f}"]
            rows.append([f"{count} x {size} MiB", api, way, *figures, verdict(over, GOAL_MIB)])
    print("CPU ms from stored files to the last byte of the body, and peak MiB above an idle process")
    head = ["case", "api", "way", "floor", "ours", "ratio", f"<= {GOAL_RATIO}", "MiB", f"<= {GOAL_MIB:.0f}"]
    print(table(head, rows))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(*sys.argv[1:4])
    else:
        main()
