"""Blobs in a bucket, uploaded before they count, and read through a folder of this machine that is checked by hash.

Keys are `<owner's key>/<first two digits>/<sha256>`, with .zst behind the compressed form.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import BadFile, FileChanged
from showandtell.storage.blobs.base import (
    OWNER,
    SHA256,
    WRONG,
    BlobStore,
    Damaged,
    Spooled,
    StoredBlob,
    UploadWriter,
    check_key,
    check_sha256,
)
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.bucket import Bucket, BucketEntry, open_bucket
from showandtell.storage.blobs.cache import Cache
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.zstd import ENDING, pays, unpack

#: So many objects are remembered as hashed; of more, the first are read again when they are met again.
MOST_SOUND = 20_000
GONE = "is missing or damaged in the store"


class Remote(BlobStore):
    """A bucket of blobs, or one owner's `part` of it, which shares the cache and what is known of objects."""

    def __init__(
        self, bucket: Bucket, cache: Cache | None = None, part: str = "", sound: LruDict[str, BucketEntry] | None = None
    ) -> None:
        self.bucket = bucket
        self._part, self._cache = part, cache or Cache()
        self._sound = sound or LruDict[str, BucketEntry](MOST_SOUND)

    @classmethod
    def from_url(cls, url: str, cache: Cache | None = None) -> Remote:
        """The store of a URL (s3:, gs:, az: ...), with the credentials of the environment; `BadInput` if it is none."""
        return cls(open_bucket(url), cache)

    @property
    def durable(self) -> bool:
        """Whether what is kept outlives the program."""
        return self.bucket.durable

    def at(self, key: str) -> Remote:
        """The blobs of one owner alone, by the key that `owners` gives."""
        return Remote(self.bucket, self._cache, check_key(key) + "/", self._sound)

    def owners(self) -> Iterator[str]:
        """The keys of the owners who have blobs here."""
        return (one for one in self.bucket.folders() if OWNER.fullmatch(one))

    def spool(self, open_source: Callable[[], BinaryIO], name: str, most: int) -> Spooled:
        """Copy a source in, in pieces, hashing it; nothing leaves this machine yet. `BadFile` beyond `most` bytes."""
        return self._cache.folder.spool(open_source, name, most)

    def receive(self, name: str, most: int) -> UploadWriter:
        """Begin a spool for a file that arrives in pieces; nothing leaves this machine yet."""
        return self._cache.folder.receive(name, most)

    def drop(self, spooled: Spooled) -> None:
        """Forget what was spooled; a kept blob stays."""
        self._cache.folder.drop(spooled)

    def clear_spools(self, before: float) -> int:
        """Remove what crashed programs left on this machine, untouched since `before`; gives how many."""
        return self._cache.folder.clear_spools(before)

    def keep(self, spooled: Spooled) -> None:
        """Upload spooled bytes, unless they are there; when it returns, the store has answered that it has them."""
        with self._cache.holding(spooled.sha256) as folder:
            if not self._is_there(spooled):
                self.bucket.put(self._key(spooled.sha256), spooled.path)
            folder.keep(spooled)

    def compress(self, of: Facts) -> None:
        """Replace a blob by its zstd form where that is smaller by a tenth; its hash stays that of the original."""
        key = self._key(of.sha256)
        if self.bucket.find(key) is None:
            return
        with self._here(of) as folder, folder.packing(of) as packed:
            if packed is not None:
                self.bucket.put(key + ENDING, packed)
                self.bucket.delete(key)

    def open(self, of: Facts) -> BinaryIO:
        """The original bytes as a binary file, fetched first. `FileChanged` where they are gone or others."""
        with self._here(of) as folder:
            return folder.open(of)

    def read(self, of: Facts) -> bytes:
        """The original bytes at once."""
        with self._here(of) as folder:
            return folder.read(of)

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """The original bytes in pieces of `size`, each valid until the next is asked for."""
        with self._here(of) as folder:
            yield from folder.chunks(of, size)

    @contextlib.contextmanager
    def local(self, of: Facts) -> Generator[Path]:
        """A path with the original bytes. It is there until the context ends, whatever is deleted meanwhile."""
        with self._here(of) as folder, folder.local(of) as path:
            yield path

    def check(self, of: Facts, *, anew: bool = False) -> str | None:
        """What is wrong with the bucket's own copy ("is missing"), or None; hashed once, then trusted by its tag.

        `anew` hashes it in any case.
        """
        problems: list[str] = []
        for found in filter(None, map(self.bucket.find, self._forms(of))):
            problem = self._judge(of, found, anew=anew)
            if problem is None:
                return None
            problems.append(problem)
        return problems[0] if problems else "is missing"

    def _judge(self, of: Facts, found: BucketEntry, *, anew: bool = False) -> str | None:
        if not found.key.endswith(ENDING) and found.size != of.size:
            return f"has {found.size} of {of.size} bytes"
        return None if not anew and self._sound.get(found.key) == found else self._hash(of, found)

    def _hash(self, of: Facts, found: BucketEntry) -> str | None:
        self._sound.drop(found.key)
        try:
            with self._stream(of, found.key) as source:
                digest = hashlib.file_digest(source, "sha256")
        except (FileChanged, FileNotFoundError):
            return WRONG
        if digest.hexdigest() != of.sha256:
            return WRONG
        self._sound.add(found.key, found)
        return None

    def has(self, of: Facts) -> bool:
        """Whether an object of this name lies there, in either form."""
        return any(self.bucket.find(key) is not None for key in self._forms(of))

    def is_same(self, other: Blobs) -> bool:
        """Whether these are the same owner's blobs in the same bucket."""
        return isinstance(other, Remote) and (other.bucket, other._part) == (self.bucket, self._part)  # noqa: SLF001

    def delete(self, sha256: str) -> None:
        """Remove a blob, if it is there. Nobody may be keeping the same bytes meanwhile."""
        key = self._key(sha256)
        self.bucket.delete(key)
        self.bucket.delete(key + ENDING)
        self._cache.folder.delete(sha256)

    def listed(self) -> Iterator[StoredBlob]:
        """What lies there; a blob that has both forms is told twice."""
        ours = re.compile(rf"{self._part}[0-9a-f]{{2}}/({SHA256.pattern})({re.escape(ENDING)})?", re.ASCII)
        for found in self.bucket.list(self._part):
            if match := ours.fullmatch(found.key):
                yield StoredBlob(match[1], found.size, found.mtime)

    def _key(self, sha256: str) -> str:
        return f"{self._part}{check_sha256(sha256)[:2]}/{sha256}"

    def _forms(self, of: Facts) -> tuple[str, str]:
        """Both keys, the likelier one first."""
        key = self._key(of.sha256)
        return (key + ENDING, key) if pays(of.media_type) else (key, key + ENDING)

    def _is_there(self, spooled: Spooled) -> bool:
        key = self._key(spooled.sha256)
        if (plain := self.bucket.find(key)) is not None:
            return plain.size == spooled.size
        packed = self.bucket.find(key + ENDING)
        return packed is not None and self._judge(Facts(spooled.sha256, "file", spooled.size), packed) is None

    @contextlib.contextmanager
    def _here(self, of: Facts) -> Generator[Folder]:
        """The cache's folder, with this blob in it."""
        with self._cache.holding(of.sha256) as folder:
            if folder.check(of) is not None:
                self._fetch(of, folder)
            yield folder

    def _fetch(self, of: Facts, folder: Folder) -> None:
        for key in self._forms(of):
            with contextlib.suppress(FileNotFoundError, FileChanged):
                return self._take(of, key, folder)
        raise Damaged(of, GONE)

    def _take(self, of: Facts, key: str, folder: Folder) -> None:
        """Bring an object here, if it is what it should be."""
        try:
            spooled = folder.spool(lambda: self._stream(of, key), of.sha256, of.size)
        except BadFile as error:  # it is longer than it was
            raise Damaged(of, WRONG) from error
        try:
            if (spooled.sha256, spooled.size) != (of.sha256, of.size):
                raise Damaged(of, WRONG)
            folder.keep(spooled)
        finally:
            folder.drop(spooled)

    def _stream(self, of: Facts, key: str) -> io.BufferedReader:
        """An object's original bytes, as they arrive."""
        source = self.bucket.stream(key)
        return unpack(source, of) if key.endswith(ENDING) else source
