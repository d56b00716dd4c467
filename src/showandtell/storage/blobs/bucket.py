"""A bucket on S3, Google Cloud Storage or Azure, through obstore: objects by key, with translated errors.

Error messages of obstore and the store are never passed on, since they may contain credentials.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import MemoryStore, from_url

from showandtell.errors import BadInput, StorageFailed
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.object_store import StoredObject

if TYPE_CHECKING:
    from obstore import Bytes

#: Size of an upload part, and how many parts are uploaded concurrently.
PART_SIZE = 5 * 1024 * 1024
MAX_CONCURRENCY = 2
#: Bytes a second that even a slow connection uploads.
UPLOAD_RATE = 256 * 1024
#: Bytes to download at a time at least.
DOWNLOAD_SIZE = 256 * 1024
#: Retries are limited to seconds because callers wait for the response.
RETRIES = {"max_retries": 4, "retry_timeout": timedelta(seconds=5)}
#: A connection that stalls ends in seconds (`read_timeout` includes the upload of a part); one that flows takes hours.
TIMEOUTS = {"connect_timeout": "3s", "read_timeout": "30s", "timeout": "6h"}
#: The options of obstore's client that it takes from the environment only if none are passed to it.
CLIENT_OPTIONS = (
    *TIMEOUTS,
    "allow_http",
    "allow_invalid_certificates",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "root_certificate",
    "user_agent",
)
#: The start of a store's variables by scheme; Azure's for others.
PREFIXES = {"s3": "AWS_", "s3a": "AWS_", "gs": "GOOGLE_"}
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


class Bucket:
    """An object store. Methods raise `StorageFailed` if it can't be used; `name` identifies it in errors."""

    def __init__(self, store: Any, name: str) -> None:
        self.name = name
        self._store = store

    @property
    def durable(self) -> bool:
        """Whether objects outlive the process."""
        return not isinstance(self._store, MemoryStore)

    def find(self, key: str) -> StoredObject | None:
        """The object at a key, or None."""
        with self._translated_errors(), contextlib.suppress(FileNotFoundError):
            return entry_of(obstore.head(self._store, key))
        return None

    def put(self, key: str, path: Path) -> None:
        """Upload a file, in parts if it is large. Returns once the store has confirmed it."""
        with self._translated_errors():
            try:
                with Upload(path) as file:
                    obstore.put(self._store, key, file, chunk_size=PART_SIZE, max_concurrency=MAX_CONCURRENCY)
            except FileNotFoundError as error:
                raise self._failed(error, "the bucket does not exist: create it, or correct the name") from None

    def stream(self, key: str) -> io.BufferedReader:
        """Stream an object. Raises `FileNotFoundError` if it doesn't exist."""
        with self._translated_errors():
            chunks = obstore.get(self._store, key).stream(min_chunk_size=DOWNLOAD_SIZE)
        return io.BufferedReader(Download(self, iter(chunks)), DOWNLOAD_SIZE)

    def read(self, chunks: Iterator[Bytes | bytes]) -> memoryview:
        """Read the next chunk of a stream of this bucket; it is empty at the end."""
        with self._translated_errors():
            chunk = memoryview(next(chunks, b""))
        progress()
        return chunk

    def delete(self, key: str) -> None:
        """Delete an object if it exists."""
        with self._translated_errors(), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, key)

    def list(self, prefix: str) -> Iterator[StoredObject]:
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


class Upload(io.FileIO):
    """A file that is uploaded: each part that is read is progress."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes."""
        data = super().read(size)
        progress(len(data) / UPLOAD_RATE)
        return data


class Download(io.RawIOBase):
    """A forward-only binary file over the chunks of an object."""

    def __init__(self, bucket: Bucket, chunks: Iterator[Bytes | bytes]) -> None:
        self._bucket, self._chunks = bucket, chunks
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes; 0 at the end."""
        if not self._chunk:
            self._chunk = self._bucket.read(self._chunks)
        count = min(len(buffer), len(self._chunk))
        buffer[:count], self._chunk = self._chunk[:count], self._chunk[count:]
        return count


def entry_of(meta: obstore.ObjectMeta) -> StoredObject:
    """The entry for obstore's metadata."""
    return StoredObject(meta["path"], meta["size"], meta["last_modified"].timestamp(), meta["e_tag"])


def open_bucket(url: str) -> Bucket:
    """Open the bucket at a URL with credentials from the environment. Raises `BadInput` for an invalid URL."""
    parts = urlsplit(url)
    if parts.scheme == "memory":
        return Bucket(MemoryStore(), "memory:")
    name = f"{parts.scheme}://{parts.netloc}{parts.path}"
    if parts.password or parts.query:
        raise BadInput(f"{parts.scheme}://{parts.hostname}: keep credentials out of URLs, in the environment")
    options = client_options(PREFIXES.get(parts.scheme, "AZURE_"), os.environ)
    try:
        return Bucket(from_url(url, client_options=cast("Any", options), retry_config=cast("Any", RETRIES)), name)
    except (BaseError, ValueError) as error:
        reason = str(error).partition("\n")[0].partition("error: ")[2] or type(error).__name__
        raise BadInput(f"{name} can't be opened ({reason}): use a form like s3://bucket/folder") from None


def client_options(prefix: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The options of obstore's client: our timeouts, unless the environment has others (AWS_READ_TIMEOUT ...)."""
    variables = ((name, environ.get(prefix + name.upper())) for name in CLIENT_OPTIONS)
    return {**TIMEOUTS, **{name: value for name, value in variables if value is not None}}
