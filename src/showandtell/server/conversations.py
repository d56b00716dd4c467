"""Routes of conversations: list, search, read, rename, switch branches, export, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from msgspec import Meta, Struct
from pydantic import ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from showandtell.core.messages.message import Message
from showandtell.core.ui_stream.ui_stream import question_id
from showandtell.errors import Busy
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.conversation_json import read_conversation
from showandtell.server.downloads import LimitedDownload
from showandtell.server.export import Export
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.json_compression import JsonResponse
from showandtell.server.schemas import BINARY, AttachmentShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations import library, runs, sharing
from showandtell.storage.conversations.access import check_id, resolve
from showandtell.storage.database.lease import BUSY

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

LISTED_CONVERSATION: dict[str, Any] = {
    "id": openapi_examples.CONVERSATION,
    "title": openapi_examples.PROMPT,
    "created": openapi_examples.CREATED,
    "changed": openapi_examples.FINISHED,
    "messages": 4,
    "files": 1,
    "running": False,
}


class ListedShape(Shape):
    """A conversation in a list: times are epoch seconds, counts are over all branches."""

    id: str
    title: str
    created: float
    changed: float
    messages: int
    files: int
    running: bool = Field(description="whether a run is in progress")


class FoundShape(Shape):
    """A page of the list. `next` is the `before` of the next page; null: there is none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"conversations": [LISTED_CONVERSATION], "next": None}]})

    conversations: list[ListedShape]
    next: str | None


class MessageShape(Shape):
    """A message of the npm package `ai`. A response has its question's id, with `ans_` in place of `msg_`."""

    id: str
    role: Literal["user", "assistant"]
    metadata: dict[str, Any]
    parts: list[dict[str, Any]]


class ConversationShape(Shape):
    """A conversation with the messages of its current branch, and all of its files."""

    model_config = ConfigDict(json_schema_extra={"examples": [openapi_examples.STORED_CONVERSATION]})

    id: str
    alias: str | None = Field(description="the client's own name for it, or the program's key")
    title: str
    created: float
    changed: float
    model: str | None = Field(description="the model of the last run")
    right: Literal["owner", "writer", "reader"]
    shared_by: str | None = Field(description="display name of its owner, if that isn't you")
    running: bool
    waiting: bool = Field(description="whether a tool call is waiting for approval")
    earlier: bool = Field(description="whether there are earlier messages than these")
    messages: list[MessageShape]
    attachments: list[AttachmentShape]


class NewTitle(Struct, forbid_unknown_fields=True):
    """The body of a request that renames a conversation."""

    title: Annotated[str, Meta(min_length=1, max_length=library.MAX_TITLE)]


class Titled(Shape):
    """The title as it is stored, on one line."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Invoices of May"}]})

    title: str


class Branch(Struct, forbid_unknown_fields=True):
    """A message of the branch to switch to: a question or its response."""

    message_id: str


@router.get("", operation_id="list_conversations", responses={200: {"model": FoundShape}, **errors(404, 422)})
async def list_conversations(
    server: CurrentServer,
    user: CurrentUser,
    q: Annotated[str, Query(max_length=500, description="words that the title or a message must contain")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="the `next` of the previous page")] = None,
) -> Response:
    """List your conversations, most recently changed first.

    A search reads a few thousand conversations per request, so a page may be empty and still have a `next`.
    """
    if before is not None:
        await resolve(server.store.database, check_conversation_id(before), user.name, "owner")
    return json_response(
        await library.list_conversations(server.store.database, user.name, q, limit=limit, before=before)
    )


Newest = Annotated[
    int | None, Query(ge=1, description="only this many of the newest messages, or a few more; all by default")
]


@router.get("/{id}", operation_id="get_conversation", responses={200: {"model": ConversationShape}, **errors(404)})
async def get_conversation(
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    id: str,  # noqa: A002 - it is one
    newest: Newest = None,
) -> Response:
    """Get a conversation, with its messages as their streams would have built them, and all of its files."""
    return JsonResponse(await read_conversation(server, user, check_conversation_id(id), link, newest))


@router.patch(
    "/{id}",
    operation_id="rename_conversation",
    responses={200: {"model": Titled}, **errors(404, 413, 415, 422)},
    openapi_extra=describe_body(NewTitle, {"title": "Invoices of May"}),
)
async def rename_conversation(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    body: Annotated[NewTitle, Depends(json_body(NewTitle))],
) -> Response:
    """Change the title of a conversation."""
    return json_response(
        {"title": await library.rename(server.store.database, check_conversation_id(id), user.name, body.title)}
    )


@router.delete("/{id}", operation_id="delete_conversation", status_code=204, responses=errors(404))
async def delete_conversation(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Stop its run, and delete a conversation with its files, including uploads to providers."""
    await resolve(server.store.database, check_conversation_id(id), user.name, "owner")
    await server.store.make_room()
    if row := await runs.find_running(server.store.database, id):
        await server.runs.stop(row)
    deleted = await server.store.delete(id, user.name)
    await server.deletions.delete(deleted.uploads)
    return Response(status_code=204)


@router.post(
    "/{id}/branch",
    operation_id="lead_conversation",
    responses={200: {"model": ConversationShape}, **errors(404, 409, 413, 415, 422)},
    openapi_extra=describe_body(Branch, {"message_id": openapi_examples.QUESTION}),
)
async def lead_conversation(
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    id: str,  # noqa: A002 - it is one
    body: Annotated[Branch, Depends(json_body(Branch))],
    *,
    newest: Newest = None,
) -> Response:
    """Switch to the branch of a message, at its newest message."""
    conversation = await server.store.open(check_conversation_id(id), user.name, "writer")
    if await runs.find_running(server.store.database, id):
        raise Busy(BUSY)
    question = question_id(body.message_id)
    await resolve(server.store.database, question, user.name, "writer")
    await conversation.lead(newest_descendant(question, await conversation.everything()))
    return JsonResponse(await read_conversation(server, user, check_conversation_id(id), link, newest))


@router.get(
    "/{id}/export",
    operation_id="export_conversation",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": BINARY}, "description": "one zip file"}, **errors(404)},
)
async def export_conversation(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Export a conversation with all branches and files, for `showandtell import`."""
    overview = await library.overview(server.store.database, check_conversation_id(id), user.name)
    conversation = await server.store.open(id, user.name, "reader")
    author = await sharing.default_author(server.store.database, conversation)
    return LimitedDownload(Export(conversation, overview.title, author), server.downloads, user.name)


def check_conversation_id(id: str) -> str:  # noqa: A002 - it is one
    """Return the id. Raises `NotFound` for ids of messages and files, which elsewhere name their conversation."""
    return check_id(id if id.startswith("conv_") else "")


def newest_descendant(message_id: str, everything: list[Message]) -> str:
    """The id of the newest message after one, or its own id. `everything` is in order of creation."""
    descendants, newest = {message_id}, message_id
    for message in everything:
        if message.parent_id in descendants:
            descendants.add(message.id)
            newest = message.id
    return newest
