"""A file that arrives in pieces: each is written and hashed as it comes, so that none is held, and nothing copied."""

from __future__ import annotations

import contextlib
import hashlib
import os

from showandtell.storage.blobs.base import Spooled, TooLarge
from showandtell.storage.blobs.disk import storing
from showandtell.storage.blobs.spool import SpoolDirectory


class SpoolWriter:
    """An `UploadWriter` whose pieces go into a spool on this machine's disk."""

    def __init__(self, ground: SpoolDirectory, name: str, most: int) -> None:
        self._ground, self._name, self._most = ground, name, most
        self._digest = hashlib.sha256()
        self._handle, self._path = ground.new_spool()
        self.size = 0

    def write(self, piece: bytes | memoryview) -> None:
        """Take a piece. `TooLarge` for the one that goes beyond the limit, of which nothing is written."""
        if self.size + len(piece) > self._most:
            raise TooLarge(self._name, self._most)
        self._ground.write(self._handle, piece)
        self._digest.update(piece)
        self.size += len(piece)

    def end(self) -> Spooled:
        """All is there."""
        self._close()
        return Spooled(self._path, self._digest.hexdigest(), self.size)

    def drop(self) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):  # what stays is cleared away later
            self._close()
            self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with storing(self._ground.path):
                os.close(handle)
