"""Conversations over HTTP: listed, searched, read, renamed, led to another branch, shared, exported, deleted."""

from __future__ import annotations

import logging
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from showandtell.agent.provider_uploads import delete_uploads
from showandtell.core.messages.messages import Message
from showandtell.core.ui_stream.stream import question_id
from showandtell.errors import Busy
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.conversation_json import tell_conversation
from showandtell.server.export import export
from showandtell.server.schemas import BYTES, AttachmentShape, Shape, answer, errors
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations import library, runs
from showandtell.storage.conversations.access import check_id, resolve
from showandtell.storage.database.lease import BUSY

log = logging.getLogger(__name__)
router = APIRouter(prefix="/api/conversations", tags=["conversations"])

#: Another user's name; that of an account may hold slashes.
Other = Annotated[str, Path(max_length=300)]
LISTED: dict[str, Any] = {
    "id": openapi_examples.CONVERSATION,
    "title": openapi_examples.WORDS,
    "created": openapi_examples.BEGAN,
    "changed": openapi_examples.ENDED,
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
    running: bool = Field(description="whether somebody is being answered in it")


class FoundShape(Shape):
    """Some of the list; `next` is what to give as `before` for more."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"conversations": [LISTED], "next": None}]})

    conversations: list[ListedShape]
    next: str | None


class MessageShape(Shape):
    """A message as the npm package `ai` has it: an answer's id is its question's, with `ans_` in place of `msg_`."""

    id: str
    role: Literal["user", "assistant"]
    metadata: dict[str, Any]
    parts: list[dict[str, Any]]


class ConversationShape(Shape):
    """A conversation with the messages of the branch that is talked on, and all of its files."""

    model_config = ConfigDict(json_schema_extra={"examples": [openapi_examples.KEPT]})

    id: str
    alias: str | None = Field(description="what your client called it")
    title: str
    created: float
    changed: float
    model: str | None = Field(description="who answered last")
    right: Literal["owner", "writer", "reader"]
    running: bool
    waiting: bool = Field(description="whether a tool waits for a person's yes or no")
    messages: list[MessageShape]
    attachments: list[AttachmentShape]


class NewTitle(Shape):
    """Another title."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Invoices of May"}]})

    title: str = Field(min_length=1, max_length=library.MOST_TITLE)


class Titled(Shape):
    """The title as it is kept: on one line."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Invoices of May"}]})

    title: str


class Branch(Shape):
    """A message of the branch to go on with: a question, or the answer to it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message_id": openapi_examples.QUESTION}]})

    message_id: str


class Share(Shape):
    """What the other user may do; null takes it back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"right": "reader"}]})

    right: Literal["reader", "writer"] | None


@router.get("", operation_id="list_conversations", responses={200: {"model": FoundShape}, **errors(404, 422)})
async def list_conversations(
    here: CurrentServer,
    user: CurrentUser,
    q: Annotated[str, Query(max_length=500, description="words that a title or a message must all hold")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="the `next` of the list that goes before")] = None,
) -> Response:
    """List your conversations, the one that changed last first.

    A search looks through some thousand conversations at once: it may find none, and still have a `next`.
    """
    if before is not None:
        await resolve(here.store.database, as_conversation(before), user.name, "owner")
    return answer(await library.list_conversations(here.store.database, user.name, q, limit=limit, before=before))


@router.get("/{id}", operation_id="get_conversation", responses={200: {"model": ConversationShape}, **errors(404)})
async def get_conversation(here: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """A conversation, as the stream of its answers would have built it."""
    return answer(await tell_conversation(here, user, as_conversation(id)))


@router.patch("/{id}", operation_id="rename_conversation", responses={200: {"model": Titled}, **errors(404, 415, 422)})
async def rename_conversation(here: CurrentServer, user: CurrentUser, id: str, body: NewTitle) -> Response:  # noqa: A002 - it is one
    """Give it another title."""
    return answer({"title": await library.rename(here.store.database, as_conversation(id), user.name, body.title)})


@router.delete("/{id}", operation_id="delete_conversation", status_code=204, responses=errors(404))
async def delete_conversation(here: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Delete it for good, with its files, also where these were uploaded to a provider. What runs in it is stopped."""
    conversation = await here.store.open(as_conversation(id), user.name, "owner")
    if going := await runs.find_running(here.store.database, id):
        await here.runs.stop(going)
    kept = await delete_uploads(conversation, None)
    await here.store.delete(id, user.name)
    for reason in kept:
        log.warning("an upload of a deleted conversation stays at its provider: %s", reason)
    return Response(status_code=204)


@router.post(
    "/{id}/branch",
    operation_id="lead_conversation",
    responses={200: {"model": ConversationShape}, **errors(404, 409, 415, 422)},
)
async def lead_conversation(here: CurrentServer, user: CurrentUser, id: str, body: Branch) -> Response:  # noqa: A002 - it is one
    """Go on at the branch of a message, where it was talked on last."""
    conversation = await here.store.open(as_conversation(id), user.name, "writer")
    if await runs.find_running(here.store.database, id):
        raise Busy(BUSY)
    question = question_id(body.message_id)
    await resolve(here.store.database, question, user.name, "writer")
    await conversation.lead(newest_behind(question, await conversation.everything()))
    return answer(await tell_conversation(here, user, as_conversation(id)))


@router.get(
    "/{id}/export",
    operation_id="export_conversation",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": BYTES}, "description": "one zip file"}, **errors(404)},
)
async def export_conversation(here: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """The conversation with all its branches and files, as `showandtell import` reads it."""
    known = await library.overview(here.store.database, as_conversation(id), user.name)
    return await export(await here.store.open(id, user.name, "reader"), known.title)


@router.put(
    "/{id}/shares/{other:path}", operation_id="share_conversation", status_code=204, responses=errors(404, 415, 422)
)
async def share_conversation(here: CurrentServer, user: CurrentUser, id: str, other: Other, body: Share) -> Response:  # noqa: A002 - it is one
    """Let another user read it, or write in it; or no longer. Only its owner may."""
    await here.store.share(as_conversation(id), user.name, other, body.right)
    return Response(status_code=204)


def as_conversation(id: str) -> str:  # noqa: A002 - it is one
    """The same id: a message's or a file's would name its conversation elsewhere, and is none here."""
    return check_id(id if id.startswith("conv_") else "")


def newest_behind(message_id: str, said: list[Message]) -> str:
    """The last message that was said behind one, or it itself; `said` is in the order in which it was said."""
    behind, newest = {message_id}, message_id
    for one in said:
        if one.parent_id in behind:
            behind.add(one.id)
            newest = one.id
    return newest
