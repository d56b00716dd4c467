"""Files on their way in: a body is written to the store's spool as it comes, and never held, copied or believed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

from starlette.requests import Request

from showandtell.core.messages.file import File, Reader
from showandtell.core.planning.labels import size_of
from showandtell.errors import BadInput, ShowAndTellError
from showandtell.server.answers import status_of, told_of
from showandtell.server.files.moving import move
from showandtell.server.files.parts import End, Head, read_parts
from showandtell.server.middleware.refusals import Refusal
from showandtell.storage.blobs.base import TooLarge, UploadWriter
from showandtell.storage.conversations.uploads import Upload, Uploads
from showandtell.storage.files.file_cache import clean_name
from showandtell.storage.files.sources import SpooledSource
from showandtell.storage.uncancelled import shielded

#: So much is gathered before a thread writes it.
PIECE: Final = 256 * 1024
#: So many seconds may pass until more of a body comes.
PATIENCE: Final = 60.0
#: The most letters of what a file is said to be; what is longer is no media type.
MOST_LETTERS: Final = 255
#: The most files of one form.
MOST_FILES: Final = 32


class FileTooLarge(BadInput):
    """A file above the limit, or more files than one form may have."""

    status: Final = 413


class TooSlow(BadInput):
    """Nothing more came of a body."""

    status: Final = 408


class Body:
    """A request's body, read once; it knows whether all of it was. Iterating raises `TooSlow` where nothing comes."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.is_whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._request.stream()
        try:
            while True:
                async with asyncio.timeout(PATIENCE):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                yield chunk
        except TimeoutError:
            raise TooSlow(f"no more of the body came for {PATIENCE:g} s: send it again") from None
        self.is_whole = True


class Receiver:
    """One file, gathered in pieces that are worth a thread."""

    def __init__(self, incoming: UploadWriter) -> None:
        self._incoming, self._held = incoming, bytearray()

    async def take(self, chunk: bytes) -> None:
        """Take some more of it."""
        self._held += chunk
        if len(self._held) >= PIECE:
            await self.flush()

    async def flush(self) -> None:
        """Write what is gathered. Raises `FileTooLarge`."""
        held, self._held = self._held, bytearray()
        try:
            await shielded(move(self._incoming.write, memoryview(held)))
        except TooLarge as error:
            name, limit = error.name, size_of(error.most)
            raise FileTooLarge(f"{name} is larger than {limit}, the most that one file may have") from error


async def receive_file(uploads: Uploads, chunks: AsyncIterable[bytes], name: str, media_type: str | None) -> Upload:
    """Take one file in. Raises `FileTooLarge` as soon as it is, `BadFile` where it can't be taken; nothing stays."""
    incoming = await move(uploads.receive, clean_name(name) or "the file")
    try:
        receiver = Receiver(incoming)
        async for chunk in chunks:
            await receiver.take(chunk)
        await receiver.flush()
        spooled = await shielded(move(incoming.end))
        claimed = media_type[:MOST_LETTERS] if media_type else None
        return await uploads.add(File(Reader(SpooledSource(spooled), spooled.size), claimed, name))
    finally:
        await shielded(move(incoming.drop))


async def receive_form(uploads: Uploads, chunks: AsyncIterable[bytes], content_type: str | None) -> list[Upload]:
    """Take the files of a form's fields `file` in, all of them or none; other fields are not looked at."""
    parts, done = read_parts(chunks, content_type), list[Upload]()
    try:
        async for event in parts:
            if isinstance(event, Head) and event.field == "file":
                check_count(len(done) + 1)
                done.append(await receive_file(uploads, data_of(parts), event.filename or "", event.media_type))
    except BaseException:
        for one in done:
            await shielded(uploads.drop(one.id))
        raise
    if not done:
        raise BadInput("the form has no file: send each in a field `file`")
    return done


def check_count(files: int) -> None:
    """Raise `FileTooLarge` for more files than one form may have."""
    if files > MOST_FILES:
        raise FileTooLarge(f"more than {MOST_FILES} files at once: send them in several forms")


async def data_of(parts: AsyncIterator[Head | bytes | End]) -> AsyncIterator[bytes]:
    """What a part holds, up to its end."""
    async for event in parts:
        if isinstance(event, End):
            return
        if isinstance(event, bytes):
            yield event


def check_length(request: Request, most: int) -> None:
    """Raise `FileTooLarge` for a body that says itself that it is; what it says otherwise is not believed."""
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdecimal() and len(said) < 19 and int(said) > most:
        raise FileTooLarge(f"{size_of(int(said))} are more than the {size_of(most)} that may be sent at once")


def turn_away(error: ShowAndTellError) -> Refusal:
    """The answer to a body that wasn't read to its end."""
    return Refusal(status_of(error), type(error).__name__, told_of(error))
