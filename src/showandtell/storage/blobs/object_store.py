"""Object stores: what a bucket of blobs needs. S3, GCS and Azure are built in; programs and packages add others."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

from msgspec import Struct

from showandtell.checking.checked import Checked, checked
from showandtell.errors import BadInput, ShowAndTellError, StorageFailed, StorageFull
from showandtell.plugins import MISTAKES, Registry
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.disk import FULL

#: The schemes of URLs that are built in.
REMOTE_SCHEMES: Final = frozenset({"s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "memory"})
BUILT_IN: Final = REMOTE_SCHEMES | {"file"}
SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{1,31}")


class StoredObject(Checked, Struct, frozen=True):
    """An object: its key, size in bytes, mtime in epoch seconds, and a tag of this version, such as its ETag."""

    key: str
    size: int
    mtime: float
    tag: str | None


class ObjectStore(Protocol):
    """Objects by key, such as files of a bucket. Methods block, are called from any thread, and may take their time.

    An object is complete or not there: `put` replaces it at once. What else a method raises counts as a store that
    can't be used.
    """

    @property
    def name(self) -> str:
        """What errors call the store. Never a key or a password."""
        ...

    @property
    def durable(self) -> bool:
        """Whether objects outlive the process."""
        ...

    def find(self, key: str) -> StoredObject | None:
        """The object at a key, or None."""
        ...

    def put(self, key: str, path: Path) -> None:
        """Store a file. Returns when it is durable."""
        ...

    def stream(self, key: str) -> BinaryIO:
        """Open an object. Raises `FileNotFoundError` if there is none."""
        ...

    def delete(self, key: str) -> None:
        """Delete an object if there is one."""
        ...

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """All objects whose key starts with a prefix."""
        ...

    def folders(self) -> Sequence[str]:
        """The first segments of all keys, which end at a slash; without it."""
        ...


#: Opens a store by its URL.
OpenObjectStore = Callable[[str], ObjectStore]


class Scheme(Struct, frozen=True):
    """The scheme of URLs, and what opens their stores."""

    name: str
    open: OpenObjectStore


def read_scheme(name: str, found: object) -> Scheme:
    """The scheme that an entry point is named by, and the function that it names."""
    if not callable(found):
        raise BadInput(f"it names {type(found).__name__}, not a function that opens a store")
    if not SCHEME.fullmatch(name):
        raise BadInput(f"{name!r} is not the scheme of a URL: use lower-case letters and digits")
    return Scheme(name, cast("OpenObjectStore", found))


REGISTRY: Final = Registry(
    "showandtell.stores",
    "store for the scheme",
    read_scheme,
    name_of=lambda scheme: scheme.name,
    is_built_in=BUILT_IN.__contains__,
)


@checked
def register_store(scheme: str, open_store: OpenObjectStore) -> None:
    """Let `open_store` open the stores at URLs with a scheme: "acme" for acme://box/folder.

    Registering the same function again changes nothing. Raises `BadInput` for a scheme that another store has.
    """
    REGISTRY.register(read_scheme(scheme, open_store))


def open_package(scheme: Scheme, url: str) -> PackageStore:
    """Open the store of a package. Raises `StorageFailed` without the package's text, which may show secrets."""
    try:
        return PackageStore(scheme.open(url))
    except ShowAndTellError:
        raise
    except MISTAKES as error:
        problem = f"the store at a URL with {scheme.name}: can't be opened ({type(error).__name__})"
        raise StorageFailed(f"{problem}: check the URL, and whether it may be used") from error


class PackageStream(io.RawIOBase):
    """An object of a package's store while it is read, with the store's errors translated."""

    def __init__(self, source: BinaryIO, translated_errors: Callable[[], AbstractContextManager[None]]) -> None:
        self._source, self._translated_errors = source, translated_errors

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes; 0 at the end."""
        with self._translated_errors():
            data = self._source.read(len(buffer))
        progress()
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the source, too."""
        self._source.close()
        super().close()


class PackageStore:
    """A store of a package. What it raises becomes `StorageFailed`, without the text, which may show secrets."""

    def __init__(self, inner: ObjectStore) -> None:
        self._inner = inner
        self.name, self.durable = inner.name, inner.durable

    def find(self, key: str) -> StoredObject | None:
        """The object at a key, or None."""
        with self._translated_errors():
            return self._inner.find(key)

    def put(self, key: str, path: Path) -> None:
        """Store a file."""
        with self._translated_errors():
            self._inner.put(key, path)

    def stream(self, key: str) -> BinaryIO:
        """Open an object. Raises `FileNotFoundError` if there is none."""
        with self._translated_errors():
            return cast("BinaryIO", io.BufferedReader(PackageStream(self._inner.stream(key), self._translated_errors)))

    def delete(self, key: str) -> None:
        """Delete an object if there is one."""
        with self._translated_errors():
            self._inner.delete(key)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """All objects whose key starts with a prefix."""
        with self._translated_errors():
            yield from self._inner.list(prefix)

    def folders(self) -> Sequence[str]:
        """The first segments of all keys."""
        with self._translated_errors():
            return self._inner.folders()

    @contextmanager
    def _translated_errors(self) -> Generator[None]:
        try:
            yield
        except (StorageFailed, FileNotFoundError):
            raise
        except MISTAKES as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise StorageFull(f"the store {self.name} is full: free some space") from error
            raise StorageFailed(f"the store {self.name} can't be used ({type(error).__name__})") from error
