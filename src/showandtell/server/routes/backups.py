"""Routes of all conversations of a user at once: export, import one by one, delete."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from showandtell.errors import BadInput, NotFound
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser, current_user
from showandtell.server.downloads import LimitedDownload
from showandtell.server.files.attachments import TIMEOUT_RESPONSE, receive_body
from showandtell.server.files.receiving import Body, Receiver
from showandtell.server.files.serving_files import disposition
from showandtell.server.routes.conversations import delete_stored
from showandtell.server.schemas import BINARY, Shape, errors, json_response
from showandtell.server.state import CurrentServer, Server, get_server
from showandtell.server.temporary_files import storage_errors, temporary_folder
from showandtell.storage.blobs.base import TooLarge
from showandtell.storage.conversations.archive import is_archive, is_backup
from showandtell.storage.conversations.backup import back_up
from showandtell.storage.conversations.imports import import_once
from showandtell.storage.conversations.library import count_conversations, overview

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

#: Maximum bytes of an exported conversation, and of what it unpacks to.
MAX_IMPORT: Final = 1 << 30
MAX_UNPACKED: Final = 4 << 30
#: Conversations that one request deletes.
BATCH: Final = 20
ZIP: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": {"application/zip": BINARY}}}
IMPORTED: dict[str, Any] = {
    "id": openapi_examples.CONVERSATION,
    "title": "The invoice of May",
    "new": True,
    "added_messages": 4,
    "known_messages": 0,
    "problems": ["is an address, which only its provider can open"],
}


class ImportedShape(Shape):
    """An imported conversation."""

    model_config = ConfigDict(json_schema_extra={"examples": [IMPORTED]})

    id: str
    title: str
    new: bool = Field(description="false: the conversation was here already, here or as a copy of yours")
    added_messages: int = Field(description="also those that a conversation lacked which was here already")
    known_messages: int = Field(description="its messages that were here already")
    problems: list[str] = Field(description="what is wrong with its files, if anything")


class DeletedShape(Shape):
    """What a request deleted, and what is left."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"deleted": 20, "left": 31}]})

    deleted: int
    left: int = Field(description="0: all of your conversations are deleted; otherwise send the request again")


class Backup(Response):
    """Sends all conversations of a user as one zip file, which is made meanwhile. An error breaks it off."""

    def __init__(self, server: Server, user: str) -> None:
        super().__init__()
        self._server, self._user = server, user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file. Raises `StorageFull` or `StorageFailed`."""
        day = dt.datetime.fromtimestamp(self._server.clock(), dt.UTC).date()
        headers = {
            "content-disposition": disposition(f"showandtell-{day.isoformat()}.zip", inline=False),
            "cache-control": "no-store",
        }
        with storage_errors():
            async with aclosing(back_up(self._server.store, self._user, metadata=False)) as chunks:
                first = await anext(chunks)  # before anything is sent, so that an error is a response
                body = following(first, chunks)
                await StreamingResponse(body, headers=headers, media_type="application/zip")(scope, receive, send)


async def following(first: bytes, chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """Yield a chunk and those after it."""
    yield first
    async for chunk in chunks:
        yield chunk


@router.get(
    "/export",
    operation_id="export_conversations",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": BINARY}, "description": "one zip file"}, **errors()},
)
async def export_conversations(server: CurrentServer, user: CurrentUser) -> Response:
    """Export all of your conversations: a zip file with the exported file of each."""
    return LimitedDownload(Backup(server, user.name), server.downloads, user.name)


@router.post(
    "/import",
    operation_id="import_conversation",
    response_model=ImportedShape,
    responses={**errors(413, 415, 422, 507), **TIMEOUT_RESPONSE},
    openapi_extra=ZIP,
)
async def import_one(request: Request) -> Response:
    """Import an exported conversation. Of one that is here already, only the messages that it lacks are added.

    Addresses of files in it are not kept, because a provider would open them with the server's account.
    """
    server, user = await get_server(request), await current_user(request)

    async def receive(body: Body) -> dict[str, Any]:
        async with temporary_folder() as folder:
            path = folder / "conversation.zip"
            await write_body(body, path)
            await asyncio.to_thread(check_archive, path)
            return await import_archive(server, user.name, path)

    return await receive_body(request, receive, MAX_IMPORT, turns=server.imports, status=200)


async def write_body(body: Body, path: Path) -> None:
    """Write a body to a new file. Raises `FileTooLarge`, `StorageFull` or `StorageFailed`."""
    with storage_errors(), path.open("xb") as sink:

        def write(data: memoryview) -> None:
            if sink.tell() + len(data) > MAX_IMPORT:
                raise TooLarge("the export", MAX_IMPORT)
            sink.write(data)

        receiver = Receiver(write)
        async for chunk in body:
            await receiver.write(chunk)
        await receiver.flush()


def check_archive(path: Path) -> None:
    """Raise `BadInput` unless a file is the zip file of one conversation."""
    if not is_archive(path):
        raise BadInput("this is not a zip file: choose a file that was exported here")
    if is_backup(path):
        raise BadInput("this file has several conversations: send the files in it one by one")


async def import_archive(server: Server, user: str, path: Path) -> dict[str, Any]:
    """Import a file once, and return its conversation as JSON."""
    imported = await import_once(server.store, path, user, MAX_UNPACKED)
    conversation = imported.conversation
    found = await overview(server.store.database, conversation.id, user)
    problems = [f"{file.label}: {file.problem}" for _, file in sorted(conversation.attachments.items()) if file.problem]
    counts = {"added_messages": imported.added, "known_messages": imported.known}
    return {"id": found.id, "title": found.title, "new": imported.is_new, **counts, "problems": problems}


@router.delete(
    "", operation_id="delete_conversations", response_model=DeletedShape, responses=errors(), summary="Delete all"
)
async def delete_conversations(server: CurrentServer, user: CurrentUser) -> Response:
    """Delete your conversations with their files, 20 with each request: those that changed last come first."""
    listed = await server.store.list(user.name, limit=BATCH)
    for summary in listed:
        with suppress(NotFound):  # another request may delete it
            await delete_stored(server, user.name, summary.id)
    left = await count_conversations(server.store.database, user.name)
    return json_response({"deleted": len(listed), "left": left})
