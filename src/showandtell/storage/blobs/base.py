"""The interface of a blob store and the values that all stores share."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, Self, cast

from msgspec import Struct

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs, SequentialReader
from showandtell.errors import BadFile, BadInput, FileChanged
from showandtell.storage.blobs.deadlines import progress

#: Bytes read, hashed and written at a time.
CHUNK_SIZE = 768 * 1024
#: Bytes that are hashed at a time when nothing else is done with them.
HASHED_SIZE = 256 * 1024
#: Problem of a blob whose bytes don't match its name.
HASH_MISMATCH = "no longer matches its hash"
#: Problem of a blob that isn't there.
MISSING = "is missing"
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
OWNER = re.compile(r"[0-9a-f]{32}", re.ASCII)


class Spooled(Struct, frozen=True):
    """Bytes that are copied in but not committed: their path, sha256 in hex and size."""

    path: Path
    sha256: str
    size: int


class Damaged(FileChanged):
    """A blob that can't be used. `problem` is the reason, phrased to follow a name."""

    def __init__(self, facts: Facts, problem: str) -> None:
        super().__init__(f"the stored {facts.media_type} {facts.sha256[:12]} {problem}: add the file again")
        self.problem = problem


class TooLarge(BadFile):
    """A file larger than `max_bytes`; reading stops there."""

    def __init__(self, name: str, max_bytes: int) -> None:
        super().__init__(
            name, f"is larger than {max_bytes} bytes", "send a smaller file, or raise the limit of one file"
        )
        self.max_bytes = max_bytes


class StoredBlob(Struct, frozen=True):
    """A stored blob: its sha256, its size on disk and its mtime in epoch seconds."""

    sha256: str
    size: int
    mtime: float


class UploadWriter(Protocol):
    """A file that is being received. Its methods block; threads may take turns but must not call it concurrently.

    The caller must call `finish` (and later discard the result) or `discard`.
    """

    @property
    def size(self) -> int:
        """Bytes written so far."""
        ...

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises `TooLarge`, and writes nothing, if the chunk exceeds the limit."""
        ...

    def finish(self) -> Spooled:
        """Close the file and return it as spooled."""
        ...

    def discard(self) -> None:
        """Discard the upload."""
        ...


class BlobStore(Protocol):
    """Stores bytes by sha256, separately for each owner. Methods block and are called from threads.

    Readers always get the bytes that match the hash: a blob is hashed when this process first reads it, and again when
    its file changed. Raises `FileChanged` if a blob is missing, damaged or not `facts.size` bytes long, `StorageFailed`
    if the store can't be used, and `StorageFull` if it is out of space.
    """

    def for_owner(self, owner: str) -> Self:
        """The blobs of one owner. The owner's name is hashed and never reaches the store."""
        return self.for_key(owner_key(owner))

    def for_key(self, key: str) -> Self:
        """Like `for_owner`, by a key from `owners`."""
        ...

    def owners(self) -> Iterator[str]:
        """The keys of all owners with blobs in this store."""
        ...

    def spool(self, open_source: Callable[[], BinaryIO], name: str, max_bytes: int) -> Spooled:
        """Copy and hash a source, without publishing it yet. Raises `BadFile` above `max_bytes`."""
        ...

    def receive(self, name: str, max_bytes: int) -> UploadWriter:
        """Start spooling a file that arrives in chunks. Writing more than `max_bytes` raises `BadFile`."""
        ...

    def commit(self, spooled: Spooled) -> None:
        """Publish spooled bytes durably. An intact blob with this hash stays; a damaged one is replaced."""
        ...

    def discard(self, spooled: Spooled) -> None:
        """Delete a spooled file. A committed blob stays."""
        ...

    def store(self, open_source: Callable[[], BinaryIO], name: str, max_bytes: int) -> tuple[str, int]:
        """Spool, commit and clean up. Returns sha256 and size."""
        spooled = self.spool(open_source, name, max_bytes)
        try:
            self.commit(spooled)
        finally:
            self.discard(spooled)
        return spooled.sha256, spooled.size

    def clear_spools(self, before: float) -> int:
        """Delete leftover spools not touched since `before` (epoch seconds). Returns their number."""
        ...

    def count_spools(self) -> int:
        """The number of spools: of uploads that are being received, or were killed."""
        ...

    @property
    def durable(self) -> bool:
        """Whether committed blobs outlive the process."""
        ...

    def compress(self, facts: Facts) -> None:
        """Replace a blob with a zstd copy if that saves at least a tenth. The name stays the original's hash."""
        ...

    def open(self, facts: Facts) -> BinaryIO:
        """Open the original bytes."""
        ...

    def read(self, facts: Facts) -> bytes:
        """The original bytes."""
        ...

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """The original bytes in chunks of `size`; each is valid only until the next one is requested."""
        ...

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other. Opens them when they are needed, a few at a time."""
        ...

    def local(self, facts: Facts) -> AbstractContextManager[Path]:
        """A path to the original bytes. It stays valid inside the context, even if the blob is deleted."""
        ...

    def check(self, facts: Facts, *, rehash: bool = False) -> str | None:
        """What is wrong with a blob ("is missing"), or None. The result is cached until the file changes.

        `rehash` ignores the cache: only then are bytes found that changed while size and mtime stayed the same.
        """
        ...

    def check_all(self, files: Iterable[Facts]) -> dict[Facts, str]:
        """What is wrong with those of several blobs that have a problem."""
        problems: dict[Facts, str] = {}
        for facts in files:
            if (problem := self.check(facts)) is not None:
                problems[facts] = problem
            progress()
        return problems

    def has(self, facts: Facts) -> bool:
        """Whether a blob with this hash exists. Doesn't read it."""
        ...

    def is_same(self, other: Blobs) -> bool:
        """Whether `other` is the same owner's part of the same store."""
        ...

    def delete(self, sha256: str) -> None:
        """Delete a blob if it exists. The caller must make sure that nothing commits the same bytes concurrently."""
        ...

    def list_blobs(self) -> Iterator[StoredBlob]:
        """All stored blobs."""
        ...


def has_any(store: BlobStore) -> bool:
    """Whether the store has a blob of any owner."""
    return any(True for owner in store.owners() for _ in store.for_key(owner).list_blobs())


def hash_file(source: BinaryIO) -> str:
    """The sha256 of the rest of a file, in hex."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(HASHED_SIZE))
    while count := cast("io.BufferedReader", source).readinto(buffer):
        digest.update(buffer[:count])
        progress()
    return digest.hexdigest()


def owner_key(owner: str) -> str:
    """The owner's key in paths and object names: 32 hex digits of a hash."""
    return hashlib.sha256(f"owner:{owner}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def check_sha256(text: str) -> str:
    """Return `text`. Raises `BadInput` unless it is a sha256, so that no record can name another file."""
    if not SHA256.fullmatch(text):
        raise BadInput(f"{text[:80]!r} is not a sha256: expected 64 lowercase hex digits")
    return text


def check_key(key: str) -> str:
    """Return `key`. Raises `BadInput` if it is not an owner's key."""
    if not OWNER.fullmatch(key):
        raise BadInput(f"{key[:80]!r} is not an owner's key: use one from owners()")
    return key
