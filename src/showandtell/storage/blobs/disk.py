"""What a blob's way to the disk is made of: names that are really there, stamps of files, errors in words."""

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

#: No space, no quota, or over the largest file that this process or file system may write.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: What says nothing about the file that was asked for.
OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
#: File systems without hard links say one of these.
NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})


@contextlib.contextmanager
def storing(where: Path) -> Generator[None]:
    """Turn the disk's errors into ours: they are the program's, and never those of the file that is stored."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, where) from error


def storage_error(error: OSError, where: Path) -> StorageFailed:
    """What a disk's error means, and what to do."""
    if error.errno in FULL:
        return StorageFull(f"{where} has no room left ({error.strerror}): free some, or keep files in another folder")
    reason = error.strerror or type(error).__name__
    return StorageFailed(f"{where} can't be used ({reason}): check the disk and who may write there")


def sync(path: Path) -> None:
    """Return when a file's bytes, or a folder's names, are on the disk and not only on their way."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if sys.platform == "darwin":  # there, fsync stops at the drive's own cache
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        else:
            os.fsync(handle)
    finally:
        os.close(handle)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system can't, its only name. `FileExistsError` where there is one."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        source.replace(target)


Stamp: TypeAlias = tuple[int, int, int]


def stamp(file: Path | int) -> Stamp:
    """What changes when a file, by path or handle, is written to: its inode, size and time of change in nanoseconds.

    Bytes that are swapped under the same three, as a failing disk does, can't be told by it.
    """
    found = os.fstat(file) if isinstance(file, int) else file.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, by name; nothing where there is none. Raises `StorageFailed` where it can't be read."""
    try:
        with os.scandir(folder) as found:
            yield from sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise storage_error(error, folder) from error
