"""Blobs in a bucket. Commits upload first; reads go through a local cache that is verified by hash.

Keys are `<owner's key>/<first two digits>/<sha256>`, with .zst appended to the compressed form.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import BadFile, FileChanged
from showandtell.storage.blobs.base import (
    HASH_MISMATCH,
    MISSING,
    OWNER,
    SHA256,
    BlobStore,
    Damaged,
    Spooled,
    StoredBlob,
    UploadWriter,
    check_key,
    check_sha256,
    hash_file,
)
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.cache import Cache
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.object_store import ObjectStore, StoredObject
from showandtell.storage.blobs.sequential import SequentialReader
from showandtell.storage.blobs.zstd import SUFFIX, decompress, is_compressible

#: How many objects are remembered as verified. Forgotten ones are hashed again.
MAX_VERIFIED = 20_000
UNAVAILABLE = "is missing or damaged in the store"


class Remote(BlobStore):
    """A bucket of blobs, or one owner's part of it under `prefix`. All parts share the cache and verified objects."""

    def __init__(
        self,
        bucket: ObjectStore,
        cache: Cache | None = None,
        prefix: str = "",
        verified: LruDict[str, StoredObject] | None = None,
    ) -> None:
        self.bucket = bucket
        self._prefix, self._cache = prefix, cache or Cache()
        self._verified = verified or LruDict[str, StoredObject](MAX_VERIFIED)

    @property
    def durable(self) -> bool:
        """Whether committed blobs outlive the process."""
        return self.bucket.durable

    def for_key(self, key: str) -> Remote:
        """One owner's blobs, by a key from `owners`."""
        return Remote(self.bucket, self._cache, check_key(key) + "/", self._verified)

    def owners(self) -> Iterator[str]:
        """The keys of all owners with blobs in this bucket."""
        return (name for name in self.bucket.folders() if OWNER.fullmatch(name))

    def spool(self, open_source: Callable[[], BinaryIO], name: str, max_bytes: int) -> Spooled:
        """Copy and hash a source locally; nothing is uploaded yet. Raises `BadFile` above `max_bytes`."""
        return self._cache.folder.spool(open_source, name, max_bytes)

    def receive(self, name: str, max_bytes: int) -> UploadWriter:
        """Start spooling a file that arrives in chunks; nothing is uploaded yet."""
        return self._cache.folder.receive(name, max_bytes)

    def discard(self, spooled: Spooled) -> None:
        """Delete a spooled file. A committed blob stays."""
        self._cache.folder.discard(spooled)

    def clear_spools(self, before: float) -> int:
        """Delete local spools not touched since `before` (epoch seconds). Returns their number."""
        return self._cache.folder.clear_spools(before)

    def count_spools(self) -> int:
        """The number of local spools."""
        return self._cache.folder.count_spools()

    def commit(self, spooled: Spooled) -> None:
        """Upload spooled bytes unless the bucket has them. Returns once the bucket has confirmed the upload."""
        with self._cache.in_use(spooled.sha256) as folder:
            if not self._is_stored(spooled):
                self.bucket.put(self._key(spooled.sha256), spooled.path)
            folder.commit(spooled)

    def compress(self, facts: Facts) -> None:
        """Replace a blob with a zstd copy if that saves at least a tenth. The name stays the original's hash."""
        key = self._key(facts.sha256)
        if self.bucket.find(key) is None:
            return
        with self._cached(facts) as folder, folder.compressed(facts) as compressed:
            if compressed is not None:
                self.bucket.put(key + SUFFIX, compressed)
                self.bucket.delete(key)

    def open(self, facts: Facts) -> BinaryIO:
        """Download the blob and open its original bytes. Raises `FileChanged` if they are missing or damaged."""
        with self._cached(facts) as folder:
            return folder.open(facts)

    def read(self, facts: Facts) -> bytes:
        """The original bytes."""
        with self._cached(facts) as folder:
            return folder.read(facts)

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """The original bytes in chunks of `size`; each is valid only until the next one is requested."""
        with self._cached(facts) as folder:
            yield from folder.chunks(facts, size)

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other."""
        return SequentialReader(files, self.open, self._cache.folder.read_errors)

    @contextlib.contextmanager
    def local(self, facts: Facts) -> Generator[Path]:
        """A path to the original bytes. It stays valid inside the context, even if the blob is deleted."""
        with self._cached(facts) as folder, folder.local(facts) as path:
            yield path

    def check(self, facts: Facts, *, rehash: bool = False) -> str | None:
        """What is wrong with the bucket's copy ("is missing"), or None. The result is cached by object version.

        `rehash` downloads and hashes it in any case.
        """
        problems: list[str] = []
        for entry in filter(None, map(self.bucket.find, self._keys(facts))):
            problem = self._check_entry(facts, entry, rehash=rehash)
            if problem is None:
                return None
            problems.append(problem)
        return problems[0] if problems else MISSING

    def _check_entry(self, facts: Facts, entry: StoredObject, *, rehash: bool = False) -> str | None:
        if not entry.key.endswith(SUFFIX) and entry.size != facts.size:
            return f"has {entry.size} of {facts.size} bytes"
        return None if not rehash and self._verified.get(entry.key) == entry else self._check_hash(facts, entry)

    def _check_hash(self, facts: Facts, entry: StoredObject) -> str | None:
        self._verified.drop(entry.key)
        try:
            with self._stream(facts, entry.key) as source:
                sha256 = hash_file(source)
        except (FileChanged, FileNotFoundError):
            return HASH_MISMATCH
        if sha256 != facts.sha256:
            return HASH_MISMATCH
        self._verified.add(entry.key, entry)
        return None

    def has(self, facts: Facts) -> bool:
        """Whether the object exists, compressed or not."""
        return any(self.bucket.find(key) is not None for key in self._keys(facts))

    def is_same(self, other: Blobs) -> bool:
        """Whether `other` is the same owner's part of the same bucket."""
        return isinstance(other, Remote) and (other.bucket, other._prefix) == (self.bucket, self._prefix)  # noqa: SLF001

    def delete(self, sha256: str) -> None:
        """Delete a blob if it exists. The caller must make sure that nothing commits the same bytes concurrently."""
        key = self._key(sha256)
        self.bucket.delete(key)
        self.bucket.delete(key + SUFFIX)
        self._cache.folder.delete(sha256)

    def list_blobs(self) -> Iterator[StoredBlob]:
        """All blobs. A blob with a compressed and an uncompressed object is listed twice."""
        pattern = re.compile(rf"{self._prefix}[0-9a-f]{{2}}/({SHA256.pattern})({re.escape(SUFFIX)})?", re.ASCII)
        for entry in self.bucket.list(self._prefix):
            if match := pattern.fullmatch(entry.key):
                yield StoredBlob(match[1], entry.size, entry.mtime)

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}{check_sha256(sha256)[:2]}/{sha256}"

    def _keys(self, facts: Facts) -> tuple[str, str]:
        """Both possible keys, the more likely one first."""
        key = self._key(facts.sha256)
        return (key + SUFFIX, key) if is_compressible(facts.media_type) else (key, key + SUFFIX)

    def _is_stored(self, spooled: Spooled) -> bool:
        key = self._key(spooled.sha256)
        if (uncompressed := self.bucket.find(key)) is not None:
            return uncompressed.size == spooled.size
        compressed = self.bucket.find(key + SUFFIX)
        return (
            compressed is not None
            and self._check_entry(Facts(spooled.sha256, "file", spooled.size), compressed) is None
        )

    @contextlib.contextmanager
    def _cached(self, facts: Facts) -> Generator[Folder]:
        """The cache folder, with this blob downloaded into it."""
        with self._cache.in_use(facts.sha256) as folder:
            if folder.check(facts) is not None:
                self._fetch(facts, folder)
            yield folder

    def _fetch(self, facts: Facts, folder: Folder) -> None:
        for key in self._keys(facts):
            with contextlib.suppress(FileNotFoundError, FileChanged):
                return self._download(facts, key, folder)
        raise Damaged(facts, UNAVAILABLE)

    def _download(self, facts: Facts, key: str, folder: Folder) -> None:
        """Copy an object into the cache if it has the expected bytes."""
        try:
            spooled = folder.spool(lambda: self._stream(facts, key), facts.sha256, facts.size)
        except BadFile as error:  # the object is longer than expected
            raise Damaged(facts, HASH_MISMATCH) from error
        try:
            if (spooled.sha256, spooled.size) != (facts.sha256, facts.size):
                raise Damaged(facts, HASH_MISMATCH)
            folder.commit(spooled)
        finally:
            folder.discard(spooled)

    def _stream(self, facts: Facts, key: str) -> BinaryIO:
        """Stream an object's original bytes."""
        source = self.bucket.stream(key)
        return decompress(source, facts) if key.endswith(SUFFIX) else source
