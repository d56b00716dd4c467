"""One bucket of S3, Google Cloud Storage or Azure, by obstore: objects by key, and its errors in our words.

Nothing of what the store or the library says is passed on but a few known words: there may be credentials in it.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Generator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import obstore
from msgspec import Struct
from obstore.exceptions import BaseError
from obstore.store import MemoryStore, from_url

from showandtell.errors import BadInput, StorageFailed
from showandtell.storage.blobs.base import PIECE

#: How much of an upload makes one request, and how many of these are under way at once; a download asks for as much.
PART = 5 * 1024 * 1024
AT_ONCE = 2
#: A store that is down is asked again for some seconds: somebody waits for the answer.
RETRIES = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
#: What may be repeated of an error, and what it means.
REASONS = (
    ("builder error", "its address is http: write https, or set AWS_ALLOW_HTTP=true"),
    ("169\\.254\\.169\\.254|metadata\\.google", "there are no credentials for it: set them in the environment"),
    ("dns error", "its host name is unknown: check the address"),
    ("tcp connect error|ConnectionRefused", "nobody answers there: check that it runs, and the address"),
    ("TimedOut|timed out", "it does not answer in time: try again"),
    ("NoSuchBucket", "there is no such bucket: make it, or correct the name"),
    ("^PermissionDenied|^Unauthenticated|status code: 40[13]", "it refuses our credentials: check them"),
    ("status code: 50[0-9]|SlowDown", "it is broken or busy: try again"),
)


class BucketEntry(Struct, frozen=True):
    """An object that lies there: its key, size, time of writing in epoch seconds, and the tag of this version."""

    key: str
    size: int
    mtime: float
    tag: str | None


class Bucket:
    """An object store. Every method raises `StorageFailed` where it can't be used; `name` is what that calls it."""

    def __init__(self, store: Any, name: str) -> None:
        self.name = name
        self._store = store

    @property
    def durable(self) -> bool:
        """Whether it outlives the program."""
        return not isinstance(self._store, MemoryStore)

    def find(self, key: str) -> BucketEntry | None:
        """What lies under a key."""
        with self._reaching(), contextlib.suppress(FileNotFoundError):
            return entry_of(obstore.head(self._store, key))
        return None

    def put(self, key: str, path: Path) -> None:
        """Upload a file, in parts where it is large; the store has answered that it has it when this returns."""
        with self._reaching():
            try:
                obstore.put(self._store, key, path, chunk_size=PART, max_concurrency=AT_ONCE)
            except FileNotFoundError as error:
                raise self._failed(error, "there is no such bucket: make it, or correct the name") from None

    def stream(self, key: str) -> io.BufferedReader:
        """Read an object as it arrives. `FileNotFoundError` where there is none."""
        with self._reaching():
            reader = obstore.open_reader(self._store, key, buffer_size=PART)
        return io.BufferedReader(Download(self, reader), PIECE)

    def read(self, reader: obstore.ReadableFile, most: int) -> bytes:
        """The next bytes of a reader of this bucket."""
        with self._reaching():
            return bytes(reader.read(most))

    def delete(self, key: str) -> None:
        """Remove an object, if it is there."""
        with self._reaching(), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, key)

    def list(self, prefix: str) -> Iterator[BucketEntry]:
        """Every object whose key begins with these folders."""
        with self._reaching():
            # The types of arrow tables are unknown; we never ask for one.
            batches = obstore.list(self._store, prefix or None)  # pyright: ignore[reportUnknownMemberType]
            for batch in batches:
                yield from map(entry_of, batch)

    def folders(self) -> Sequence[str]:
        """The first folders of all keys."""
        with self._reaching():
            found = obstore.list_with_delimiter(self._store)  # pyright: ignore[reportUnknownMemberType]
            return [one.rstrip("/") for one in found["common_prefixes"]]

    @contextlib.contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except BaseError as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception, reason: str | None = None) -> StorageFailed:
        text = f"{type(error).__name__} {error}"
        known = (meaning for words, meaning in REASONS if re.search(words, text))
        reason = reason or next(known, f"it can't be used ({type(error).__name__}): check address and credentials")
        return StorageFailed(f"the store {self.name}: {reason}")


class Download(io.RawIOBase):
    """An object of a bucket as a binary file, forward only."""

    def __init__(self, bucket: Bucket, reader: obstore.ReadableFile) -> None:
        self._bucket, self._reader = bucket, reader

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read on; 0 at the end."""
        data = self._bucket.read(self._reader, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def entry_of(found: obstore.ObjectMeta) -> BucketEntry:
    """What obstore tells of an object."""
    return BucketEntry(found["path"], found["size"], found["last_modified"].timestamp(), found["e_tag"])


def open_bucket(url: str) -> Bucket:
    """The bucket of a URL, with the credentials of the environment. `BadInput` where the URL says too little."""
    parts = urlsplit(url)
    if parts.scheme == "memory":
        return Bucket(MemoryStore(), "memory:")
    name = f"{parts.scheme}://{parts.netloc}{parts.path}"
    if parts.password or parts.query:
        raise BadInput(f"{parts.scheme}://{parts.hostname}: keep credentials out of URLs, in the environment")
    try:
        return Bucket(from_url(url, retry_config=cast("Any", RETRIES)), name)
    except (BaseError, ValueError) as error:
        reason = str(error).partition("\n")[0].partition("error: ")[2] or type(error).__name__
        raise BadInput(f"{name} can't be opened ({reason}): write it like s3://bucket/folder") from None
