"""Routes of pending messages: what is sent once the running answer has ended. Everybody sees their own alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query
from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.file_json import Link
from showandtell.errors import BadInput, NotFound
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser, User
from showandtell.server.chat_request import check_message_id
from showandtell.server.drafts import check_lift
from showandtell.server.files.attachments import file_json
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.if_running import check_is_own
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.model_choice import check_model
from showandtell.server.routes.conversations import check_conversation_id
from showandtell.server.schemas import PENDING, AttachmentShape, Shape, errors, json_response
from showandtell.server.send_pending import MAX_TEXT, send_now
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations import pending_messages, runs
from showandtell.storage.conversations.access import resolve
from showandtell.storage.conversations.pending_messages import (
    MAX_PENDING,
    PendingContent,
    PendingFile,
    PendingMessage,
    PendingText,
)
from showandtell.storage.database.garbage_collection import Key, collect_now

router = APIRouter(prefix="/api", tags=["conversations"])

Revision = Annotated[int, Query(description="the one that you have seen")]
_ADDED: Final[dict[str, Any]] = {
    "conversation_id": openapi_examples.CONVERSATION,
    "message_id": "m2",
    "text": "And the tax?",
    "files": [PENDING["id"]],
}
_MESSAGE: Final[dict[str, Any]] = {
    "id": openapi_examples.PENDING_MESSAGE,
    "message_id": "m2",
    "revision": 1,
    "created": openapi_examples.CREATED,
    "text": "And the tax?",
    "files": [PENDING],
    "model": None,
    "sending": False,
    "problem": None,
}


class PendingShape(Shape):
    """A message that waits to be sent."""

    model_config = ConfigDict(json_schema_extra={"examples": [_MESSAGE]})

    id: str
    message_id: str = Field(description="your own id of the message, by which it is sent once")
    revision: int = Field(description="counts its changes; a change names the one that it is based on")
    created: float = Field(description="epoch seconds")
    text: str
    files: list[AttachmentShape] = Field(description="those that still exist")
    model: str | None = Field(description="the model to ask; null: the one that is set when it is sent")
    sending: bool = Field(description="whether it is being sent, so that it can't be changed")
    problem: str | None = Field(description="why it could not be sent; a change lets it be tried again")


class QueueShape(Shape):
    """Your pending messages of a conversation, in the order in which they are sent."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pending": [_MESSAGE], "hold": None}]})

    pending: list[PendingShape]
    hold: Literal["waiting", "incomplete", "error", "refused"] | None = Field(
        description="how the last answer ended, if they wait for a person because of that; null: they are sent in turn"
    )


class NewPending(Struct, forbid_unknown_fields=True):
    """The body of a request that adds a message."""

    conversation_id: str
    message_id: str
    text: Annotated[str, Meta(max_length=MAX_TEXT)] = ""
    files: list[str] = []
    model: str | None = None
    lift: list[str] = []


class PendingChange(Struct, forbid_unknown_fields=True):
    """The body of a request that changes a message. What is left out stays; `place` counts from 0."""

    revision: int
    text: Annotated[str, Meta(max_length=MAX_TEXT)] | UnsetType = UNSET
    files: list[str] | UnsetType = UNSET
    place: Annotated[int, Meta(ge=0, lt=MAX_PENDING)] | UnsetType = UNSET


class SeenRevision(Struct, forbid_unknown_fields=True):
    """The revision of a message that a request is about."""

    revision: int


@router.get(
    "/conversations/{id}/pending", operation_id="list_pending", responses={200: {"model": QueueShape}, **errors(404)}
)
async def list_pending(server: CurrentServer, user: CurrentUser, link: CurrentLink, id: str) -> Response:  # noqa: A002 - it is one
    """List your messages that wait to be sent in a conversation."""
    await resolve(server.store.database, check_conversation_id(id), user.name)
    queue = await pending_messages.read_queue(server.store.database, id)
    own = [message for message in queue.messages if message.user_id == user.name and message.id not in queue.sent]
    found = [await pending_json(server, user, message, link) for message in own]
    return json_response({"pending": found, "hold": None if queue.running else queue.hold})


@router.post(
    "/pending",
    operation_id="add_pending",
    status_code=201,
    responses={201: {"model": PendingShape}, **errors(404, 409, 413, 415, 422)},
    openapi_extra=describe_body(NewPending, _ADDED),
)
async def add_pending(
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    body: Annotated[NewPending, Depends(json_body(NewPending))],
) -> Response:
    """Add a message that is sent when the running answer has ended well, after those that wait already.

    If nothing runs, it is sent at once. The same `message_id` again returns the same message.
    """
    check_message_id(body.message_id)
    conversation_id = check_conversation_id(body.conversation_id)
    await resolve(server.store.database, conversation_id, user.name, "writer")
    running = await runs.find_running(server.store.database, conversation_id)
    if running is not None:
        check_is_own(running, user)
    parts = await parts_of(server, user, body.text, body.files)
    check_lift(server, body.lift, body.files)
    content = PendingContent(parts, body.model and check_model(body.model), tuple(body.lift))
    message = await pending_messages.add(
        server.store.database, conversation_id, user.name, body.message_id, content, server.clock()
    )
    server.pending.add(conversation_id)
    return json_response(await pending_json(server, user, message, link), 201)


@router.patch(
    "/pending/{id}",
    operation_id="change_pending",
    responses={200: {"model": PendingShape}, **errors(404, 409, 413, 415, 422)},
    openapi_extra=describe_body(PendingChange, {"revision": 1, "text": "And the tax of 2025?"}),
)
async def change_pending(
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    id: str,  # noqa: A002 - it is one
    body: Annotated[PendingChange, Depends(json_body(PendingChange))],
) -> Response:
    """Change the text, the files or the place of a message. A change of an older revision is refused."""
    database, content = server.store.database, None
    place = None if body.place is UNSET else body.place
    if body.text is not UNSET or body.files is not UNSET:
        before = (await pending_messages.find(database, id, user.name)).content
        text = text_of(before) if body.text is UNSET else body.text
        files = before.files if body.files is UNSET else body.files
        lift = tuple(file for file in before.lift if file in files)
        content = PendingContent(await parts_of(server, user, text, files), before.model, lift)
    message, dropped = await pending_messages.edit(
        database, id, user.name, body.revision, server.clock(), content=content, place=place
    )
    await collect(server, dropped)
    server.pending.add(message.conversation_id)
    return json_response(await pending_json(server, user, message, link))


@router.delete("/pending/{id}", operation_id="remove_pending", status_code=204, responses=errors(404, 409, 422))
async def remove_pending(server: CurrentServer, user: CurrentUser, id: str, revision: Revision) -> Response:  # noqa: A002 - it is one
    """Remove a message with its uploads. It is kept if it was changed since this revision."""
    await collect(server, await pending_messages.remove(server.store.database, id, user.name, revision, server.clock()))
    return Response(status_code=204)


@router.post(
    "/pending/{id}/send",
    operation_id="send_pending",
    status_code=204,
    responses=errors(404, 409, 413, 415, 422),
    openapi_extra=describe_body(SeenRevision, {"revision": 1}),
)
async def send_pending(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    body: Annotated[SeenRevision, Depends(json_body(SeenRevision))],
) -> Response:
    """Send a message now, before the others; a running answer to you is stopped. Follow the answer by its stream."""
    await send_now(server, user, id, body.revision)
    return Response(status_code=204)


async def parts_of(
    server: Server, user: User, text: str, files: Sequence[str]
) -> tuple[PendingText | PendingFile, ...]:
    """The parts of a message. Raises `BadInput`, and `NotFound` for files that the user doesn't have."""
    max_files = server.config.max_message_files
    if len(files) > max_files:
        raise BadInput(f"{len(files)} files are too many for one message: send up to {max_files}")
    if not text.strip() and not files:
        raise BadInput("the message is empty: send text or a file")
    uploads = server.store.uploads(user.name)
    for file in files:
        await uploads.find(file)
    words = (PendingText(text),) if text.strip() else ()
    return (*(PendingFile(file) for file in dict.fromkeys(files)), *words)


def text_of(content: PendingContent) -> str:
    """All text of a message."""
    return "\n\n".join(part.text for part in content.parts if isinstance(part, PendingText))


async def pending_json(server: Server, user: User, message: PendingMessage, link: Link) -> dict[str, Any]:
    """A message as JSON."""
    uploads, files = server.store.uploads(user.name), list[dict[str, Any]]()
    for file in message.content.files:
        try:
            files.append(file_json(await uploads.find(file), link))
        except NotFound:  # deleted
            continue
    return {
        "id": message.id,
        "message_id": message.client_id,
        "revision": message.revision,
        "created": message.created,
        "text": text_of(message.content),
        "files": files,
        "model": message.content.model,
        "sending": message.is_claimed(server.clock()),
        "problem": message.problem,
    }


async def collect(server: Server, keys: Sequence[Key]) -> None:
    """Delete bytes of uploads that no message has any longer."""
    await collect_now(server.store.database, server.store.blobs, keys)
