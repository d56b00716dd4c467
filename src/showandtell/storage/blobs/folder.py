"""Blobs in a folder. A file gets its name, the sha256, only when complete; it may be stored compressed."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.base import (
    CHUNK_SIZE,
    HASH_MISMATCH,
    MISSING,
    OWNER,
    SHA256,
    BlobStore,
    Damaged,
    Spooled,
    StoredBlob,
    check_key,
    check_sha256,
    hash_file,
)
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.disk import PROCESS_LIMITS, disk_errors, entries, stamp, storage_error, sync
from showandtell.storage.blobs.sequential import CHANGED_WHILE_READ, SequentialReader
from showandtell.storage.blobs.spool import HashingReader, SpoolDirectory
from showandtell.storage.blobs.upload_writer import SpoolWriter
from showandtell.storage.blobs.zstd import SUFFIX, compress_chunks, decompress, zstd_module

__all__ = ["CHUNK_SIZE", "Folder"]

#: A compressed copy is kept only if it is at most this share of the original.
MAX_RATIO = 0.9


#: Held while a temporary folder is made.
MAKING = threading.Lock()


def make_temporary() -> SpoolDirectory:
    """Make a folder that is removed when nothing uses it any more. Raises `StorageFailed`."""
    parent = Path(tempfile.gettempdir())
    with disk_errors(parent):
        spools = SpoolDirectory(Path(tempfile.mkdtemp(prefix="showandtell-", dir=parent)), durable=False)
    weakref.finalize(spools, shutil.rmtree, spools.path, ignore_errors=True)
    return spools


class Folder(BlobStore):
    """A folder of blobs. Without a path it is temporary: removed when the object is collected or Python exits.

    Committed blobs survive a power cut unless `durable` is off, as in a temporary folder. `spools` is shared by the
    folder and all owners' parts of it.
    """

    def __init__(self, path: Path | None = None, *, durable: bool = True, spools: SpoolDirectory | None = None) -> None:
        self._path = path
        self._known = None if path is None else spools or SpoolDirectory(path, durable=durable)

    @property
    def path(self) -> Path:
        """The folder; a temporary one is made when it is first used. Raises `StorageFailed`."""
        return self._path or self._spools.path

    @property
    def _spools(self) -> SpoolDirectory:
        if self._known is None:
            with MAKING:  # several threads may store the first files
                self._known = self._known or make_temporary()
        return self._known

    @property
    def durable(self) -> bool:
        """Whether committed blobs survive the process and a power cut."""
        return self._spools.durable

    def for_key(self, key: str) -> Folder:
        """One owner's blobs in a subfolder, by a key from `owners`."""
        return Folder(self._spools.path / check_key(key), spools=self._spools)

    def owners(self) -> Iterator[str]:
        """The keys of all owners with blobs in this folder."""
        return (entry.name for entry in entries(self._spools.path) if OWNER.fullmatch(entry.name))

    def blob(self, sha256: str) -> Path:
        """The path of an uncompressed blob."""
        return self.path.joinpath(check_sha256(sha256)[:2], sha256)

    def spool(self, open_source: Callable[[], BinaryIO], name: str, max_bytes: int) -> Spooled:
        """Copy and hash a source, without publishing it yet.

        Raises `BadFile` above `max_bytes`, after reading at most one chunk too many. Errors of the source propagate;
        errors of the disk become `StorageFailed` or `StorageFull`.
        """
        with open_source() as source:
            return self._spools.spool(HashingReader(source, name, max_bytes), self.blob)

    def receive(self, name: str, max_bytes: int) -> SpoolWriter:
        """Start spooling a file that arrives in chunks."""
        return SpoolWriter(self._spools, name, max_bytes)

    def discard(self, spooled: Spooled) -> None:
        """Delete a spooled file. A committed blob stays."""
        with disk_errors(self.path):
            spooled.path.unlink(missing_ok=True)

    def clear_spools(self, before: float) -> int:
        """Delete leftover spools not touched since `before` (epoch seconds). Returns their number."""
        return self._spools.clear(before)

    def count_spools(self) -> int:
        """The number of spools: of uploads that are being received, or were killed."""
        return sum(1 for _ in entries(self._spools.spools))

    def commit(self, spooled: Spooled) -> None:
        """Publish spooled bytes durably. An intact blob with this hash stays; a damaged one is replaced."""
        blob = self.blob(spooled.sha256)
        with disk_errors(self.path):
            if self._is_stored(blob, spooled):
                return
            self._spools.make_folder(blob.parent)
            # A damaged compressed form stays: it looks like a good one that another thread is still writing.
            self._spools.publish(spooled.path, blob)

    def _is_stored(self, blob: Path, spooled: Spooled) -> bool:
        """Whether the blob exists, compressed or not. Each file is hashed and synced once, even if it existed."""
        if any(map(self._spools.has, stored_paths(blob))):
            return True
        facts = Facts(spooled.sha256, "file", spooled.size)
        if not self.has(facts) or self.check(facts) is not None:
            return False
        for path in stored_paths(blob):
            verified = self._spools.verified.get(path)
            with contextlib.suppress(FileNotFoundError):  # being compressed by another thread: then it is written again
                if verified is not None and verified == stamp(path):
                    if self.durable:
                        sync(path)
                    self._spools.sync(path, verified)
                    return True
        return False

    def compress(self, facts: Facts) -> None:
        """Replace a blob with a zstd copy if that saves at least a tenth. The name stays the original's hash.

        Does nothing if zstd is not installed. Raises `FileChanged` if the bytes no longer match the hash.
        """
        blob = self.blob(facts.sha256)
        if not blob.exists():
            return
        with self.compressed(facts) as compressed, disk_errors(self.path):
            if compressed is not None:
                self._spools.publish(compressed, compressed_path(blob))
                blob.unlink(missing_ok=True)

    @contextlib.contextmanager
    def compressed(self, facts: Facts) -> Generator[Path | None]:
        """A temporary zstd copy of a blob, or None if compression isn't worth it."""
        if zstd_module() is None:
            yield None
            return
        compressed = self._spools.write_out(compress_chunks(self.chunks(facts, CHUNK_SIZE), facts))
        try:
            yield compressed if compressed.stat().st_size <= facts.size * MAX_RATIO else None
        finally:
            with contextlib.suppress(OSError):  # leftovers are cleared later
                compressed.unlink(missing_ok=True)

    def open(self, facts: Facts) -> BinaryIO:
        """Open the original bytes. Raises `FileChanged` if they are missing or damaged."""
        return self._open(facts)

    def _open(self, facts: Facts, *, rehash: bool = False) -> io.BufferedReader:
        """Open a blob. All reads go through here, so all of them are verified."""
        for path in stored_paths(self.blob(facts.sha256)):
            with self.read_errors(facts):
                try:
                    file = path.open("rb")
                except FileNotFoundError:
                    continue
            return self._verified(path, file, facts, rehash=rehash)
        raise Damaged(facts, MISSING)

    def _verified(
        self, path: Path, file: io.BufferedReader, facts: Facts, *, rehash: bool = False
    ) -> io.BufferedReader:
        """The open blob, rewound, once its hash is known to match. The same handle is hashed and then read."""
        current, is_compressed = stamp(file.fileno()), path.suffix == SUFFIX
        if not is_compressed and current[1] != facts.size:
            file.close()
            raise Damaged(facts, f"has {current[1]} of {facts.size} bytes")
        source = decompress(file, facts) if is_compressed else file
        try:
            if rehash or self._spools.verified.get(path) != current:
                self._check_hash(source, facts)
                self._spools.verified.add(path, current)
        except BaseException:
            self._spools.invalidate(path)
            source.close()
            raise
        return source

    def _check_hash(self, source: io.BufferedReader, facts: Facts) -> None:
        with self.read_errors(facts):
            sha256 = hash_file(source)
            source.seek(0)
        if sha256 != facts.sha256:
            raise Damaged(facts, HASH_MISMATCH)

    @contextlib.contextmanager
    def read_errors(self, facts: Facts) -> Generator[None]:
        """Turn errors of the disk into `Damaged`, those of the process into `StorageFailed`."""
        try:
            yield
        except OSError as error:
            raise self._read_error(error, facts) from error

    def _read_error(self, error: OSError, facts: Facts) -> Damaged | StorageFailed:
        if error.errno in PROCESS_LIMITS:
            return storage_error(error, self.path)
        return Damaged(facts, f"can't be read ({error.strerror or type(error).__name__})")

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """The bytes in chunks of `size`, in one reused buffer: a chunk is valid until the next one is requested."""
        buffer = memoryview(bytearray(min(size, facts.size)))
        remaining = facts.size
        with self._open(facts) as source:
            while remaining:
                chunk = buffer[:remaining]
                with self.read_errors(facts):
                    count = source.readinto(chunk)
                if count != len(chunk):
                    raise Damaged(facts, CHANGED_WHILE_READ)
                remaining -= count
                progress()
                yield chunk
            with self.read_errors(facts):
                if source.read(1):
                    raise Damaged(facts, CHANGED_WHILE_READ)

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other."""
        return SequentialReader(files, self.open, self.read_errors)

    def read(self, facts: Facts) -> bytes:
        """The original bytes."""
        with self._open(facts) as source, self.read_errors(facts):
            data = source.read(facts.size + 1)
        if len(data) != facts.size:
            raise Damaged(facts, CHANGED_WHILE_READ)
        return data

    @contextlib.contextmanager
    def local(self, facts: Facts) -> Generator[Path]:
        """A path to the original bytes. It stays valid inside the context, even if the blob is deleted."""
        path = self._hardlink(facts)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _hardlink(self, facts: Facts) -> Path:
        blob = self.blob(facts.sha256)
        with disk_errors(self.path):
            self._spools.make_folder(self._spools.spools)
        path = self._spools.hardlink(blob)
        if path is None:  # compressed, or on a file system without links
            return self._spools.write_out(self.chunks(facts, CHUNK_SIZE))
        try:
            with self.read_errors(facts):
                file = path.open("rb")
            self._verified(blob, file, facts).close()
        except BaseException:
            path.unlink()
            raise
        return path

    def check(self, facts: Facts, *, rehash: bool = False) -> str | None:
        """What is wrong with a blob ("is missing"), or None. The result is cached until the file changes.

        Changes are detected by inode, size and mtime; `rehash` also finds bytes that changed without them.
        """
        try:
            self._open(facts, rehash=rehash).close()
        except Damaged as error:
            return error.problem
        return None

    def has(self, facts: Facts) -> bool:
        """Whether the blob exists, compressed or not."""
        return any(form.exists() for form in stored_paths(self.blob(facts.sha256)))

    def is_same(self, other: Blobs) -> bool:
        """Whether `other` is the same owner's part of the same folder."""
        return isinstance(other, Folder) and other.path == self.path

    def delete(self, sha256: str) -> None:
        """Delete a blob if it exists. The caller must make sure that nothing commits the same bytes concurrently."""
        blob = self.blob(sha256)
        with disk_errors(self.path):
            blob.unlink(missing_ok=True)
            compressed_path(blob).unlink(missing_ok=True)
            if self.durable and blob.parent.exists():
                sync(blob.parent)

    def list_blobs(self) -> Iterator[StoredBlob]:
        """All blobs by hash. A blob with a compressed and an uncompressed file is listed twice."""
        for shard in entries(self.path):
            for entry in entries(Path(shard.path)) if len(shard.name) == SHARD_LENGTH else ():
                sha256 = entry.name.removesuffix(SUFFIX)
                if SHA256.fullmatch(sha256):
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat()
                        yield StoredBlob(sha256, status.st_size, status.st_mtime)


#: Length of the names of the shard folders that hold the blobs.
SHARD_LENGTH = 2


def compressed_path(blob: Path) -> Path:
    """The path of the compressed form of a blob."""
    return blob.with_name(blob.name + SUFFIX)


def stored_paths(blob: Path) -> Iterator[Path]:
    """The possible paths of a blob, in the order in which they are tried."""
    yield blob
    yield compressed_path(blob)
