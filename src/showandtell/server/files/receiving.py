"""Receive uploads: write the body to the store's spool as it arrives, and trust none of its claims."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import Request

from showandtell.core.messages.file import File, Reader
from showandtell.core.planning.labels import format_size
from showandtell.errors import BadInput, ShowAndTellError
from showandtell.server.answers import public_message, retry_header, status_of
from showandtell.server.files.parts import End, Head, read_parts
from showandtell.server.middleware.refusals import Refusal
from showandtell.storage.blobs.base import TooLarge
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.conversations.uploads import Upload, Uploads
from showandtell.storage.files.file_cache import clean_name
from showandtell.storage.files.sources import SpooledSource
from showandtell.storage.uncancelled import shielded

#: Bytes to collect before a thread writes them.
CHUNK: Final = 256 * 1024
#: Seconds to wait for more of a body.
BODY_TIMEOUT: Final = 60.0
#: Minimum bytes per second of waiting for a body, checked when that took this many seconds.
MIN_RATE, RATE_SECONDS = 1000, 60.0
#: Maximum characters of a claimed media type; the rest is ignored.
MAX_MEDIA_TYPE: Final = 255
#: Maximum number of files in a form.
MAX_FILES: Final = 32


class FileTooLarge(BadInput):
    """A file over the size limit, or a form with too many files."""

    status: Final = 413


class TooSlow(BadInput):
    """A body stopped arriving, or arrives very slowly."""

    status: Final = 408


class Body:
    """A request body, which can be iterated once. Raises `TooSlow` if it stops arriving, or at less than `MIN_RATE`.

    `is_complete` is true once the body was read to its end.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self.is_complete = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks, waited, received = self._request.stream(), 0.0, 0
        try:
            while True:
                started = time.monotonic()
                async with asyncio.timeout(BODY_TIMEOUT):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                waited, received = waited + time.monotonic() - started, received + len(chunk)
                if waited > RATE_SECONDS:
                    if received < MIN_RATE * waited:
                        raise TooSlow(f"less than {MIN_RATE} bytes a second arrived: send the body again")
                    waited, received = 0.0, 0
                yield chunk
        except TimeoutError:
            raise TooSlow(f"no data arrived for {BODY_TIMEOUT:g} s: send the body again") from None
        self.is_complete = True


class Receiver:
    """Buffers one file into chunks large enough for a thread to write. `write` may raise `TooLarge`."""

    def __init__(self, write: Callable[[memoryview], object]) -> None:
        self._write_now, self._buffer = write, bytearray()

    async def write(self, chunk: bytes) -> None:
        """Add a chunk. Raises `FileTooLarge`."""
        if len(chunk) >= CHUNK and not self._buffer:
            await self._write(chunk)
            return
        self._buffer += chunk
        if len(self._buffer) >= CHUNK:
            await self.flush()

    async def flush(self) -> None:
        """Write the buffer. Raises `FileTooLarge`."""
        data, self._buffer = self._buffer, bytearray()
        await self._write(data)

    async def _write(self, data: bytes | bytearray) -> None:
        try:
            await shielded(run_in_thread(self._write_now, memoryview(data)))
        except TooLarge as error:
            name, limit = error.name, format_size(error.max_bytes)
            raise FileTooLarge(f"{name} is larger than {limit}, the limit for a file") from error


async def receive_file(uploads: Uploads, chunks: AsyncIterable[bytes], name: str, media_type: str | None) -> Upload:
    """Store one file as an upload.

    Raises `FileTooLarge` as soon as the limit is exceeded, and `BadFile` for unusable files; then nothing is stored.
    """
    writer = await run_in_thread(uploads.receive, clean_name(name) or "the file")
    try:
        receiver = Receiver(writer.write)
        async for chunk in chunks:
            await receiver.write(chunk)
        await receiver.flush()
        spooled = await shielded(run_in_thread(writer.finish))
        claimed_type = media_type[:MAX_MEDIA_TYPE] if media_type else None
        return await uploads.add(File(Reader(SpooledSource(spooled), spooled.size), claimed_type, name))
    finally:
        await shielded(run_in_thread(writer.discard))


async def receive_form(uploads: Uploads, chunks: AsyncIterable[bytes], content_type: str | None) -> list[Upload]:
    """Store the files of a form's fields `file`, all of them or none. Ignores other fields."""
    parts = read_parts(chunks, content_type)
    async with all_or_none(uploads) as received:
        async for event in parts:
            if isinstance(event, Head) and event.field == "file":
                check_count(len(received) + 1)
                received.append(await receive_file(uploads, data_of(parts), event.filename or "", event.media_type))
    if not received:
        raise BadInput("the form has no file: send each file in a field named `file`")
    return received


@asynccontextmanager
async def all_or_none(uploads: Uploads) -> AsyncGenerator[list[Upload]]:
    """Collect uploads in a list. They are deleted again if one of them fails."""
    received: list[Upload] = []
    try:
        yield received
    except BaseException:
        for upload in received:
            await shielded(uploads.delete(upload.id))
        raise


def check_count(files: int) -> None:
    """Raise `FileTooLarge` if a form has too many files."""
    if files > MAX_FILES:
        raise FileTooLarge(f"more than {MAX_FILES} files in one form: send several forms")


async def data_of(parts: AsyncIterator[Head | bytes | End]) -> AsyncIterator[bytes]:
    """Yield the data of the current part."""
    async for event in parts:
        if isinstance(event, End):
            return
        if isinstance(event, bytes):
            yield event


def check_length(request: Request, max_bytes: int) -> None:
    """Raise `FileTooLarge` if the declared length exceeds `max_bytes`. The received bytes are counted anyway."""
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdecimal() and len(length) < 19 and int(length) > max_bytes:
        raise FileTooLarge(
            f"the body has {format_size(int(length))}, over the limit of {format_size(max_bytes)}: send less at once"
        )


def refuse_body(error: ShowAndTellError) -> Refusal:
    """Return the response for an error raised before the body was read in full."""
    return Refusal(status_of(error), type(error).__name__, public_message(error), retry_header(error))
