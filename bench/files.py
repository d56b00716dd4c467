"""The first sight of a file: it is stored, hashed, and checked up to its last byte, by kind and size.

CPU time of the process and its children, `FileCache().probe` for a file that no cache has seen, ten times a round. The
floor reads the file and takes its sha256. Beside it stand what others do to know that a file is whole: Pillow's
`verify`, which decodes nothing, and `load`, pypdf's count of pages, mutagen's seconds. None of them stores or hashes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from figures import FLOOR, Figure, rounds, save
from processes import Peer, cost, install, peer
from sample_files import MIB, write
from showandtell import File, FileCache

PACKAGES = ("pillow==13.0.0", "pypdf==7.1.1", "mutagen==1.48.1")
WAYS = {
    **dict.fromkeys(("PNG", "JPEG", "WebP", "GIF"), ("verify", "load")),
    **dict.fromkeys(("MP3", "M4A", "WAV"), ("mutagen",)),
    "PDF": ("pypdf",),
}
NAMES = {"verify": "Pillow verify", "load": "Pillow load", "pypdf": "pypdf", "mutagen": "mutagen"}
SIZES = {"PNG": (1, 10), "JPEG": (1, 10), "PDF": (1, 10), "WAV": (1, 10)}
ROUNDS, TIMES = 11, 10
#: CPU milliseconds a MiB.
GOAL = 1.5


def see(path: Path) -> Callable[[], float]:
    """CPU milliseconds a MiB of one first sight, in a cache that has seen none of ten files."""
    files = [path.with_name(f"{at}-{path.name}") for at in range(TIMES)]
    for at, file in enumerate(files):
        file.write_bytes(path.read_bytes() + b" " * at)  # bytes behind the end, so that no hash is known

    def once() -> float:
        cache = FileCache()

        def work() -> None:
            for file in files:
                proved = cache.probe(File.from_path(file))
                assert proved.facts is not None, proved.problem

        return cost(work)

    return scaled(path, once)


def floor(path: Path) -> Callable[[], float]:
    """The same of a hash alone."""

    def work() -> None:
        for _ in range(TIMES):
            with path.open("rb") as stream:
                hashlib.file_digest(stream, "sha256")

    return scaled(path, lambda: cost(work))


def scaled(path: Path, ms: Callable[[], float]) -> Callable[[], float]:
    """Of ten files, for a MiB."""
    mib = path.stat().st_size / MIB
    return lambda: ms() / TIMES / mib


def figures(folder: Path) -> Iterator[Figure]:
    """One for each kind and size."""
    python = install("first_sight", *PACKAGES)
    for kind, ways in WAYS.items():
        for size in SIZES.get(kind, (1,)):
            path = write(folder, kind, size * MIB)
            with ExitStack() as stack:
                others: dict[str, Peer] = {
                    way: stack.enter_context(peer(python, "first_sight", way, str(path), str(TIMES))) for way in ways
                }
                named = {f"{NAMES[way]} {one.version}": scaled(path, one) for way, one in others.items()}
                costs = rounds(ROUNDS, ours=see(path), floor=floor(path), **named)
            ours = costs.pop("ours")
            beside = {FLOOR: costs.pop("floor"), **costs}
            yield Figure(f"first sight of a {kind} of {size} MiB", "ms a MiB", ours, beside, goal=GOAL)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", list(figures(Path(folder))))


if __name__ == "__main__":
    main()
