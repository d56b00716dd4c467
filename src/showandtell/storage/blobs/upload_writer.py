"""Receives a file in chunks: each is hashed and written as it arrives, so nothing is buffered or copied."""

from __future__ import annotations

import contextlib
import hashlib
import os

from showandtell.storage.blobs.base import Spooled, TooLarge
from showandtell.storage.blobs.disk import disk_errors
from showandtell.storage.blobs.spool import SpoolDirectory


class SpoolWriter:
    """An `UploadWriter` that writes to the spool on the local disk."""

    def __init__(self, spools: SpoolDirectory, name: str, max_bytes: int) -> None:
        self._spools, self._name, self._max_bytes = spools, name, max_bytes
        self._digest = hashlib.sha256()
        self._handle, self._path = spools.new_spool()
        self.size = 0

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises `TooLarge`, and writes nothing, if the chunk exceeds the limit."""
        if self.size + len(chunk) > self._max_bytes:
            raise TooLarge(self._name, self._max_bytes)
        self._spools.write(self._handle, chunk)
        self._digest.update(chunk)
        self.size += len(chunk)

    def finish(self) -> Spooled:
        """Close the file and return it as spooled."""
        self._close()
        return Spooled(self._path, self._digest.hexdigest(), self.size)

    def discard(self) -> None:
        """Discard the upload."""
        with contextlib.suppress(OSError):  # leftovers are cleared later
            self._close()
            self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with disk_errors(self._spools.path):
                os.close(handle)
