"""What every store of blobs does, and which store an address means: a folder, or S3, GCS and Azure by their URLs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, Self

from msgspec import Struct

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import BadFile, BadInput, FileChanged

#: How many bytes are read, hashed and written at once.
PIECE = 768 * 1024
#: What is wrong with a blob that has other bytes than its name says.
WRONG = "no longer matches its hash"
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
OWNER = re.compile(r"[0-9a-f]{32}", re.ASCII)


class Spooled(Struct, frozen=True):
    """Bytes on their way in: where they lie until they are kept, their sha256 in hex and their size."""

    path: Path
    sha256: str
    size: int


class Damaged(FileChanged):
    """A blob that can't be used; `problem` says why, in words that follow a name."""

    def __init__(self, of: Facts, problem: str) -> None:
        super().__init__(f"the stored {of.media_type} {of.sha256[:12]} {problem}: add the file again")
        self.problem = problem


class TooLarge(BadFile):
    """A file of more than `most` bytes, which is not read any further."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(name, f"is larger than {most} bytes", "send a smaller file, or raise the limit of one file")
        self.most = most


class StoredBlob(Struct, frozen=True):
    """A blob that lies there: its sha256, the bytes that it takes, and when it was written in epoch seconds."""

    sha256: str
    size: int
    mtime: float


class UploadWriter(Protocol):
    """One file on its way in. All of it blocks; threads may take turns at it, but not share it.

    Whoever began it calls `end`, and gives what that gives to somebody who drops it, or `drop`.
    """

    size: int

    def write(self, piece: bytes | memoryview) -> None:
        """Take a piece. `TooLarge` for the one that goes beyond the limit, of which nothing is written."""
        ...

    def end(self) -> Spooled:
        """All is there."""
        ...

    def drop(self) -> None:
        """Forget it."""
        ...


class BlobStore(Protocol):
    """Bytes under their sha256, once for each owner. All of it blocks and is called from threads.

    Whoever reads gets the bytes of the hash: they are hashed at the first reading in this process, and again when what
    lies there was touched. Else, and where a blob is gone or not `of.size` bytes, `FileChanged` is raised;
    `StorageFailed` where the store itself can't be used, `StorageFull` where it has no room.
    """

    def of(self, owner: str) -> Self:
        """The blobs of one owner alone; the owner's name is hashed and never reaches the store."""
        return self.at(owner_key(owner))

    def at(self, key: str) -> Self:
        """The same by the key that `owners` gives."""
        ...

    def owners(self) -> Iterator[str]:
        """The keys of the owners who have blobs here."""
        ...

    def spool(self, open_source: Callable[[], BinaryIO], name: str, most: int) -> Spooled:
        """Copy a source in, in pieces, hashing it; nothing can read it yet. `BadFile` beyond `most` bytes."""
        ...

    def receive(self, name: str, most: int) -> UploadWriter:
        """Begin a spool for a file that arrives in pieces; `BadFile` for the one that goes beyond `most` bytes."""
        ...

    def keep(self, spooled: Spooled) -> None:
        """Give spooled bytes their name, durably. A good blob of that name stays, a bad one is replaced."""
        ...

    def drop(self, spooled: Spooled) -> None:
        """Forget what was spooled; a kept blob stays."""
        ...

    def store(self, open_source: Callable[[], BinaryIO], name: str, most: int) -> tuple[str, int]:
        """Spool, keep and drop; gives sha256 and size."""
        spooled = self.spool(open_source, name, most)
        try:
            self.keep(spooled)
        finally:
            self.drop(spooled)
        return spooled.sha256, spooled.size

    def clear_spools(self, before: float) -> int:
        """Remove what crashed programs left half copied, untouched since `before` in epoch seconds; gives how many."""
        ...

    @property
    def durable(self) -> bool:
        """Whether what is kept outlives the program."""
        ...

    def compress(self, of: Facts) -> None:
        """Replace a blob by its zstd form where that is smaller by a tenth; its hash stays that of the original."""
        ...

    def open(self, of: Facts) -> BinaryIO:
        """The original bytes as a binary file."""
        ...

    def read(self, of: Facts) -> bytes:
        """The original bytes at once."""
        ...

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """The original bytes in pieces of `size`, each valid until the next is asked for."""
        ...

    def local(self, of: Facts) -> AbstractContextManager[Path]:
        """A path with the original bytes. It is there until the context ends, whatever is deleted meanwhile."""
        ...

    def check(self, of: Facts, *, anew: bool = False) -> str | None:
        """What is wrong with a blob in words ("is missing"), or None; hashed once, then trusted until it is touched.

        `anew` trusts nothing: bytes that were swapped without a trace in size and time are found by it alone.
        """
        ...

    def has(self, of: Facts) -> bool:
        """Whether a blob of this name lies there, as far as can be told without reading it."""
        ...

    def is_same(self, other: Blobs) -> bool:
        """Whether these are the same owner's blobs in the same store."""
        ...

    def delete(self, sha256: str) -> None:
        """Remove a blob, if it is there. Nobody may be keeping the same bytes meanwhile."""
        ...

    def listed(self) -> Iterator[StoredBlob]:
        """What lies there."""
        ...


def owner_key(owner: str) -> str:
    """What stands for an owner in paths and keys: 32 hex digits of a hash."""
    return hashlib.sha256(f"owner:{owner}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def check_sha256(text: str) -> str:
    """The same text; `BadInput` where it is no sha256, so that no record can name another file."""
    if not SHA256.fullmatch(text):
        raise BadInput(f"{text[:80]!r} is no sha256: 64 small hex digits are one")
    return text


def check_key(key: str) -> str:
    """The same key; `BadInput` where it is none."""
    if not OWNER.fullmatch(key):
        raise BadInput(f"{key[:80]!r} is no owner's key: take one that owners() gives")
    return key
