"""A conversation as one zip file that is streamed from a file without a name: it goes when nobody reads it any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from starlette.responses import StreamingResponse

from showandtell.errors import BadInput
from showandtell.server.files.serving_files import disposition
from showandtell.storage.blobs.disk import storage_error
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.transfer import export_conversation

#: So much is read at once.
PIECE = 256 * 1024
HERE = Path("the folder for temporary files")


async def export(conversation: MemoryConversation, title: str) -> StreamingResponse:
    """A response with the whole conversation, as a file with its title for a name."""
    archive, size = await pack(conversation)
    headers = {
        "content-length": str(size),
        "content-disposition": disposition(f"{title or conversation.id}.zip", inline=False),
        "cache-control": "no-store",
    }
    return StreamingResponse(pieces(archive), headers=headers, media_type="application/zip")


async def pack(conversation: MemoryConversation) -> tuple[BinaryIO, int]:
    """The archive, open, and its size; its name is gone already, so that nothing stays whatever happens to us."""
    with telling():
        folder = await asyncio.to_thread(TemporaryDirectory, prefix="showandtell-export-")
    try:
        path = Path(folder.name) / "conversation.zip"
        with telling():
            await export_conversation(conversation, path)
            return await asyncio.to_thread(path.open, "rb"), path.stat().st_size
    finally:
        await asyncio.to_thread(folder.cleanup)


@contextmanager
def telling() -> Generator[None]:
    """Say of a disk without room what it is: not the asker's mistake, and not where our temporary files lie."""
    try:
        yield
    except (BadInput, OSError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        raise storage_error(cause, HERE) from error


async def pieces(archive: BinaryIO) -> AsyncIterator[bytes]:
    """All of a file, read in a thread."""
    with archive:
        while piece := await asyncio.to_thread(archive.read, PIECE):
            yield piece
