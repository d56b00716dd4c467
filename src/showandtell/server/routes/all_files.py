"""Routes of a user's files in all conversations: list, where each is used, the storage that they take, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from msgspec import structs
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.file_json import attachment_json
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser, User
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.routes.conversations import current_search
from showandtell.server.schemas import INVOICE, AttachmentShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations import file_list
from showandtell.storage.conversations.file_list import Sort
from showandtell.storage.conversations.search import Search
from showandtell.storage.database.quotas import Account

#: Files that a request deletes: their ids fit into an address.
MAX_DELETED = 100

router = APIRouter(prefix="/api/files", tags=["files"])

PLACE: dict[str, Any] = {
    "conversation_id": openapi_examples.CONVERSATION,
    "title": "The invoice of May",
    "file_id": INVOICE["id"],
    "number": 1,
}
FILE: dict[str, Any] = {**INVOICE, "places": [PLACE], "more_places": 0}
USE: dict[str, Any] = {"bytes": 14210, "limit": None, "files": 1, "conversations": 1}


class PlaceShape(Shape):
    """Where a file is used."""

    conversation_id: str
    title: str
    file_id: str
    number: int


class UsedFileShape(AttachmentShape):
    """A file, and the conversations that have its bytes."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={})

    places: list[PlaceShape] = Field(description="the conversation that changed last first, at most 20")
    more_places: int


class FilesShape(Shape):
    """A page of the list. `next` is the `before` of the next page; null: there is none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"files": [FILE], "next": None}]})

    files: list[UsedFileShape]
    next: str | None


class StorageUseShape(Shape):
    """The storage that your files take."""

    model_config = ConfigDict(json_schema_extra={"examples": [USE]})

    bytes: int = Field(description="with what was made from the files, such as thumbnails; equal files count once")
    limit: int | None = Field(description="the most that you may store; null: no limit")
    files: int
    conversations: int


@router.get("", operation_id="list_files", responses={200: {"model": FilesShape}, **errors(404, 422)})
async def list_files(  # noqa: PLR0917 - its parameters are those of the query
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    search: Annotated[Search, Depends(current_search)],
    sort: Annotated[Sort, Query(description="by day, by size, or by name from a to z")] = "newest",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="the `next` of the previous page")] = None,
) -> Response:
    """List the files of your conversations that have bytes, equal ones once."""
    page = await file_list.list_files(server.store.database, user.name, search, sort=sort, limit=limit, before=before)
    files = [
        {
            **attachment_json(file.attachment, file.conversation_id, link),
            "places": [structs.asdict(place) for place in file.places],
            "more_places": file.more_places,
        }
        for file in page.files
    ]
    return json_response({"files": files, "next": page.next})


@router.get("/use", operation_id="get_storage_use", responses={200: {"model": StorageUseShape}, **errors()})
async def get_storage_use(server: CurrentServer, user: CurrentUser) -> Response:
    """Get how much storage your files take."""
    use = await file_list.storage_use(server.store.database, Account(user.name, server.store.quotas, server.clock))
    return json_response(structs.asdict(use))


@router.delete("", operation_id="delete_files", status_code=204, responses=errors(404, 422))
async def delete_files(
    server: CurrentServer,
    user: CurrentUser,
    ids: Annotated[list[str], Query(min_length=1, max_length=MAX_DELETED, description="ids as the list has them")],
) -> Response:
    """Delete files in all of your conversations, where their numbers and names stay: all of these files, or none."""
    await delete_everywhere(server, user, ids)
    return Response(status_code=204)


@router.delete("/{id}", operation_id="delete_file", status_code=204, responses=errors(404))
async def delete_file(id: str, server: CurrentServer, user: CurrentUser) -> Response:  # noqa: A002 - it is an id
    """Delete a file, and equal ones, in all of your conversations, where its number and name stay."""
    await delete_everywhere(server, user, [id])
    return Response(status_code=204)


async def delete_everywhere(server: Server, user: User, ids: list[str]) -> None:
    """Delete files, what was made from them, and the copies that providers have."""
    deleted = await server.store.delete_files(ids, user.name)
    await server.deletions.delete(deleted.uploads)
