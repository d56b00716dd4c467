"""The spool of a blob folder: where bytes are written before they get their names, and which files were verified."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from showandtell.config.private_folder import make_private_folder
from showandtell.storage.blobs.base import CHUNK_SIZE, Spooled, TooLarge
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.disk import Stamp, disk_errors, entries, link, stamp, sync

#: Files with fewer chunks than this are hashed before anything is written.
BUFFERED_CHUNKS = 3
#: How many files are remembered as verified. Forgotten ones are hashed again when next read.
MAX_VERIFIED = 20_000


class HashingReader:
    """Iterates over the chunks of a source and hashes them. Raises `TooLarge` above `max_bytes`."""

    def __init__(self, source: BinaryIO, name: str, max_bytes: int) -> None:
        self._source, self._name, self._max_bytes = source, name, max_bytes
        self._digest = hashlib.sha256()
        # What is in memory isn't copied if it is read as a whole.
        self._chunk_size = -1 if isinstance(source, io.BytesIO) else CHUNK_SIZE
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk = self._source.read(self._chunk_size)
        if not chunk:
            raise StopIteration
        self.size += len(chunk)
        if self.size > self._max_bytes:
            raise TooLarge(self._name, self._max_bytes)
        self._digest.update(chunk)
        return chunk

    @property
    def sha256(self) -> str:
        """The hash of everything read so far, in hex."""
        return self._digest.hexdigest()


class SpoolDirectory:
    """A blob folder and its spool, shared by all owners' parts.

    `verified` maps files to their stamps when their hash was last checked; `synced` lists those whose names are known
    to be on disk as well.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path, self.durable = path, durable
        self.spools = path / "spool"
        self.verified, self.synced = LruDict[Path, Stamp](MAX_VERIFIED), LruDict[Path, Stamp](MAX_VERIFIED)
        self._made_folders: set[Path] = set()

    def make_folder(self, folder: Path) -> None:
        """Create a folder and sync its name to disk once, even if another process has just created it."""
        if folder in self._made_folders and folder.is_dir():
            return
        if folder != self.path:
            self.make_folder(folder.parent)
        make_private_folder(folder)
        if self.durable:
            with contextlib.suppress(PermissionError):  # the parent folder may belong to another user
                sync(folder.parent)
        self._made_folders.add(folder)

    def new_spool(self) -> tuple[int, Path]:
        """Create a spool file. Returns its handle and path."""
        with disk_errors(self.path):
            self.make_folder(self.spools)
            handle, path = tempfile.mkstemp(dir=self.spools)
            return handle, Path(path)

    def spool(self, reader: HashingReader, blob: Callable[[str], Path]) -> Spooled:
        """Copy a source in. If it is small and its blob exists (at `blob(sha256)`), the blob is linked instead."""
        first = list(islice(reader, BUFFERED_CHUNKS))
        existing = (
            self.hardlink(blob(reader.sha256))
            if len(first) < BUFFERED_CHUNKS and self.has(blob(reader.sha256))
            else None
        )
        path = existing or self.write_out(chain(first, reader))
        return Spooled(path, reader.sha256, reader.size)

    def write_out(self, chunks: Iterable[bytes | memoryview]) -> Path:
        """Write chunks to a new spool file and return its path."""
        handle, path = self.new_spool()
        try:
            try:
                for chunk in chunks:
                    self.write(handle, chunk)
            finally:
                with disk_errors(self.path):
                    os.close(handle)
        except BaseException:
            with contextlib.suppress(OSError):  # leftovers are cleared later
                path.unlink(missing_ok=True)
            raise
        return path

    def hardlink(self, blob: Path) -> Path | None:
        """Link a blob into the spool, so that it survives deletion. None if it is gone or can't be linked."""
        path = self.spools / f"link-{secrets.token_hex(8)}"
        try:
            os.link(blob, path)
        except OSError:
            return None
        return path

    def write(self, handle: int, chunk: bytes | memoryview) -> None:
        """Write the complete chunk."""
        remaining = memoryview(chunk)
        with disk_errors(self.path):
            while remaining:
                remaining = remaining[os.write(handle, remaining) :]
                progress()

    def publish(self, source: Path, target: Path) -> None:
        """Sync the bytes, then link the name: a name that exists has all of its bytes."""
        source.chmod(0o400)  # tools may get this path, and must not change what was probed
        current = stamp(source)
        if self.durable:
            sync(source)
        try:
            link(source, target)
        except FileExistsError:
            source.replace(target)
        self.sync(target, current)
        self.verified.add(target, current)

    def sync(self, target: Path, current: Stamp) -> None:
        """Sync a name to disk."""
        if self.durable:
            sync(target.parent)
        self.synced.add(target, current)

    def has(self, blob: Path) -> bool:
        """Whether a complete blob is on disk, judging by its stat."""
        with contextlib.suppress(OSError):
            return self.synced.get(blob) == stamp(blob)
        return False

    def invalidate(self, blob: Path) -> None:
        """Forget what was verified about a file."""
        self.verified.drop(blob)
        self.synced.drop(blob)

    def clear(self, before: float) -> int:
        """Delete leftover spools not touched since `before`. Returns their number."""
        count = 0
        for entry in entries(self.spools):
            with disk_errors(self.path), contextlib.suppress(FileNotFoundError):
                if entry.stat().st_ctime < before:  # not mtime: a hard link has its blob's mtime
                    Path(entry.path).unlink()
                    count += 1
        return count
