"""What the routes share that take a message: the turn of the user, the conversation, and the new messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request
from msgspec import Struct
from sqlalchemy import Connection
from starlette.responses import Response

from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, Text
from showandtell.errors import BadInput, NotFound, ShowAndTellError
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest, FileId
from showandtell.server.files.receiving import refuse_body
from showandtell.server.idempotency import Decision, decide, possible_keys
from showandtell.server.middleware.body_limits import MAX_CHAT_BODY, receive_limited
from showandtell.server.runs.live_run import RunDiscarded
from showandtell.server.runs.manager import TURN_SECONDS
from showandtell.server.state import Server
from showandtell.storage.conversations import library, runs
from showandtell.storage.conversations.access import ID, AliasTaken
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.runs import RUNNING, RunRow
from showandtell.storage.conversations.sharing import author_of
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.files.sources import stored_facts


async def answer_body(
    request: Request, server: Server, user: User, respond: Callable[[bytes], Awaitable[Response]]
) -> Response:
    """Read the body of a request when it is the user's turn, and respond to it."""
    body = None
    try:
        async with server.runs.requests.awaited(user.name, TURN_SECONDS):
            body = await receive_limited(request.scope, request.receive, MAX_CHAT_BODY)
            if not isinstance(body, bytes):
                return body or Response(status_code=499)  # the client is gone: only metrics and logs see this
            return await respond(body)
    except ShowAndTellError as error:
        if body is not None:
            raise
        return refuse_body(error)


class Place(Struct, frozen=True):
    """A request's conversation; `create` stores a new one."""

    conversation: StoredConversation
    create: Callable[[Connection, float], None] | None = None


async def in_place(
    server: Server, user: User, chat_id: str, respond: Callable[[Place], Awaitable[Response]]
) -> Response:
    """Respond in the conversation of a chat id. A new one is stored with its first run, and deleted if that fails."""
    while True:
        place = await find_or_prepare(server, user, chat_id)
        try:
            return await respond(place)
        except (AliasTaken, RunDiscarded):
            pass  # a concurrent request created it, or nothing of an earlier copy of this request was stored
        except NotFound:
            database = server.store.database
            if place.create is not None or await runs.conversation_exists(database, place.conversation.id):
                raise
            # a concurrent request created it and deleted it


def is_conversation_id(chat_id: str) -> bool:
    """Whether a chat id has the form of this server's conversation ids; any other is a client's own name."""
    return chat_id.startswith("conv_") and ID.fullmatch(chat_id) is not None


async def find_or_prepare(server: Server, user: User, chat_id: str) -> Place:
    """Open the conversation of a chat id, or prepare a new one, of which nothing is stored yet."""
    database = server.store.database
    if is_conversation_id(chat_id):
        return Place(await server.store.open(chat_id, user.name, "writer"))
    conversation_id = await library.find_alias(database, user.name, chat_id)
    if conversation_id is not None:
        try:
            return Place(await server.store.open(conversation_id, user.name, "writer"))
        except NotFound:
            if await runs.conversation_exists(database, conversation_id):
                raise
    return Place(*server.store.prepare(user.name, alias=chat_id))


async def make_drafts(
    server: Server, user: User, request: ChatRequest, conversation: StoredConversation
) -> list[Draft]:
    """The new messages of a request. Raises `BadInput` if it is empty, `NotFound` for a file that isn't the user's."""
    if request.is_regeneration:
        return []
    waiting = {call.call_id for call in waiting_calls(conversation.messages)}
    if request.approvals:
        decisions = {call_id: answer for call_id, answer in request.approvals.items() if call_id in waiting}
        if not decisions:
            raise BadInput("none of these calls is waiting for approval: load the conversation again")
        return [Draft("user", tuple(Approval(call_id, *answer) for call_id, answer in decisions.items()))]
    if request.client_id is None:
        if conversation.messages:
            return []  # continue the conversation
        raise BadInput("there is no message: send text or a file")
    if not request.content:
        raise BadInput("the message is empty: send text or a file")
    max_files = server.config.max_message_files
    files = [part for part in request.content if isinstance(part, FileId)]
    if len(files) > max_files:
        raise BadInput(f"{len(files)} files are too many for one message: send up to {max_files}")
    uploads = server.store.uploads(user.name)
    claimed = {file.id: await uploads.claim(file.id, conversation.id) for file in files}
    await conversation.check_quotas(stored_facts(claimed.values()))
    parts = tuple(Text(part) if isinstance(part, str) else claimed[part.id] for part in request.content)
    author = await author_of(server.store, conversation, user.name) if server.accounts is not None else None
    return [Draft("user", parts, author=author)]


async def find_repeat(server: Server, request: ChatRequest, conversation: StoredConversation) -> Decision:
    """Find out whether the request was sent before."""
    database, messages = server.store.database, conversation.messages
    stored: dict[str, RunRow] = {}
    for key in possible_keys(request, messages):
        run = await runs.find_of_client(database, conversation.id, key)
        if run is not None:
            stored[key] = run
    return decide(request, messages, stored)


async def find_last_run(server: Server, conversation: StoredConversation, row: RunRow) -> RunRow:
    """Return the last run of the answer that a run began, once its message is stored."""
    last = row
    if row.state != RUNNING and row.message_id is not None:  # an approval continues a response in another run
        last = await runs.find_last_of(server.store.database, conversation.id, row.message_id) or row
    return await server.runs.wait_accepted(last) if last.state == RUNNING else last
