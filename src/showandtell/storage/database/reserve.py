"""A file that holds some space on the database's disk, so that deleting works although the disk is full.

SQLite needs space to delete. Nothing is reserved for PostgreSQL, whose disk isn't ours.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

MIB = 1024 * 1024
#: Size of the file in bytes: room for the pages that a deletion changes.
SIZE = 4 * MIB
#: The file is made only if that many bytes are free.
MIN_FREE = 3 * SIZE
#: A deletion takes the file if less than this is free.
TO_DELETE = 2 * MIB
#: Opening a database takes `TAKEN` bytes of it, once, if less than this is free.
TO_OPEN, TAKEN = MIB // 4, MIB // 2


class Reserve:
    """The file beside an SQLite database. Its methods block and never raise: all else works without it."""

    def __init__(self, database: str | None) -> None:
        self._path = None if database is None else Path(f"{database}.reserve")

    def restore(self) -> None:
        """Make the file if it isn't there, and the disk has space for it."""
        if self._path is not None:
            with suppress(OSError):
                if self._size() < SIZE and shutil.disk_usage(self._path.parent).free >= MIN_FREE:
                    allocate(self._path, SIZE)

    def give_up(self) -> None:
        """Remove the file, if too little is free without it. Call this before a deletion."""
        if self._path is not None and self._size() and not self._is_free(TO_DELETE):
            with suppress(OSError):
                self._path.unlink()

    def shrink(self) -> None:
        """Give up a part of the file, if so little is free that the database can't be opened."""
        if self._path is not None and self._size() == SIZE and not self._is_free(TO_OPEN):
            with suppress(OSError):
                os.truncate(self._path, SIZE - TAKEN)

    def _size(self) -> int:
        with suppress(OSError):
            return self._path.stat().st_size if self._path is not None else 0
        return 0

    def _is_free(self, count: int) -> bool:
        """Whether that many bytes can be written: a quota may allow less than the disk has."""
        try:
            try_to_allocate(Path(f"{self._path}.{os.getpid()}"), count)
        except OSError:
            return False
        return True


def is_full(database: str) -> bool:
    """Whether the disk of a database, or the user's quota of it, has less space than opening it needs."""
    try:
        try_to_allocate(Path(f"{database}.{os.getpid()}"), TO_OPEN)
    except OSError as error:
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return False


def try_to_allocate(path: Path, count: int) -> None:
    """Make a file of `count` bytes, and remove it. Raises `OSError` if there is no space."""
    allocate(path, count)
    with suppress(OSError):
        path.unlink()


def allocate(path: Path, count: int) -> None:
    """Make a file of `count` bytes on the disk. Raises `OSError`, and leaves no file, if there is no space."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, count)
        else:  # macOS
            while os.fstat(handle).st_size < count:
                os.write(handle, bytes(min(MIB, count)))
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(handle)
