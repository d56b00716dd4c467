"""A folder that holds some of a remote store's blobs. When it is over its limit, what was used longest ago leaves."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Generator

from showandtell.storage.blobs.folder import Folder

#: The most that a cache takes, in bytes, as long as nothing larger is in use.
MOST_CACHED = 2_000_000_000


class Cache:
    """Blobs at hand, for one process. What is in use never leaves, so that the limit gives way before a reader does."""

    def __init__(self, folder: Folder | None = None, most: int = MOST_CACHED) -> None:
        self.folder = folder or Folder()
        self.most = most
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        there = sorted(self.folder.listed(), key=lambda kept: kept.mtime)
        self._sizes = OrderedDict((kept.sha256, kept.size) for kept in there)
        self._total = sum(self._sizes.values())

    @contextlib.contextmanager
    def holding(self, sha256: str) -> Generator[Folder]:
        """The folder, from which this blob doesn't leave until the context ends."""
        with self._lock:
            self._used[sha256] += 1
        try:
            yield self.folder
        finally:
            with self._lock:
                self._used[sha256] -= 1
                if not self._used[sha256]:
                    del self._used[sha256]
                self._note(sha256)
                self._shrink()

    def _note(self, sha256: str) -> None:
        self._total -= self._sizes.pop(sha256, 0)
        with contextlib.suppress(FileNotFoundError):
            self._sizes[sha256] = self.folder.blob(sha256).stat().st_size
            self._total += self._sizes[sha256]

    def _shrink(self) -> None:
        while self._total > self.most:
            oldest = next((one for one in self._sizes if one not in self._used), None)
            if oldest is None:
                return
            self.folder.delete(oldest)
            self._total -= self._sizes.pop(oldest)
