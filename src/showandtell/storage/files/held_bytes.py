"""Bytes objects that a program has handed in, the last ones up to a total size, so that they are not hashed again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import BlobReader, SequentialReader

#: Total size of the bytes that are held. Without their owner they would be freed otherwise.
MAX_HELD_BYTES = 64 << 20


class HeldBytes:
    """Bytes objects by identity, which tells as much as their hash while they are held: they never change."""

    def __init__(self, max_bytes: int = MAX_HELD_BYTES) -> None:
        self._max_bytes, self._size = max_bytes, 0
        self._hashes: dict[int, str] = {}
        self._data: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def sha256_of(self, data: bytes) -> str | None:
        """The sha256 of this very object; None if it isn't held."""
        return self._hashes.get(id(data))

    def get(self, sha256: str) -> bytes | None:
        """The bytes with a hash, if they are held."""
        return self._data.get(sha256)

    def add(self, data: bytes, sha256: str) -> None:
        """Hold an object instead of an equal one, and release the oldest ones if all are too large together."""
        if len(data) > self._max_bytes:
            return
        with self._lock:
            self._release(sha256)
            self._data[sha256], self._hashes[id(data)] = data, sha256
            self._size += len(data)
            while self._size > self._max_bytes:
                self._release(next(iter(self._data)))

    def _release(self, sha256: str) -> None:
        data = self._data.get(sha256)
        if data is not None:
            del self._hashes[id(data)]  # before the object: its id may be another's from then on
            self._size -= len(data)
            del self._data[sha256]


class HeldReader:
    """Reads the bytes of a request: those that are held from memory, the others from the store."""

    def __init__(self, held: HeldBytes, blobs: BlobReader) -> None:
        self._held, self._blobs = held, blobs

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """Yield the bytes in chunks of `size`."""
        data = self._held.get(facts.sha256)
        if data is None:
            yield from self._blobs.chunks(facts, size)
            return
        view = memoryview(data)
        for start in range(0, len(view), size):
            yield view[start : start + size]

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other, from the store."""
        return self._blobs.reader(files)

    def read(self, facts: Facts) -> bytes:
        """Return all bytes."""
        data = self._held.get(facts.sha256)
        return self._blobs.read(facts) if data is None else data
