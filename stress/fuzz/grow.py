"""Grows the inputs that were found: a repeated piece of an input must take time in proportion: `grow.py TARGET SECONDS FOLDER`.

Nothing is traced here, so that times are accurate. They are CPU times of this process alone.
"""

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

#: Bytes of the two inputs that are compared, and how much longer the second may take: 4 is in proportion, 16 its square.
SMALL, LARGE, MAX_RATIO = 50_000, 200_000, 8
#: What is shorter, in seconds, says nothing.
SHORT = 0.2
#: The pieces of one input that are tried.
PIECES = 4


def cut_pieces(data: bytes, random: Random) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The bytes before a piece, the piece, and the bytes after it."""
    for _ in range(PIECES):
        start, end = sorted(random.sample(range(len(data) + 1), 2))
        yield data[:start], data[start:end], data[end:]


def repeat(pieces: tuple[bytes, bytes, bytes], size: int) -> bytes:
    """The input with its piece repeated up to that size."""
    before, piece, after = pieces
    return before + piece * max(1, (size - len(before) - len(after)) // len(piece)) + after


def measure(run: Callable[[bytes], None], data: bytes) -> float:
    """Seconds of work."""
    begun = time.process_time()
    run(data)
    return time.process_time() - begun


def check(run: Callable[[bytes], None], pieces: tuple[bytes, bytes, bytes]) -> float:
    """Seconds of the large input. Raises AssertionError where it takes far longer than its size says."""
    small, large = repeat(pieces, SMALL), repeat(pieces, LARGE)
    seconds = measure(run, large)
    if seconds > SHORT and seconds > MAX_RATIO * measure(run, small):
        fastest = [min(measure(run, data) for _ in range(3)) for data in (small, large)]
        assert fastest[1] <= MAX_RATIO * fastest[0], f"{fastest} s for {len(small)} and {len(large)} bytes of {pieces}"
    return seconds


def main(target: str, seconds: str, folder: Path) -> None:
    """Tells how many were tried, and the slowest."""
    run, end = importlib.import_module(target).RUN, time.monotonic() + float(seconds)
    random = Random(target)  # noqa: S311 - the same pieces each time
    inputs = sorted(path for path in (folder / "corpus").iterdir() if path.stat().st_size)
    random.shuffle(inputs)
    count, slowest = 0, (0.0, (b"", b"", b""))
    for item in inputs:
        for pieces in cut_pieces(item.read_bytes(), random):
            if time.monotonic() < end:
                slowest = max(slowest, (check(run, pieces), pieces))
                count += 1
    sys.stderr.write(f"grown: {count}, slowest: {slowest[0]:.2f} s for {slowest[1]}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
