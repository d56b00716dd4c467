"""The protocols for reading stored bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

from showandtell.core.messages.attachments import Facts


class SequentialReader(Protocol):
    """Reads files one after the other, each to its end. Raises `FileChanged` if the bytes changed. Must be closed."""

    def read_cached(self, buffer: memoryview, /) -> int:
        """Read bytes of the current file that are in memory, without waiting. 0 if there are none: use `readinto`."""
        ...

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, which may not be larger than the rest of the current file. May wait for disk or bucket."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class BlobReader(Protocol):
    """Reads the bytes that a request sends. Raises `FileChanged` if they no longer match their facts."""

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """Yield the bytes in chunks of `size` (the last may be shorter). A chunk is valid until the next one."""
        ...

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other."""
        ...

    def read(self, facts: Facts) -> bytes:
        """Return all bytes."""
        ...


class Blobs(BlobReader, Protocol):
    """Reads stored bytes in every way that conversions, tools and requests need. Raises `FileChanged`, too."""

    def open(self, facts: Facts) -> BinaryIO:
        """Open the bytes for reading."""
        ...

    def local(self, facts: Facts) -> AbstractContextManager[Path]:
        """A path to the bytes inside the `with` block, for decoders and programs that need one."""
        ...

    def check(self, facts: Facts) -> str | None:
        """What is wrong with the stored bytes, as text to follow a file name; None if they match."""
        ...
