"""The chat itself: ask, follow, stop. The server owns the history, and a run goes on whoever reads it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from showandtell.core.messages.messages import Draft, Lead, begins_turn
from showandtell.core.messages.parts import Approval, Text
from showandtell.core.ui_stream.chunks import HEADERS
from showandtell.core.ui_stream.stream import question_id
from showandtell.errors import BadInput, Busy, NotFound, UnknownModel
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser, User
from showandtell.server.chat_request import ChatRequest, FileId, parse_chat_request
from showandtell.server.runs.execute import replay_run
from showandtell.server.runs.live_run import RunRequest
from showandtell.server.schemas import errors
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations import library, runs
from showandtell.storage.conversations.access import ID, NO_TEXT, resolve
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.preferences import read_preferences
from showandtell.storage.conversations.runs import RUNNING, RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation

router = APIRouter(prefix="/api/chat", tags=["chat"])

#: The most letters of a model's name: what is made for it is kept for a while.
MOST_MODEL = 500

STREAM: dict[str, Any] = {
    "content": {"text/event-stream": {"schema": {"type": "string"}, "example": openapi_examples.STREAM}},
    "description": "the UI message stream, version 1",
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["id", "messages"],
                    "properties": {
                        "id": {"type": "string", "description": "the client's own name for the chat, or an id of ours"},
                        "messages": {
                            "type": "array",
                            "items": {"type": "object"},
                            "description": "the last one counts",
                        },
                        "trigger": {"enum": ["submit-message", "regenerate-message"]},
                        "messageId": {"type": ["string", "null"], "description": "the message to edit or answer again"},
                        "model": {"type": ["string", "null"], "description": "provider:model, or inspector"},
                    },
                },
                "example": openapi_examples.ASKED,
            }
        },
    }
}


@router.post(
    "",
    operation_id="chat",
    summary="Say something, and read the answer as it is made",
    response_class=Response,
    responses={200: STREAM, **errors(404, 409, 413, 415, 422, 507)},
    openapi_extra=BODY,
)
async def chat(request: Request, here: CurrentServer, user: CurrentUser) -> Response:
    """The answer to a new message, to an edited one, to an approval, or to an earlier message once more."""
    asked = parse_chat_request(await request.body())
    return await answer_in_chat(here, user, asked, await choose(here, user, asked))


class Chosen(Struct, frozen=True):
    """Who answers, and what the user's settings tell it."""

    model: str
    instructions: str


async def answer_in_chat(here: Server, user: User, asked: ChatRequest, chosen: Chosen) -> Response:
    """The answer in the conversation that is meant, which is made where it isn't there, and dropped if unused."""
    conversation, is_new = await find_or_create(here, user, asked.chat_id)
    try:
        return await answer(here, user, asked, conversation, chosen)
    except BaseException as error:
        database = here.store.database
        if is_new:
            await runs.drop_unused(database, conversation.id)
        elif isinstance(error, NotFound) and not await runs.is_there(database, conversation.id):
            return await answer_in_chat(here, user, asked, chosen)  # who made it said nothing in it, and dropped it
        raise


async def choose(here: Server, user: User, asked: ChatRequest) -> Chosen:
    """Who answers: whom the request names, or the user's settings, or the server's. Raises before anything is made."""
    set_by_user = await read_preferences(here.store.database, user.name)
    model = asked.model or set_by_user.model or here.config.default_model
    if len(model) > MOST_MODEL or NO_TEXT.search(model):
        raise UnknownModel(f"there is no model {model!r:.40}: name one of up to {MOST_MODEL} letters, without NUL")
    here.agents.of(model, set_by_user.instructions)
    return Chosen(model, set_by_user.instructions)


def is_ours(chat_id: str) -> bool:
    """Whether a chat's name is an id that this server gives; any other is a client's own."""
    return chat_id.startswith("conv_") and ID.fullmatch(chat_id) is not None


async def find_or_create(here: Server, user: User, chat_id: str) -> tuple[StoredConversation, bool]:
    """The conversation that a client means, which is made where it names a new one; and whether it was."""
    database = here.store.database
    if is_ours(chat_id):
        return await here.store.open(chat_id, user.name, "writer"), False
    known = await library.find_alias(database, user.name, chat_id)
    if known is not None:
        try:
            return await here.store.open(known, user.name, "writer"), False
        except NotFound:
            if await runs.is_there(database, known):
                raise
    try:
        return await here.store.create(user.name, alias=chat_id), True
    except Busy:  # somebody was faster
        return await find_or_create(here, user, chat_id)


async def answer(
    here: Server, user: User, asked: ChatRequest, conversation: StoredConversation, chosen: Chosen
) -> Response:
    """Begin the run that a request asks for, and stream it from its start."""
    database = here.store.database
    client_id = idempotency_key(asked, conversation)
    before = client_id and await runs.find_of_client(database, conversation.id, client_id)
    if before and client_id and was_left_by_a_branch(asked, before, conversation):
        client_id = f"{client_id} {conversation.head}"
        before = await runs.find_of_client(database, conversation.id, client_id)
    if before:
        return await replay_or_follow(here, conversation, before)
    drafts = await drafts_of(here, user, asked, conversation)
    lead = await lead_of(here, asked, conversation)
    task = RunRequest(drafts, lead, chosen.instructions)
    row, going = await here.runs.begin(conversation, user.name, chosen.model, client_id, task)
    if going is None:
        return await replay_or_follow(here, conversation, row)
    await going.begin()
    return stream(going.tape.follow(), conversation.id)


def idempotency_key(asked: ChatRequest, conversation: StoredConversation) -> str | None:
    """By what the same message is known when it comes twice; an edited one, or a yes, by what it says now.

    Another answer may ask for the same again, by the same id of a call: a yes is one to the message that asked.
    """
    if asked.approvals:
        asking = (
            one.id for one in reversed(conversation.messages) if any(c.call_id in asked.approvals for c in one.calls)
        )
        return f"approval {next(asking, '')} {hash_of(sorted(asked.approvals.items()))}"
    if asked.client_id is None or asked.message_id is None:
        return asked.client_id
    return f"{asked.message_id} {hash_of(asked.said)}"


def hash_of(said: object) -> str:
    """The same for what says the same."""
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def was_left_by_a_branch(asked: ChatRequest, before: RunRow, conversation: StoredConversation) -> bool:
    """Whether an edit says again what an earlier one said, from which another has led away since."""
    is_here = before.message_id in {one.id for one in conversation.messages}
    return asked.message_id is not None and not asked.approvals and before.state != RUNNING and not is_here


async def drafts_of(here: Server, user: User, asked: ChatRequest, conversation: StoredConversation) -> list[Draft]:
    """What is said in a request. Raises `BadInput` where that is nothing, and `NotFound` for a file of others."""
    if asked.trigger == "regenerate-message":
        return []
    waiting = {call.call_id for call in waiting_calls(conversation.messages)}
    if asked.approvals:
        answered = {call_id: answer for call_id, answer in asked.approvals.items() if call_id in waiting}
        if not answered:
            raise BadInput("none of these calls waits for a yes or no any more: load the conversation again")
        return [Draft("user", tuple(Approval(call_id, *answer) for call_id, answer in answered.items()))]
    if asked.client_id is None:
        if conversation.messages:
            return []  # go on where it stands
        raise BadInput("there is nothing to answer: say something, or send a file")
    if not asked.said:
        raise BadInput("the message is empty: say something, or send a file")
    most = here.config.max_message_files
    files = [one for one in asked.said if isinstance(one, FileId)]
    if len(files) > most:
        raise BadInput(f"{len(files)} files are too many for one message: send up to {most}")
    uploads = here.store.uploads(user.name)
    claimed = {one.id: await uploads.claim(one.id, conversation.id) for one in files}
    return [Draft("user", tuple(Text(one) if isinstance(one, str) else claimed[one.id] for one in asked.said))]


async def lead_of(here: Server, asked: ChatRequest, conversation: StoredConversation) -> Lead | None:
    """Behind which message a branch begins, where an earlier one is edited or answered again."""
    again = asked.trigger == "regenerate-message"
    if not again and (asked.message_id is None or asked.client_id is None):
        return None  # beside an approval the stock client names the newest message, which isn't edited
    said = {one.id: one for one in await conversation.everything() if begins_turn(one)}
    if asked.message_id is None:
        meant = next((one.id for one in reversed(conversation.messages) if one.id in said), None)
    else:
        meant = await ours(here, asked.message_id, conversation)
    if meant not in said:
        raise NotFound(f"there is no message {str(asked.message_id)[:40]!r}: load the conversation again")
    return Lead(meant if again else said[meant].parent_id)


async def ours(here: Server, message_id: str, conversation: StoredConversation) -> str | None:
    """The id of the user's message that a client means by its own id, by ours, or by that of the answer to it."""
    if (question := question_id(message_id)) != message_id:
        return question
    row = await runs.find_of_client(here.store.database, conversation.id, message_id)
    return row.message_id if row is not None else message_id


async def replay_or_follow(here: Server, conversation: StoredConversation, row: RunRow) -> Response:
    """The stream of a run that was begun by the same message before. Raises `NotFound` where another branch has it."""
    last = row
    if row.state != RUNNING and row.message_id is not None:  # after an approval its answer goes on in another run
        last = await runs.find_last_of(here.store.database, conversation.id, row.message_id) or row
    if last.state == RUNNING:
        if going := here.runs.find(last):
            await going.begin()
        return stream(here.runs.follow(last, late=last is not row), conversation.id)
    await conversation.refresh()  # it was read before its runs were, and what has ended since is not in it
    return Response(await replay_run(conversation, row, last), headers=headers_of(conversation.id))


def stream(pieces: AsyncIterator[bytes], conversation_id: str) -> Response:
    """A stream of events."""
    return StreamingResponse(pieces, headers=headers_of(conversation_id))


def headers_of(conversation_id: str) -> dict[str, str]:
    """The headers of a stream of events."""
    return {**HEADERS, "x-conversation-id": conversation_id}


async def find_meant(here: Server, user: User, chat_id: str) -> str | None:
    """The id that a chat's name stands for; None: a client's own name that is new."""
    return chat_id if is_ours(chat_id) else await library.find_alias(here.store.database, user.name, chat_id)


@router.get(
    "/{chat_id}/stream",
    operation_id="follow",
    summary="Read the answer that is being made, from its start",
    response_class=Response,
    responses={200: STREAM, 204: {"description": "nothing is being answered"}, **errors(404)},
)
async def follow(chat_id: str, here: CurrentServer, user: CurrentUser) -> Response:
    """Any number of readers, at any time. A client's own name that is new has nothing to read yet."""
    meant = await find_meant(here, user, chat_id)
    if meant is None:
        return Response(status_code=204)
    conversation_id, _ = await resolve(here.store.database, meant, user.name)
    row = await runs.find_running(here.store.database, conversation_id)
    if row is None:
        return Response(status_code=204)
    if going := here.runs.find(row):
        await going.begun.wait()
        if not going.has_said:
            return Response(status_code=204)
    return stream(here.runs.follow(row, late=True), conversation_id)


@router.post(
    "/{chat_id}/stop",
    operation_id="stop",
    summary="Stop the answer that is being made",
    status_code=204,
    response_class=Response,
    responses=errors(404),
)
async def stop(chat_id: str, here: CurrentServer, user: CurrentUser) -> Response:
    """What was said so far stays, and calls that run are ended; nothing to stop is no error."""
    meant = await find_meant(here, user, chat_id) or chat_id
    conversation_id, _ = await resolve(here.store.database, meant, user.name, "writer")
    row = await runs.find_running(here.store.database, conversation_id)
    if row is not None:
        await here.runs.stop(row)
    return Response(status_code=204)
