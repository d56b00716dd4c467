"""Sources whose bytes are in the store already: committed under a hash, or spooled. They are not copied again."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.file import File, Reader
from showandtell.storage.blobs.base import Spooled


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Opens stored bytes. Two sources for the same bytes are equal, so that a returned file is recognized.

    `claim` is the media type that was claimed when the file was probed, `corrected` the claim if it was wrong.
    """

    blobs: Blobs
    facts: Facts
    claim: str | None = field(default=None, compare=False)
    corrected: str | None = field(default=None, compare=False)

    def __call__(self) -> BinaryIO:
        """Open the bytes."""
        return self.blobs.open(self.facts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes themselves, for example for a tool in another process."""
        return partial, (io.BytesIO, self.blobs.read(self.facts))


@dataclass(frozen=True, slots=True)
class SpooledSource:
    """Bytes already spooled in the store that is to commit them. That store also discards the spool."""

    spooled: Spooled

    def __call__(self) -> BinaryIO:
        """Open the bytes."""
        return self.spooled.path.open("rb")


def stored_facts(files: Iterable[object]) -> list[Facts]:
    """The facts of those files whose bytes are in a store already."""
    readers = (file.source for file in files if isinstance(file, File) and isinstance(file.source, Reader))
    return [reader.open.facts for reader in readers if isinstance(reader.open, StoredSource)]
