"""The chat routes: send a message, follow a run, stop it. A run continues when its readers disconnect."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from showandtell.core.messages.file_json import Link
from showandtell.core.ui_stream.chunks import DONE, HEADERS, Error, serialize
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser, User, current_user
from showandtell.server.chat_request import ChatRequest, parse_chat_request
from showandtell.server.drafts import with_file_ids
from showandtell.server.event_stream import EventStream
from showandtell.server.files.file_addresses import CurrentLink, current_address_reader, current_link
from showandtell.server.if_running import StreamForm
from showandtell.server.new_messages import (
    Place,
    answer_body,
    find_last_run,
    find_or_start,
    in_place,
)
from showandtell.server.runs.execute import replay_run
from showandtell.server.runs.private_parts import for_reader
from showandtell.server.schemas import errors
from showandtell.server.send_pending import send_in_turn, store_waiting
from showandtell.server.state import CurrentServer, Server, get_server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.access import resolve
from showandtell.storage.conversations.heads import is_conversation_id
from showandtell.storage.conversations.keys import find_key
from showandtell.storage.conversations.runs import RUNNING, RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation

router = APIRouter(prefix="/api/chat", tags=["chat"])

STREAM_RESPONSE: dict[str, Any] = {
    "content": {"text/event-stream": {"schema": {"type": "string"}, "example": openapi_examples.STREAM}},
    "description": "the UI message stream, version 1",
}
REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["id"],
                    "properties": {
                        "id": {
                            "type": "string",
                            "description": "the client's own name for the chat, or a conversation id",
                        },
                        "messages": {
                            "type": "array",
                            "items": {"type": "object"},
                            "description": "only the last one is read; its files may be data URLs",
                        },
                        "message": {"type": "object", "description": "the last message, in place of `messages`"},
                        "trigger": {"enum": ["submit-message", "regenerate-message"]},
                        "messageId": {"type": ["string", "null"], "description": "the message to edit or regenerate"},
                        "model": {"type": ["string", "null"], "description": "provider:model, or inspector"},
                        "settings": {
                            "type": ["object", "null"],
                            "description": "those of a new conversation, as `PUT /api/conversations/{id}/settings` "
                            "takes them; ignored for any other",
                        },
                        "lift": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "ids of your files for the user alone that the model may see, if the "
                            "server allows that",
                        },
                        "if_running": {
                            "enum": ["stop", "queue", "error"],
                            "description": "a running answer is stopped (the default), answered before, or a 409",
                        },
                    },
                },
                "example": openapi_examples.CHAT_REQUEST,
            }
        },
    }
}


@router.post(
    "",
    operation_id="chat",
    summary="Send a message and stream the response",
    response_class=Response,
    responses={200: STREAM_RESPONSE, **errors(404, 409, 413, 415, 422, 507)},
    openapi_extra=REQUEST_BODY,
)
async def chat(request: Request) -> Response:
    """Respond to a new or edited message or to an approval, or regenerate a response.

    A file is an upload, a file of a conversation, or a data URL. While an answer runs, `if_running` says what happens.
    """
    server, user = await get_server(request), await current_user(request)  # FastAPI's dependencies would take longer
    link, read_address = await current_link(request, server, user), await current_address_reader(request, server, user)

    def parse(body: bytes) -> ChatRequest:
        return with_file_ids(parse_chat_request(body), read_address)

    async def respond(asked: ChatRequest) -> Response:
        at = partial(respond_in, server, user, asked, link)
        return await in_place(server, user, asked.chat_id, asked.client_id, at, settings=asked.settings)

    async def enqueue(asked: ChatRequest, conversation_id: str) -> Callable[[], Awaitable[None]] | None:
        message = await store_waiting(server, user, asked, conversation_id)
        return None if message is None else partial(send_in_turn, server, user, message)

    return await answer_body(request, server, user, parse, respond, form=FORM, enqueue=enqueue)


def failure(text: str) -> bytes:
    """The stream of an answer that there will not be."""
    return serialize(Error(text)) + DONE


FORM = StreamForm(HEADERS, failure)


async def respond_in(server: Server, user: User, request: ChatRequest, link: Link, place: Place) -> Response:
    """Start the run of a request and stream it; for a repeated request, replay or follow its run."""
    conversation = place.conversation
    row, live = await find_or_start(server, user, request, place)
    if live is None:
        return await replay_or_follow(server, conversation, row, link)
    events = for_reader(live.buffer.follow(), is_owner=conversation.is_owner)
    return stream_response(server, events, conversation.id, link)


async def replay_or_follow(server: Server, conversation: StoredConversation, row: RunRow, link: Link) -> Response:
    """Stream the run that the same message started before. Raises `NotFound` if it is on another branch."""
    last = await find_last_run(server, conversation, row)
    if last.state == RUNNING:
        followed = server.runs.follow(last, late=last.id != row.id)
        events = for_reader(followed, is_owner=conversation.is_owner)
        return stream_response(server, events, conversation.id, link)
    await conversation.refresh()  # the run may have ended after the conversation was read
    return Response(await replay_run(conversation, row, last, link), headers=stream_headers(conversation.id))


def stream_response(server: Server, events: AsyncGenerator[bytes], conversation_id: str, link: Link) -> Response:
    """Respond with a stream of events, with the reader's own addresses of files."""
    return EventStream(server.addresses.follow(events, link), headers=stream_headers(conversation_id))


def stream_headers(conversation_id: str) -> dict[str, str]:
    """The headers of every stream of events."""
    return {**HEADERS, "x-conversation-id": conversation_id}


async def find_conversation_id(server: Server, user: User, chat_id: str) -> str | None:
    """The conversation id of a chat id; None for an unknown name of a client."""
    if is_conversation_id(chat_id):
        return chat_id
    return await find_key(server.store.database, user.name, chat_id)


@router.get(
    "/{chat_id}/stream",
    operation_id="follow",
    summary="Stream the current run from its start",
    response_class=Response,
    responses={200: STREAM_RESPONSE, 204: {"description": "no run is in progress"}, **errors(404)},
)
async def follow(chat_id: str, server: CurrentServer, user: CurrentUser, link: CurrentLink) -> Response:
    """Any number of readers may follow a run, from any time on. An unknown client name gets 204."""
    known_id = await find_conversation_id(server, user, chat_id)
    if known_id is None:
        return Response(status_code=204)
    conversation_id, owner = await resolve(server.store.database, known_id, user.name)
    row = await runs.find_running(server.store.database, conversation_id)
    if row is None:
        return Response(status_code=204)
    if live := server.runs.find(row):
        await live.wait_begun()
        if not live.has_started:
            return Response(status_code=204)
    events = for_reader(server.runs.follow(row, late=True), is_owner=owner == user.name)
    return stream_response(server, events, conversation_id, link)


@router.post(
    "/{chat_id}/stop",
    operation_id="stop",
    summary="Stop the current run",
    status_code=204,
    response_class=Response,
    responses=errors(404),
)
async def stop(chat_id: str, server: CurrentServer, user: CurrentUser) -> Response:
    """Text so far is stored, and tool calls in progress are cancelled. Without a run this does nothing."""
    known_id = await find_conversation_id(server, user, chat_id) or chat_id
    conversation_id, _ = await resolve(server.store.database, known_id, user.name, "writer")
    row = server.runs.running_in(conversation_id) or await runs.find_running(server.store.database, conversation_id)
    if row is not None:
        await server.runs.stop(row)
    return Response(status_code=204)
