"""How proved bytes are read, wherever they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

from showandtell.core.messages.attachments import Facts


class Blobs(Protocol):
    """Where proved bytes are read. Reading raises `FileChanged` when they are no longer what `of` says."""

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """Give the bytes in pieces of `size` (the last may be shorter), each valid until the next is asked for."""
        ...

    def read(self, of: Facts) -> bytes:
        """Give the bytes at once."""
        ...

    def open(self, of: Facts) -> BinaryIO:
        """Open the bytes for reading."""
        ...

    def local(self, of: Facts) -> AbstractContextManager[Path]:
        """Lend a path with the bytes, for decoders and programs that want one."""
        ...

    def check(self, of: Facts) -> str | None:
        """What is wrong with the stored bytes, in words that follow a name; None where they are what they were."""
        ...
