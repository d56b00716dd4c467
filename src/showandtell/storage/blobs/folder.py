"""Blobs in a folder, each under its sha256, which bytes get when they are whole; readers find either form of a blob."""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.base import (
    OWNER,
    PIECE,
    SHA256,
    WRONG,
    BlobStore,
    Damaged,
    Spooled,
    StoredBlob,
    check_key,
    check_sha256,
)
from showandtell.storage.blobs.disk import OURS, entries, stamp, storage_error, storing, sync
from showandtell.storage.blobs.spool import HashingReader, SpoolDirectory
from showandtell.storage.blobs.upload_writer import SpoolWriter
from showandtell.storage.blobs.zstd import ENDING, pack, unpack, zstd

__all__ = ["PIECE", "Folder"]

#: A compressed form is kept where it is at most this share of the original.
WORTH = 0.9


class Folder(BlobStore):
    """A folder of blobs. Without a path it is a temporary one, removed when the folder is collected or Python ends.

    What `keep` returned from survives a power cut, unless `durable` is off, as it is in a temporary folder. `ground` is
    the folder's own, and of an owner's part that of the whole.
    """

    def __init__(self, path: Path | None = None, *, durable: bool = True, ground: SpoolDirectory | None = None) -> None:
        if path is None:
            path = Path(tempfile.mkdtemp(prefix="showandtell-"))
            ground = SpoolDirectory(path, durable=False)
            weakref.finalize(ground, shutil.rmtree, path, ignore_errors=True)
        self.path = path
        self._ground = ground or SpoolDirectory(path, durable=durable)

    @property
    def durable(self) -> bool:
        """Whether what is kept outlives the program and a power cut."""
        return self._ground.durable

    def at(self, key: str) -> Folder:
        """The blobs of one owner alone, below this folder, by the key that `owners` gives."""
        return Folder(self._ground.path / check_key(key), ground=self._ground)

    def owners(self) -> Iterator[str]:
        """The keys of the owners who have blobs below this folder."""
        return (entry.name for entry in entries(self._ground.path) if OWNER.fullmatch(entry.name))

    def blob(self, sha256: str) -> Path:
        """Where the blob of this hash lies, as long as it isn't compressed."""
        return self.path.joinpath(check_sha256(sha256)[:2], sha256)

    def spool(self, open_source: Callable[[], BinaryIO], name: str, most: int) -> Spooled:
        """Copy a source in, in pieces, hashing it; nothing can read it yet.

        Beyond `most` bytes at most one piece is read, and `BadFile` is raised. What the source raises goes through;
        the disk's own errors are `StorageFailed`, or `StorageFull`.
        """
        with open_source() as source:
            return self._ground.spool(HashingReader(source, name, most), self.blob)

    def receive(self, name: str, most: int) -> SpoolWriter:
        """Begin a spool for a file that arrives in pieces."""
        return SpoolWriter(self._ground, name, most)

    def drop(self, spooled: Spooled) -> None:
        """Forget what was spooled; a kept blob stays."""
        with storing(self.path):
            spooled.path.unlink(missing_ok=True)

    def clear_spools(self, before: float) -> int:
        """Remove what crashed programs left half copied, untouched since `before` in epoch seconds; gives how many."""
        return self._ground.clear(before)

    def keep(self, spooled: Spooled) -> None:
        """Give spooled bytes their name, durably. A good blob of that name stays, a bad one is replaced."""
        blob = self.blob(spooled.sha256)
        with storing(self.path):
            if self._is_kept(blob, spooled):
                return
            self._ground.make(blob.parent)
            # A bad compressed form stays: the good one that another thread makes just now can't be told from it.
            self._ground.name(spooled.path, blob)

    def _is_kept(self, blob: Path, spooled: Spooled) -> bool:
        """Whether the bytes are there in either form; hashed once, and put on the disk once, whoever wrote them."""
        if any(map(self._ground.has, forms(blob))):
            return True
        if self.check(Facts(spooled.sha256, "file", spooled.size)) is not None:
            return False
        for form in forms(blob):
            sound = self._ground.sound.get(form)
            with contextlib.suppress(FileNotFoundError):  # somebody compresses it just now: then it is kept anew
                if sound is not None and sound == stamp(form):
                    if self.durable:
                        sync(form)
                    self._ground.settle(form, sound)
                    return True
        return False

    def compress(self, of: Facts) -> None:
        """Replace a blob by its zstd form where that is smaller by a tenth; its hash stays that of the original.

        Nothing is done where zstd is not installed. `FileChanged` where the bytes are no longer those of the hash.
        """
        blob = self.blob(of.sha256)
        if not blob.exists():
            return
        with self.packing(of) as smaller, storing(self.path):
            if smaller is not None:
                self._ground.name(smaller, packed(blob))
                blob.unlink(missing_ok=True)

    @contextlib.contextmanager
    def packing(self, of: Facts) -> Generator[Path | None]:
        """The zstd form of a blob in a file of its own, until the context ends; None where it isn't worth it."""
        if zstd() is None:
            yield None
            return
        smaller = self._ground.write_out(pack(self.chunks(of, PIECE), of))
        try:
            yield smaller if smaller.stat().st_size <= of.size * WORTH else None
        finally:
            with contextlib.suppress(OSError):  # what stays is cleared away later
                smaller.unlink(missing_ok=True)

    def open(self, of: Facts) -> BinaryIO:
        """The original bytes as a binary file. `FileChanged` where they are gone or others."""
        return self._open(of)

    def _open(self, of: Facts, *, anew: bool = False) -> io.BufferedReader:
        """The one way to a blob's bytes, and so to all that is made of them."""
        for form in forms(self.blob(of.sha256)):
            with self._reading(of):
                try:
                    file = form.open("rb")
                except FileNotFoundError:
                    continue
            return self._judge(form, file, of, anew=anew)
        raise Damaged(of, "is missing")

    def _judge(self, form: Path, file: io.BufferedReader, of: Facts, *, anew: bool = False) -> io.BufferedReader:
        """An open blob at its beginning, once it is known to be whole; what is hashed is what is read afterwards."""
        as_it_is, is_packed = stamp(file.fileno()), form.suffix == ENDING
        if not is_packed and as_it_is[1] != of.size:
            file.close()
            raise Damaged(of, f"has {as_it_is[1]} of {of.size} bytes")
        source = unpack(file, of) if is_packed else file
        try:
            if anew or self._ground.sound.get(form) != as_it_is:
                self._hash(source, of)
                self._ground.sound.add(form, as_it_is)
        except BaseException:
            self._ground.distrust(form)
            source.close()
            raise
        return source

    def _hash(self, source: io.BufferedReader, of: Facts) -> None:
        with self._reading(of):
            digest = hashlib.file_digest(source, "sha256")
            source.seek(0)
        if digest.hexdigest() != of.sha256:
            raise Damaged(of, WRONG)

    @contextlib.contextmanager
    def _reading(self, of: Facts) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise self._unreadable(error, of) from error

    def _unreadable(self, error: OSError, of: Facts) -> Damaged | StorageFailed:
        if error.errno in OURS:
            return storage_error(error, self.path)
        return Damaged(of, f"can't be read ({error.strerror or type(error).__name__})")

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """The bytes in pieces of `size`, in one reused buffer: a piece is valid until the next is asked for."""
        buffer = memoryview(bytearray(min(size, of.size)))
        left = of.size
        with self._open(of) as source:
            while left:
                piece = buffer[:left]
                with self._reading(of):
                    count = source.readinto(piece)
                if count != len(piece):
                    raise Damaged(of, CHANGES)
                left -= count
                yield piece
            with self._reading(of):
                if source.read(1):
                    raise Damaged(of, CHANGES)

    def read(self, of: Facts) -> bytes:
        """The bytes at once."""
        with self._open(of) as source, self._reading(of):
            data = source.read(of.size + 1)
        if len(data) != of.size:
            raise Damaged(of, CHANGES)
        return data

    @contextlib.contextmanager
    def local(self, of: Facts) -> Generator[Path]:
        """A path with the original bytes. It is there until the context ends, whatever is deleted meanwhile."""
        lent = self._lend(of)
        try:
            yield lent
        finally:
            lent.unlink(missing_ok=True)

    def _lend(self, of: Facts) -> Path:
        blob = self.blob(of.sha256)
        with storing(self.path):
            self._ground.make(self._ground.spools)
        lent = self._ground.lend(blob)
        if lent is None:  # compressed, or on a file system without links
            return self._ground.write_out(self.chunks(of, PIECE))
        try:
            with self._reading(of):
                file = lent.open("rb")
            self._judge(blob, file, of).close()
        except BaseException:
            lent.unlink()
            raise
        return lent

    def check(self, of: Facts, *, anew: bool = False) -> str | None:
        """What is wrong with a blob in words ("is missing"), or None; hashed once, then trusted until it is touched.

        Whether it was touched is told by inode, size and time of change: what is swapped under the same three is found
        with `anew` alone, which hashes in any case.
        """
        try:
            self._open(of, anew=anew).close()
        except Damaged as error:
            return error.problem
        return None

    def has(self, of: Facts) -> bool:
        """Whether a blob of this name lies there, in either form."""
        return any(form.exists() for form in forms(self.blob(of.sha256)))

    def is_same(self, other: Blobs) -> bool:
        """Whether these are the same owner's blobs in the same folder."""
        return isinstance(other, Folder) and other.path == self.path

    def delete(self, sha256: str) -> None:
        """Remove a blob, if it is there. Nobody may be keeping the same bytes meanwhile."""
        blob = self.blob(sha256)
        with storing(self.path):
            blob.unlink(missing_ok=True)
            packed(blob).unlink(missing_ok=True)
            if self.durable and blob.parent.exists():
                sync(blob.parent)

    def listed(self) -> Iterator[StoredBlob]:
        """What lies there, in the order of the hashes; a blob that has both forms is told twice."""
        for shard in entries(self.path):
            for entry in entries(Path(shard.path)) if len(shard.name) == SHARD else ():
                sha256 = entry.name.removesuffix(ENDING)
                if SHA256.fullmatch(sha256):
                    with contextlib.suppress(FileNotFoundError):
                        found = entry.stat()
                        yield StoredBlob(sha256, found.st_size, found.st_mtime)


#: The length of the names of the folders between ours and the blobs.
SHARD = 2
CHANGES = "changes while it is read"


def packed(blob: Path) -> Path:
    """Where the compressed form of a blob lies."""
    return blob.with_name(blob.name + ENDING)


def forms(blob: Path) -> Iterator[Path]:
    """Where a blob may lie, the form that is read if there are both first."""
    yield blob
    yield packed(blob)
