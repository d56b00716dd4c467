"""Reads blobs one after the other, as a request sends them: what the system has in memory without waiting."""

from __future__ import annotations

import io
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import BinaryIO, TypeAlias, cast

from showandtell.core.messages.attachments import Facts
from showandtell.storage.blobs.base import Damaged
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.disk import stamp

#: Blobs that are open at a time, and their bytes at most, unless a single one is larger.
OPEN_BLOBS, OPEN_BYTES = 8, 16 << 20
#: Read only what is in memory (Linux). 0 on other systems.
NOWAIT: int = getattr(os, "RWF_NOWAIT", 0)
CHANGED_WHILE_READ = "changes while it is read"
Open: TypeAlias = Callable[[Facts], BinaryIO]
#: Turns errors of the disk into those of a blob.
ReadErrors: TypeAlias = Callable[[Facts], AbstractContextManager[None]]


class SequentialReader:
    """The bytes of several blobs, one after the other. Opens a few at a time, and must be closed."""

    def __init__(self, files: Iterable[Facts], open_blob: Open, read_errors: ReadErrors) -> None:
        self._waiting = deque(facts for facts in files if facts.size)
        self._open_blob, self._read_errors = open_blob, read_errors
        self._opened, self._finished = deque[OpenBlob](), list[OpenBlob]()
        #: Held while a thread waits for the disk, so that nothing is opened after `close`.
        self._lock, self._closed = threading.Lock(), False

    def read_cached(self, buffer: memoryview) -> int:
        """Read bytes of the current blob that the system has in memory, without waiting. 0 if there are none."""
        if not self._opened:
            return 0
        count = self._opened[0].read_cached(buffer)
        self._finish()
        return count

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer, which may not be larger than the rest of the current blob. May wait for disk or bucket."""
        with self._lock:
            if self._closed:
                raise ValueError("the reader is closed")
            if not self._opened:
                self._open_next()
            blob = self._opened[0]
            with self._read_errors(blob.facts):
                blob.readinto(buffer)
            progress()
            self._finish()
        return len(buffer)

    def close(self) -> None:
        """Close what is open, after a read that another thread waits for."""
        with self._lock:
            self._closed = True
            self._close_blobs()

    def _close_blobs(self) -> None:
        for blob in (*self._finished, *self._opened):
            blob.source.close()
        self._finished.clear()
        self._opened.clear()

    def _finish(self) -> None:
        """Go to the next blob at the end of one. It is closed when others are opened, since that may wait as well."""
        if not self._opened[0].left:
            self._finished.append(self._opened.popleft())

    def _open_next(self) -> None:
        self._close_blobs()
        size = 0
        while self._waiting and len(self._opened) < OPEN_BLOBS:
            size += self._waiting[0].size
            if self._opened and size > OPEN_BYTES:
                break
            facts = self._waiting.popleft()
            self._opened.append(OpenBlob(facts, self._open_blob(facts)))
            progress()


class OpenBlob:
    """An open blob and the number of its bytes that are not read yet."""

    def __init__(self, facts: Facts, source: BinaryIO) -> None:
        self.facts, self.source, self.left = facts, source, facts.size
        self._stamp, self._file = None, -1
        try:
            self._file = source.fileno()
        except OSError:  # it is decompressed
            return
        self._stamp = stamp(self._file)

    def read_cached(self, buffer: memoryview) -> int:
        """Read what the system has in memory."""
        if self._file < 0 or not NOWAIT:
            return 0
        try:
            count = os.preadv(self._file, [buffer], self.facts.size - self.left, NOWAIT)
        except OSError:  # it isn't in memory, or the file system can't tell
            return 0
        self._pass(count)
        return count

    def readinto(self, buffer: memoryview) -> None:
        """Fill the buffer. Raises `Damaged` if the blob is shorter, or longer than it should be."""
        while buffer:
            if self._file < 0:
                count = cast("io.BufferedReader", self.source).readinto(buffer)
            else:
                count = os.preadv(self._file, [buffer], self.facts.size - self.left)
            if not count:
                raise Damaged(self.facts, CHANGED_WHILE_READ)
            buffer = buffer[count:]
            self._pass(count)

    def _pass(self, count: int) -> None:
        self.left -= count
        if not self.left and (self.source.read(1) if self._file < 0 else stamp(self._file) != self._stamp):
            raise Damaged(self.facts, CHANGED_WHILE_READ)
