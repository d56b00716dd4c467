"""Routes of conversations: list, search, read, organize, switch branches, export, delete."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query
from msgspec import UNSET, Meta, Struct, UnsetType, structs, to_builtins
from pydantic import AwareDatetime, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.file_json import Link, attachment_json
from showandtell.core.messages.message import Message
from showandtell.core.ui_stream.ui_stream import question_id
from showandtell.errors import BadInput, Busy
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.conversation_json import read_conversation
from showandtell.server.downloads import LimitedDownload
from showandtell.server.export import Export
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.json_compression import JsonResponse
from showandtell.server.schemas import BINARY, AttachmentShape, ConversationSettingsShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations import library, organizing, runs, sharing
from showandtell.storage.conversations.access import check_id, resolve
from showandtell.storage.conversations.organizing import MAX_TAGS, MAX_TITLE
from showandtell.storage.conversations.search import Search
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
OWN_CONVERSATION: dict[str, Any] = {
    **LISTED_CONVERSATION,
    "pinned": True,
    "archived": False,
    "tags": ["invoices"],
    "match": None,
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


class MatchShape(Shape):
    """Where a search found a conversation."""

    title: bool = Field(description="whether its title has all words")
    message: str | None = Field(description="the part of its newest matching message that has the words")
    message_id: str | None = Field(description="that message; for a tool's result, the answer that it belongs to")
    files: list[AttachmentShape] = Field(description="its first matching files, at most 4")
    more_files: int = Field(description="matching files besides")


class OwnConversationShape(ListedShape):
    """One of your own conversations."""

    pinned: bool
    archived: bool
    tags: list[str]
    match: MatchShape | None = Field(description="null without a search")


class FoundShape(Shape):
    """A page of the list. `next` is the `before` of the next page; null: there is none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"conversations": [OWN_CONVERSATION], "next": None}]})

    conversations: list[OwnConversationShape]
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
    settings: ConversationSettingsShape | None = Field(
        description="those of this conversation alone; null if nothing is set, and for others than its owner"
    )
    right: Literal["owner", "writer", "reader"]
    shared_by: str | None = Field(description="display name of its owner, if that isn't you")
    running: bool
    waiting: bool = Field(description="whether a tool call is waiting for approval")
    pending: int = Field(description="your messages that wait to be sent")
    earlier: bool = Field(description="whether there are earlier messages than these")
    messages: list[MessageShape]
    attachments: list[AttachmentShape]


class ConversationChange(Struct, forbid_unknown_fields=True):
    """The body of a request that changes a conversation. What is left out stays."""

    title: Annotated[str, Meta(min_length=1, max_length=MAX_TITLE)] | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    tags: Annotated[list[Annotated[str, Meta(max_length=MAX_TITLE)]], Meta(max_length=MAX_TAGS)] | UnsetType = UNSET


CHANGED: dict[str, Any] = {"title": "Invoices of May", "pinned": True, "archived": False, "tags": ["invoices"]}


class OrderShape(Shape):
    """What is set for a conversation, as it is stored: title and tags on one line, the tags by name."""

    model_config = ConfigDict(json_schema_extra={"examples": [CHANGED]})

    title: str
    pinned: bool
    archived: bool
    tags: list[str]


class TagShape(Shape):
    """A tag, and how many conversations have it."""

    name: str
    conversations: int


class TagsShape(Shape):
    """All tags, by name."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tags": [{"name": "invoices", "conversations": 3}]}]})

    tags: list[TagShape]


class Branch(Struct, forbid_unknown_fields=True):
    """The branch to switch to: that of a message, a question or its response, or of the newest message with a file."""

    message_id: str | None = None
    file: int | None = None


#: A day, or a moment with its time zone. Moments first: midnight would be read as a day.
Time: TypeAlias = AwareDatetime | dt.date | None


async def current_search(
    q: Annotated[
        str, Query(max_length=500, description="words that the title, a message or the name of a file must contain")
    ] = "",
    kind: Annotated[Kind | None, Query(description="only conversations with such a file")] = None,
    since: Annotated[Time, Query(description="the first day (UTC), or the first moment")] = None,
    until: Annotated[Time, Query(description="the last day (UTC), or the moment after the last")] = None,
) -> Search:
    """What a request searches for."""
    return Search(q, kind, since, until)


@router.get("", operation_id="list_conversations", responses={200: {"model": FoundShape}, **errors(404, 422)})
async def list_conversations(  # noqa: PLR0917 - its parameters are those of the query
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    search: Annotated[Search, Depends(current_search)],
    archived: Annotated[bool, Query(description="only the archived ones")] = False,
    tag: Annotated[str | None, Query(max_length=200, description="only those with this tag")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="the `next` of the previous page")] = None,
) -> Response:
    """List your conversations, most recently changed first. The first page begins with the pinned ones in addition.

    A search finds archived ones, too, or with `archived` only those. It reads a few thousand conversations per request,
    so a page may be empty and still have a `next`.
    """
    if before is not None:
        await resolve(server.store.database, check_conversation_id(before), user.name, "owner")
    page = await library.list_conversations(
        server.store.database, user.name, search, archived=archived, tag=tag, limit=limit, before=before
    )
    found = [conversation_json(conversation, link) for conversation in page.conversations]
    return json_response({"conversations": found, "next": page.next})


def conversation_json(conversation: library.OwnConversation, link: Link) -> dict[str, Any]:
    """A conversation of the list as JSON."""
    row = structs.asdict(conversation)
    if conversation.match is not None:
        files = [attachment_json(file, conversation.id, link) for file in conversation.match.files]
        row["match"] = {**structs.asdict(conversation.match), "files": files}
    return row


@router.get("/tags", operation_id="list_tags", responses={200: {"model": TagsShape}, **errors()})
async def list_tags(server: CurrentServer, user: CurrentUser) -> Response:
    """List the tags of your conversations."""
    return json_response({"tags": await organizing.list_tags(server.store.database, user.name)})


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
    responses={200: {"model": OrderShape}, **errors(404, 413, 415, 422)},
    openapi_extra=describe_body(ConversationChange, CHANGED),
)
async def change_conversation(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    body: Annotated[ConversationChange, Depends(json_body(ConversationChange))],
) -> Response:
    """Change the title, pin, archive or tags of a conversation. Only its owner may."""
    check_conversation_id(id)
    changes = to_builtins(body)
    return json_response(await organizing.organize(server.store.database, id, user.name, server.clock(), **changes))


@router.delete("/{id}", operation_id="delete_conversation", status_code=204, responses=errors(404))
async def delete_conversation(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Stop its run, and delete a conversation with its files, including uploads to providers."""
    await delete_stored(server, user.name, check_conversation_id(id))
    return Response(status_code=204)


async def delete_stored(server: Server, user: str, id: str) -> None:  # noqa: A002 - it is one
    """Stop the run of a conversation and delete it. Raises `NotFound` unless it is the user's."""
    await resolve(server.store.database, id, user, "owner")
    await server.store.make_room()
    if row := await runs.find_running(server.store.database, id):
        await server.runs.stop(row)
    deleted = await server.store.delete(id, user)
    await server.deletions.delete(deleted.uploads)


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
    """Switch to the branch of a message or of a file's number, at its newest message."""
    if (body.message_id is None) == (body.file is None):
        raise BadInput("the branch is that of `message_id` or that of `file`: send one of them")
    conversation = await server.store.open(check_conversation_id(id), user.name, "writer")
    if await runs.find_running(server.store.database, id):
        raise Busy(BUSY)
    everything = await conversation.everything()
    message_id = newest_with_file(body.file, everything) if body.message_id is None else question_id(body.message_id)
    await resolve(server.store.database, message_id, user.name, "writer")
    await conversation.lead(newest_descendant(message_id, everything))
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


def newest_with_file(number: int | None, everything: list[Message]) -> str:
    """The id of the newest message with a file, or an id that no message has."""
    for message in reversed(everything):
        if any(file.number == number for file in message.showings):
            return message.id
    return ""


def newest_descendant(message_id: str, everything: list[Message]) -> str:
    """The id of the newest message after one, or its own id. `everything` is in order of creation."""
    descendants, newest = {message_id}, message_id
    for message in everything:
        if message.parent_id in descendants:
            descendants.add(message.id)
            newest = message.id
    return newest
