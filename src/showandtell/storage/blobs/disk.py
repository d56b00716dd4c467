"""Disk primitives for the blob store: fsync, links, file stamps and error translation."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeAlias

from showandtell.errors import StorageFailed, StorageFull
from showandtell.storage.blobs.deadlines import progress

#: No space, no quota, or over the largest file that this process or file system may write.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: Errors of the process, which say nothing about the requested file.
PROCESS_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
#: Bytes a second that even a slow disk syncs.
SYNC_RATE = 8_000_000
#: Errors of file systems without hard links.
LINKS_UNSUPPORTED = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})


@contextlib.contextmanager
def disk_errors(path: Path) -> Generator[None]:
    """Turn an `OSError` into `StorageFailed`, so that it isn't mistaken for an error of the stored file."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def storage_error(error: OSError, path: Path) -> StorageFailed:
    """The `StorageFailed` for a disk error, with advice."""
    if error.errno in FULL:
        return StorageFull(f"{path} has no room left ({error.strerror}): free some, or keep files in another folder")
    reason = error.strerror or type(error).__name__
    return StorageFailed(f"{path} can't be used ({reason}): check the disk and who may write there")


def sync(path: Path) -> None:
    """Return when a file's bytes, or a folder's entries, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        progress(os.fstat(handle).st_size / SYNC_RATE)
        if sys.platform == "darwin":  # there, fsync stops at the drive's own cache
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        else:
            os.fsync(handle)
    finally:
        os.close(handle)


def link(source: Path, target: Path) -> None:
    """Hard-link a file, or move it if the file system has no links. Raises `FileExistsError` if the target exists."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in LINKS_UNSUPPORTED:
            raise
        source.replace(target)


Stamp: TypeAlias = tuple[int, int, int]


def stamp(file: Path | int) -> Stamp:
    """A file's inode, size and mtime in nanoseconds; they change whenever it is written to.

    Bytes that change without them, as on a failing disk, go unnoticed.
    """
    status = os.fstat(file) if isinstance(file, int) else file.stat()
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """A folder's entries by name; none if it doesn't exist. Raises `StorageFailed` if it can't be read."""
    try:
        with os.scandir(folder) as listing:
            yield from sorted(listing, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise storage_error(error, folder) from error
