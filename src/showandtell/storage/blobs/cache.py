"""A local cache for the blobs of a remote store. When it is full, the least recently used blob is deleted."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Generator

from showandtell.storage.blobs.folder import Folder

#: Default size limit in bytes. Blobs in use may exceed it.
MAX_CACHE_BYTES = 2_000_000_000


class Cache:
    """Cached blobs of one process. Blobs in use are never evicted, even if the cache exceeds its limit."""

    def __init__(self, folder: Folder | None = None, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self.folder = folder or Folder()
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._users: Counter[str] = Counter()
        blobs = sorted(self.folder.list_blobs(), key=lambda blob: blob.mtime)
        self._sizes = OrderedDict((blob.sha256, blob.size) for blob in blobs)
        self._total = sum(self._sizes.values())

    @contextlib.contextmanager
    def in_use(self, sha256: str) -> Generator[Folder]:
        """Protect a blob from eviction inside the context."""
        with self._lock:
            self._users[sha256] += 1
        try:
            yield self.folder
        finally:
            with self._lock:
                self._users[sha256] -= 1
                if not self._users[sha256]:
                    del self._users[sha256]
                self._record(sha256)
                self._shrink()

    def _record(self, sha256: str) -> None:
        self._total -= self._sizes.pop(sha256, 0)
        with contextlib.suppress(FileNotFoundError):
            self._sizes[sha256] = self.folder.blob(sha256).stat().st_size
            self._total += self._sizes[sha256]

    def _shrink(self) -> None:
        while self._total > self.max_bytes:
            oldest = next((sha256 for sha256 in self._sizes if sha256 not in self._users), None)
            if oldest is None:
                return
            self.folder.delete(oldest)
            self._total -= self._sizes.pop(oldest)
