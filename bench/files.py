"""The first sight of a file: it is stored, hashed, and checked up to its last byte, by kind and size.

CPU time of the process and its children, `FileCache().probe` for files that the cache hasn't seen, up to ten a round,
and what of it is spent in the decoders' processes. The floor reads the file and takes its sha256. Beside it stand what
others do to know that a file is whole: Pillow's `verify`, which decodes nothing, and `load`, pypdf's count of pages,
mutagen's seconds. None of them stores or hashes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import process_time

from figures import FLOOR, Figure, rounds, save
from processes import cost, install, peer
from sample_files import MIB, write
from showandtell import File, FileCache

PACKAGES = ("pillow==13.0.0", "pypdf==7.1.1", "mutagen==1.48.1")
WAYS = {
    **dict.fromkeys(("PNG", "JPEG", "WebP", "GIF"), ("verify", "load")),
    **dict.fromkeys(("MP3", "M4A", "WAV", "Ogg"), ("mutagen",)),
    "PDF": ("pypdf",),
}
NAMES = {"verify": "Pillow verify", "load": "Pillow load", "pypdf": "pypdf", "mutagen": "mutagen"}
SIZES = {"PNG": (1, 10), "JPEG": (1, 10), "PDF": (1, 10), "WAV": (1, 10)}
ROUNDS = 11
#: CPU milliseconds a MiB in the decoders' processes.
GOAL = 1.5
BEFORE = "3.7 and more"


def times(path: Path) -> int:
    """How many files a round sees: ten, of large ones three."""
    return 10 if path.stat().st_size < 4 * MIB else 3


class Sight:
    """The first sight of a file: costs by round, and what of them was spent in children."""

    def __init__(self, path: Path) -> None:
        self.files = [path.with_name(f"{at}-{path.name}") for at in range(times(path))]
        self.in_children = list[float]()
        self.mib = len(self.files) * path.stat().st_size / MIB
        for at, file in enumerate(self.files):
            file.write_bytes(path.read_bytes() + b" " * at)  # bytes behind the end, so that no hash is known

    def __call__(self) -> float:
        """CPU milliseconds a MiB, in a cache that has seen none of the files."""
        cache = FileCache()

        def work() -> None:
            for file in self.files:
                proved = cache.probe(File.from_path(file))
                assert proved.facts is not None, proved.problem

        own = process_time()
        whole = cost(work)
        self.in_children.append(max(0.0, whole - (process_time() - own) * 1000) / self.mib)
        return whole / self.mib


def floor(path: Path) -> Callable[[], float]:
    """The same of a hash alone."""

    def work() -> None:
        for _ in range(times(path)):
            with path.open("rb") as stream:
                hashlib.file_digest(stream, "sha256")

    return scaled(path, lambda: cost(work))


def scaled(path: Path, ms: Callable[[], float]) -> Callable[[], float]:
    """Of all files of a round, for a MiB."""
    mib = times(path) * path.stat().st_size / MIB
    return lambda: ms() / mib


def figures(folder: Path) -> Iterator[Figure]:
    """One for each kind and size."""
    python = install("first_sight", *PACKAGES)
    for kind, ways in WAYS.items():
        for size in SIZES.get(kind, (1,)):
            path = write(folder, kind, size * MIB)
            with ExitStack() as stack:
                arguments = (str(path), str(times(path)))
                others = {way: stack.enter_context(peer(python, "first_sight", way, *arguments)) for way in ways}
                named = {f"{NAMES[way]} {one.version}": scaled(path, one) for way, one in others.items()}
                sight = Sight(path)
                costs = rounds(ROUNDS, ours=sight, floor=floor(path), **named)
            ours = costs.pop("ours")
            beside = {FLOOR: costs.pop("floor"), **costs}
            work = f"first sight of a {kind} of {size} MiB"
            yield Figure(work, "ms a MiB", ours, beside)
            children = sight.in_children[1:]
            yield Figure(f"{work}, in decoders", "ms a MiB", children, goal=GOAL, before=BEFORE)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", list(figures(Path(folder))))


if __name__ == "__main__":
    main()
