"""Export a conversation as one zip file, streamed from an unlinked temporary file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import BinaryIO

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from showandtell.server.files.serving_files import disposition
from showandtell.server.temporary_files import storage_errors, temporary_folder
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.transfer import export_conversation

#: Bytes per read.
CHUNK = 256 * 1024


class Export(Response):
    """Sends a conversation as a zip file that is named like its title. The file is made when it is called.

    `author` is as in `transfer`.
    """

    def __init__(self, conversation: MemoryConversation, title: str, author: str | None) -> None:
        super().__init__()
        self._conversation, self._title, self._author = conversation, title, author

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Make the file and send it. Raises `StorageFull` or `StorageFailed` before anything is sent."""
        archive, size = await pack(self._conversation, self._author)
        headers = {
            "content-length": str(size),
            "content-disposition": disposition(f"{self._title or self._conversation.id}.zip", inline=False),
            "cache-control": "no-store",
        }
        with archive:
            response = StreamingResponse(read_chunks(archive), headers=headers, media_type="application/zip")
            await response(scope, receive, send)


async def pack(conversation: MemoryConversation, author: str | None) -> tuple[BinaryIO, int]:
    """Return the open archive and its size. Its name is already deleted, so that a crash leaves no file."""
    async with temporary_folder() as folder:
        path = folder / "conversation.zip"
        with storage_errors():
            await export_conversation(conversation, path, author=author, metadata=False)
            return await asyncio.to_thread(path.open, "rb"), path.stat().st_size


async def read_chunks(archive: BinaryIO) -> AsyncIterator[bytes]:
    """Yield the content of a file, read in a thread."""
    while chunk := await asyncio.to_thread(archive.read, CHUNK):
        yield chunk
