"""Claims whose bytes are here already: stored under their hash, or arrived in a spool. Neither is copied again."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.storage.blobs.base import Spooled


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Opens stored bytes; two that open the same are equal, so that a file given back is known again.

    `claim` is what the file was said to be when it was proved, `corrected` what was wrong with that.
    """

    blobs: Blobs
    facts: Facts
    claim: str | None = field(default=None, compare=False)
    corrected: str | None = field(default=None, compare=False)

    def __call__(self) -> BinaryIO:
        """Open them."""
        return self.blobs.open(self.facts)

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process (a tool's own) the bytes themselves go."""
        return partial, (io.BytesIO, self.blobs.read(self.facts))


@dataclass(frozen=True, slots=True)
class SpooledSource:
    """Bytes that were spooled as they came, in the store that is to prove and keep them: that store drops them, too."""

    spooled: Spooled

    def __call__(self) -> BinaryIO:
        """Open them."""
        return self.spooled.path.open("rb")
