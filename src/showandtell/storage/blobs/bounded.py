"""A blob store whose operations end in time, even if the disk or bucket below hangs. All access goes through it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs, SequentialReader
from showandtell.storage.blobs.base import CHUNK_SIZE, BlobStore, Spooled, StoredBlob, UploadWriter
from showandtell.storage.blobs.deadlines import Deadlines, Operation

T = TypeVar("T")
#: Sources up to this size are read before anything is written.
SMALL = 2 * CHUNK_SIZE
#: Items of a listing that one operation collects.
LISTED = 500
#: Bytes that an open file reads at a time at least.
BUFFER_SIZE = 64 * 1024
TRIAL = b"does it respond?"
TRIAL_FACTS = Facts("0" * 64, "text/plain", len(TRIAL))


class Bounded(BlobStore):
    """A store, or one owner's part of it, with deadlines for its operations. `inner` is without them.

    Raises `StorageFailed` after some seconds without progress, and at once while the store is known to hang.
    """

    def __init__(self, inner: BlobStore, name: str = "", deadlines: Deadlines | None = None) -> None:
        self.inner = inner
        self.deadlines = deadlines or Deadlines(f"the store {name}", partial(try_store, inner))
        self._run = self.deadlines.run

    @property
    def durable(self) -> bool:
        """Whether committed blobs outlive the process."""
        return self.inner.durable

    def for_key(self, key: str) -> Bounded:
        """One owner's blobs, by a key from `owners`."""
        return Bounded(self.inner.for_key(key), deadlines=self.deadlines)

    def owners(self) -> Iterator[str]:
        """The keys of all owners with blobs in this store."""
        return self._listed(self.inner.owners)

    def list_blobs(self) -> Iterator[StoredBlob]:
        """All stored blobs."""
        return self._listed(self.inner.list_blobs)

    def _listed(self, listing: Callable[[], Iterator[T]]) -> Iterator[T]:
        items = self._run(listing)
        while batch := self._run(lambda: list(islice(items, LISTED))):
            yield from batch

    def spool(self, open_source: Callable[[], BinaryIO], name: str, max_bytes: int) -> Spooled:
        """Copy and hash a source. Only the store has a deadline: the source is read in the caller's thread."""
        with open_source() as source:
            start = bytearray()
            while len(start) <= min(SMALL, max_bytes) and (chunk := source.read(CHUNK_SIZE)):
                start += chunk
            if len(start) <= SMALL or len(start) > max_bytes:
                known = partial(io.BytesIO, start)
                return self._run(self.inner.spool, known, name, max_bytes, drop=self.inner.discard)
            writer = self.receive(name, max_bytes)
            try:
                writer.write(memoryview(start))
                while chunk := source.read(CHUNK_SIZE):
                    writer.write(chunk)
                return writer.finish()
            except BaseException:
                writer.discard()
                raise

    def receive(self, name: str, max_bytes: int) -> UploadWriter:
        """Start spooling a file that arrives in chunks."""
        writer = self._run(self.inner.receive, name, max_bytes, drop=lambda late: late.discard())
        return BoundedWriter(writer, self.inner.discard, self.deadlines)

    def commit(self, spooled: Spooled) -> None:
        """Publish spooled bytes durably."""
        self._run(self.inner.commit, spooled)

    def discard(self, spooled: Spooled) -> None:
        """Delete a spooled file, later if the store hangs. A committed blob stays."""
        self.deadlines.release(partial(self.inner.discard, spooled))

    def clear_spools(self, before: float) -> int:
        """Delete leftover spools not touched since `before` (epoch seconds). Returns their number."""
        return self._run(self.inner.clear_spools, before)

    def count_spools(self) -> int:
        """The number of spools: of uploads that are being received, or were killed."""
        return self._run(self.inner.count_spools)

    def compress(self, facts: Facts) -> None:
        """Replace a blob with a zstd copy if that saves at least a tenth."""
        self._run(self.inner.compress, facts)

    def open(self, facts: Facts) -> BinaryIO:
        """Open the original bytes."""
        source = self._run(self.inner.open, facts, drop=lambda late: late.close())
        return io.BufferedReader(BoundedFile(source, self.deadlines), BUFFER_SIZE)

    def read(self, facts: Facts) -> bytes:
        """The original bytes."""
        return self._run(self.inner.read, facts)

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:
        """The original bytes in chunks of `size`; each is valid only until the next one is requested."""
        handle = Handle(self.deadlines)
        chunks = cast("Generator[memoryview]", self.inner.chunks(facts, size))

        def read() -> memoryview | None:
            return next(chunks, None)

        try:
            while (chunk := handle.run(read)) is not None:
                yield chunk
        finally:
            handle.release(chunks.close)

    def reader(self, files: Iterable[Facts]) -> SequentialReader:
        """Read files one after the other."""
        return BoundedReader(self.inner.reader(files), self.deadlines)

    @contextlib.contextmanager
    def local(self, facts: Facts) -> Generator[Path]:
        """A path to the original bytes. It stays valid inside the context, even if the blob is deleted."""
        context = self.inner.local(facts)
        leave = partial(context.__exit__, None, None, None)
        path = self._run(context.__enter__, drop=lambda _: leave())
        try:
            yield path
        finally:
            self.deadlines.release(leave)

    def check(self, facts: Facts, *, rehash: bool = False) -> str | None:
        """What is wrong with a blob ("is missing"), or None."""
        return self._run(partial(self.inner.check, facts, rehash=rehash))

    def check_all(self, files: Iterable[Facts]) -> dict[Facts, str]:
        """What is wrong with those of several blobs that have a problem."""
        return self._run(self.inner.check_all, files)

    def has(self, facts: Facts) -> bool:
        """Whether a blob with this hash exists. Doesn't read it."""
        return self._run(self.inner.has, facts)

    def is_same(self, other: Blobs) -> bool:
        """Whether `other` is the same owner's part of the same store."""
        return self.inner.is_same(other.inner if isinstance(other, Bounded) else other)

    def delete(self, sha256: str) -> None:
        """Delete a blob if it exists. The caller must make sure that nothing commits the same bytes concurrently."""
        self._run(self.inner.delete, sha256)


class Handle:
    """Something open in a store. It is released once its last operation has ended, even one that hangs until then."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._last: Operation[Any] | None = None

    def run(self, function: Callable[..., T], *values: Any, drop: Callable[[T], object] | None = None) -> T:
        """Like `Deadlines.run`."""
        if self._deadlines.is_inside():
            return function(*values)
        operation = self._last = self._deadlines.start(function, *values)
        return operation.result(drop)

    def release(self, function: Callable[[], object]) -> None:
        """Like `Deadlines.release`, after the last operation."""
        self._deadlines.release(function, self._last)


class BoundedFile(io.RawIOBase):
    """An open blob with deadlines."""

    def __init__(self, source: BinaryIO, deadlines: Deadlines) -> None:
        self._source, self._handle = source, Handle(deadlines)

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Whether the position can change."""
        return self._source.seekable()

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes; 0 at the end."""
        # Not into the buffer itself: a read that hangs may return when it is gone.
        data = self._handle.run(self._source.read, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Change the position."""
        return self._handle.run(self._source.seek, offset, whence)

    def tell(self) -> int:
        """The position."""
        return self._source.tell()

    def close(self) -> None:
        """Close the file, once a read that hangs has ended."""
        if not self.closed:
            self._handle.release(self._source.close)
        super().close()


class BoundedReader:
    """A `SequentialReader` with deadlines. A read that hangs may still fill the buffer later."""

    def __init__(self, reader: SequentialReader, deadlines: Deadlines) -> None:
        self._reader, self._handle = reader, Handle(deadlines)
        self.read_cached = reader.read_cached

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer."""
        return self._handle.run(self._reader.readinto, buffer)

    def close(self) -> None:
        """Close what is open, once a read that hangs has ended."""
        self._handle.release(self._reader.close)


class BoundedWriter:
    """An `UploadWriter` with deadlines. `drop` discards what `finish` returns too late."""

    def __init__(self, writer: UploadWriter, drop: Callable[[Spooled], object], deadlines: Deadlines) -> None:
        self._writer, self._drop, self._handle = writer, drop, Handle(deadlines)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._writer.size

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises `TooLarge`, and writes nothing, if the chunk exceeds the limit."""
        self._handle.run(self._writer.write, chunk)

    def finish(self) -> Spooled:
        """Close the file and return it as spooled."""
        return self._handle.run(self._writer.finish, drop=self._drop)

    def discard(self) -> None:
        """Discard the upload, later if the store hangs."""
        self._handle.release(self._writer.discard)


def try_store(blobs: BlobStore) -> None:
    """Look up a missing blob, then write a file and discard it. Blocks."""
    blobs = blobs.for_owner("")
    blobs.has(TRIAL_FACTS)
    blobs.discard(blobs.spool(lambda: io.BytesIO(TRIAL), "trial", len(TRIAL)))
