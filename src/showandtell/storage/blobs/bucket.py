"""A bucket on S3, Google Cloud Storage or Azure, through obstore: objects by key, with translated errors.

Error messages of obstore and the store are never passed on, since they may contain credentials.
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
from showandtell.storage.blobs.base import CHUNK_SIZE

#: Size of an upload part and of a download buffer, and how many parts are uploaded concurrently.
PART_SIZE = 5 * 1024 * 1024
MAX_CONCURRENCY = 2
#: Retries are limited to seconds because callers wait for the response.
RETRIES = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
#: Patterns in obstore's errors, and the message to show instead.
REASONS = (
    ("builder error", "its address is http: use https, or set AWS_ALLOW_HTTP=true"),
    ("169\\.254\\.169\\.254|metadata\\.google", "no credentials found: set them in the environment"),
    ("dns error", "its host name is unknown: check the address"),
    ("tcp connect error|ConnectionRefused", "connection refused: check the address, and that the store is running"),
    ("TimedOut|timed out", "timed out: try again"),
    ("NoSuchBucket", "the bucket does not exist: create it, or correct the name"),
    ("^PermissionDenied|^Unauthenticated|status code: 40[13]", "the credentials were rejected: check them"),
    ("status code: 50[0-9]|SlowDown", "the store failed or is busy: try again"),
)


class BucketEntry(Struct, frozen=True):
    """An object: its key, size, mtime in epoch seconds, and the ETag of this version."""

    key: str
    size: int
    mtime: float
    tag: str | None


class Bucket:
    """An object store. Methods raise `StorageFailed` if it can't be used; `name` identifies it in errors."""

    def __init__(self, store: Any, name: str) -> None:
        self.name = name
        self._store = store

    @property
    def durable(self) -> bool:
        """Whether objects outlive the process."""
        return not isinstance(self._store, MemoryStore)

    def find(self, key: str) -> BucketEntry | None:
        """The object at a key, or None."""
        with self._translated_errors(), contextlib.suppress(FileNotFoundError):
            return entry_of(obstore.head(self._store, key))
        return None

    def put(self, key: str, path: Path) -> None:
        """Upload a file, in parts if it is large. Returns once the store has confirmed it."""
        with self._translated_errors():
            try:
                obstore.put(self._store, key, path, chunk_size=PART_SIZE, max_concurrency=MAX_CONCURRENCY)
            except FileNotFoundError as error:
                raise self._failed(error, "the bucket does not exist: create it, or correct the name") from None

    def stream(self, key: str) -> io.BufferedReader:
        """Stream an object. Raises `FileNotFoundError` if it doesn't exist."""
        with self._translated_errors():
            reader = obstore.open_reader(self._store, key, buffer_size=PART_SIZE)
        return io.BufferedReader(Download(self, reader), CHUNK_SIZE)

    def read(self, reader: obstore.ReadableFile, max_bytes: int) -> bytes:
        """Read from a reader of this bucket."""
        with self._translated_errors():
            return bytes(reader.read(max_bytes))

    def delete(self, key: str) -> None:
        """Delete an object if it exists."""
        with self._translated_errors(), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, key)

    def list(self, prefix: str) -> Iterator[BucketEntry]:
        """All objects whose key starts with a prefix."""
        with self._translated_errors():
            # The types of arrow tables are unknown; none is requested.
            batches = obstore.list(self._store, prefix or None)  # pyright: ignore[reportUnknownMemberType]
            for batch in batches:
                yield from map(entry_of, batch)

    def folders(self) -> Sequence[str]:
        """The first path segment of all keys."""
        with self._translated_errors():
            listing = obstore.list_with_delimiter(self._store)  # pyright: ignore[reportUnknownMemberType]
            return [folder.rstrip("/") for folder in listing["common_prefixes"]]

    @contextlib.contextmanager
    def _translated_errors(self) -> Generator[None]:
        try:
            yield
        except BaseError as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception, reason: str | None = None) -> StorageFailed:
        text = f"{type(error).__name__} {error}"
        reasons = (meaning for pattern, meaning in REASONS if re.search(pattern, text))
        reason = reason or next(reasons, f"it can't be used ({type(error).__name__}): check address and credentials")
        return StorageFailed(f"the store {self.name}: {reason}")


class Download(io.RawIOBase):
    """A forward-only binary file over an object."""

    def __init__(self, bucket: Bucket, reader: obstore.ReadableFile) -> None:
        self._bucket, self._reader = bucket, reader

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes; 0 at the end."""
        data = self._bucket.read(self._reader, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def entry_of(meta: obstore.ObjectMeta) -> BucketEntry:
    """The entry for obstore's metadata."""
    return BucketEntry(meta["path"], meta["size"], meta["last_modified"].timestamp(), meta["e_tag"])


def open_bucket(url: str) -> Bucket:
    """Open the bucket at a URL with credentials from the environment. Raises `BadInput` for an invalid URL."""
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
        raise BadInput(f"{name} can't be opened ({reason}): use a form like s3://bucket/folder") from None
