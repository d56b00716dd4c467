"""Rendering a question about twenty pictures of 1 MiB, from their bytes to the body's last byte.

CPU time with child processes: `render` and `request.chunks()`, into a buffer that every chunk is copied to. `first`:
nothing is known of the pictures. `again, equal bytes`: a `FileCache` has proved equal ones. `again, the same bytes`: it
has seen these very objects. The floor encodes the same bytes in memory and copies them; where equal bytes must be
recognized, it also takes their sha256. Anthropic's SDK and LangChain build the same request body of the same bytes, up
to their HTTP client's transport. Memory is the peak of a process over that of one that renders the question alone.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pybase64

from figures import FLOOR, Figure, rounds, save
from memory import peak_mib
from processes import cost, install, peer
from sending import CHUNK, MODELS, PACKAGES, pictures
from showandtell import Draft, File, FileCache, Text, render

ROUNDS = 15
MODEL = MODELS["anthropic-messages"]
PEERS = {"anthropic": "anthropic", "langchain": "langchain-anthropic", "pydantic-ai/anthropic-messages": "pydantic-ai"}
BUFFER = bytearray(4 << 20)

#: What is measured.
WORK = "`render`, 20 x 1 MiB"


def body(pictures: list[bytes], cache: FileCache | None = None) -> None:
    """Render the question and take its body."""
    files = [File.from_bytes(data, name=f"{at}.png") for at, data in enumerate(pictures)]
    request = render([Draft("user", (Text("What do these show?"), *files))], model=MODEL, cache=cache)
    size = 0
    for chunk in request.chunks():
        BUFFER[: len(chunk)] = chunk
        size += len(chunk)
    assert size == request.size


def encode(pictures: list[bytes]) -> None:
    """Encode and copy."""
    for data in pictures:
        view = memoryview(data)
        for start in range(0, len(data), CHUNK):
            chunk = pybase64.b64encode(view[start : start + CHUNK])
            BUFFER[: len(chunk)] = chunk


def digest(pictures: list[bytes]) -> None:
    """Hash and encode."""
    for data in pictures:
        hashlib.sha256(data).digest()
    encode(pictures)


def copies(pictures: list[bytes]) -> list[bytes]:
    """Equal bytes in other objects."""
    return [bytes(bytearray(data)) for data in pictures]


def figures(folder: Path) -> list[Figure]:
    """First and again."""
    known = [path.read_bytes() for path in pictures(folder)]
    seen, same = FileCache(), FileCache()
    python = install("send_files", *PACKAGES)

    def again() -> float:
        equal = copies(known)
        return cost(lambda: body(equal, seen))

    with ExitStack() as stack:
        arguments = (str(folder), "bytes", "")
        theirs = {way: stack.enter_context(peer(python, "send_files", way, *arguments)) for way in PEERS}
        costs = rounds(
            ROUNDS,
            first=lambda: cost(lambda: body(known)),
            again=again,
            same=lambda: cost(lambda: body(known, same)),
            hashed=lambda: cost(lambda: digest(known)),
            floor=lambda: cost(lambda: encode(known)),
            **theirs,
        )
    peers = {f"{PEERS[way]} {one.version}": costs[way] for way, one in theirs.items()}
    hashed = {FLOOR: costs["hashed"], **peers}
    return [
        Figure(f"{WORK}, first", "ms", costs["first"], hashed, of="best peer", goal=2, before="0.7 to 1.1"),
        Figure(
            f"{WORK}, again, equal bytes", "ms", costs["again"], hashed, of="floor", goal=1.2, before="8 to 12 times"
        ),
        Figure(
            f"{WORK}, again, the same bytes", "ms", costs["same"], {FLOOR: costs["floor"], **peers}, of="floor", goal=2
        ),
        Figure("memory of rendering them", "MiB", memory(folder), goal=8),
    ]


def memory(folder: Path) -> list[float]:
    """The peak MiB of fresh processes with files from disk over that of others without."""

    def peak(folder: str) -> float:
        command = [sys.executable, __file__, folder]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return [peak(str(folder)) - peak("") for _ in range(3)]


def child(folder: str) -> None:
    """Render once, and print the peak of this process."""
    files = [File.from_path(path) for path in sorted(Path(folder).iterdir())] if folder else []
    request = render([Draft("user", (Text("What do these show?"), *files))], model=MODEL)
    assert sum(map(len, request.chunks())) == request.size
    print(peak_mib())


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", figures(Path(folder)))


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
