"""What the routes share that take a message: the turn of the user, the conversation, and the run that is started."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

from fastapi import Request
from msgspec import Struct, structs
from sqlalchemy import Connection
from starlette.responses import Response

from showandtell.core.events.types import IfRunning
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.message import BranchPoint
from showandtell.errors import NotFound, ShowAndTellError
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest
from showandtell.server.conversation_choices import check_settings
from showandtell.server.drafts import new_drafts
from showandtell.server.files.receiving import refuse_body
from showandtell.server.idempotency import Decision, decide, find_branch_point, possible_keys, starts_branch
from showandtell.server.if_running import AnswerRunning, StreamForm, WaitingRequest
from showandtell.server.middleware.body_limits import (
    BODY_TIMEOUT,
    MAX_CHAT_BODY,
    SMALL_CHAT_BODY,
    receive_limited,
)
from showandtell.server.model_choice import ModelChoice, choose_model, remember_model
from showandtell.server.runs.agents import NO_SETTINGS
from showandtell.server.runs.live_run import LiveRun, RunDiscarded, RunRequest
from showandtell.server.runs.manager import TURN_SECONDS
from showandtell.server.state import Server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.access import not_found
from showandtell.storage.conversations.heads import Head, is_conversation_id, read_head
from showandtell.storage.conversations.keys import KeyTaken
from showandtell.storage.conversations.runs import RUNNING, RunRefused, RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.database.lease import Outdated


class Asked(Protocol):
    """What a request asks for."""

    @property
    def if_running(self) -> IfRunning:
        """What happens to an answer that runs already."""
        ...


A = TypeVar("A", bound=Asked)


async def answer_body(
    request: Request,
    server: Server,
    user: User,
    parse: Callable[[bytes], A],
    respond: Callable[[A], Awaitable[Response]],
    *,
    form: StreamForm,
    enqueue: Callable[[A, str], Awaitable[Callable[[], Awaitable[None]] | None]] | None = None,
) -> Response:
    """Read the body of a request when it is the user's turn, and respond to it, after a running answer if need be.

    `enqueue` stores a message that has to wait in a conversation, as `if_running.Enqueue` does.
    """
    body = None
    try:
        async with body_turn(request, server, user) as (limit, seconds):
            body = await receive_limited(request.scope, request.receive, limit, seconds)
            if not isinstance(body, bytes):
                return body or Response(status_code=499)  # the client is gone: only metrics and logs see this
            asked = parse(body)
            body = b""  # the message may wait
            try:
                return await respond(asked)
            except AnswerRunning as found:
                running = found.run
    except ShowAndTellError as error:
        if body is not None:
            raise
        return refuse_body(error)
    store = None if enqueue is None else partial(enqueue, asked)
    return await WaitingRequest(server, user, lambda: respond(asked), store).answer(asked.if_running, running, form)


@asynccontextmanager
async def body_turn(request: Request, server: Server, user: User) -> AsyncGenerator[tuple[int, float]]:
    """Wait for the user's turn to send a message. Yields the maximum of bytes, and of seconds in which they arrive."""
    length = request.headers.get("content-length", "")
    async with server.runs.requests.awaited(user.name, TURN_SECONDS):
        if not length.isdecimal() or int(length) <= SMALL_CHAT_BODY:
            yield SMALL_CHAT_BODY, BODY_TIMEOUT
            return
        async with server.store.upload_turns.awaited(user.name, TURN_SECONDS):
            yield MAX_CHAT_BODY, MAX_CHAT_BODY / SMALL_CHAT_BODY * BODY_TIMEOUT


class Place(Struct, frozen=True):
    """A request's conversation, and its head; `create` stores a new one."""

    conversation: StoredConversation
    head: Head
    create: Callable[[Connection, float], None] | None = None


async def in_place(
    server: Server,
    user: User,
    chat_id: str,
    client_id: str | None,
    respond: Callable[[Place], Awaitable[Response]],
    *,
    settings: ConversationSettings | None = None,
) -> Response:
    """Respond in the conversation of a chat id. A new one is stored with its first run, and deleted if that fails.

    `settings` are those of a new one.
    """
    while True:
        place = await find_or_prepare(server, user, chat_id, client_id, settings or NO_SETTINGS)
        if place is None:  # a concurrent request deletes it
            continue
        try:
            return await respond(place)
        except (KeyTaken, RunDiscarded):
            pass  # a concurrent request created it, or nothing of an earlier copy of this request was stored
        except NotFound:
            database = server.store.database
            if place.create is not None or await runs.conversation_exists(database, place.conversation.id):
                raise
            # a concurrent request created it and deleted it


async def find_or_prepare(
    server: Server, user: User, chat_id: str, client_id: str | None, settings: ConversationSettings
) -> Place | None:
    """Open the conversation of a chat id, or prepare a new one with `settings`, of which nothing is stored yet.

    None if it is being deleted. Raises `NotFound` for one in which the user may not write, and `BadInput` for settings
    that a new one can't have.
    """
    head = await read_head(server.store.database, user.name, chat_id, client_id)
    if head.id is None:
        if is_conversation_id(chat_id):
            raise not_found(chat_id)
        if head.is_named:
            return None
        if settings != NO_SETTINGS:
            await check_settings(server, user, settings, head.preferences)
        conversation, create = server.store.prepare(user.name, key=chat_id, settings=settings)
        return Place(conversation, structs.replace(head, settings=settings), create)
    kept = server.conversations.take(head.id, user.name, head.version, is_free=head.is_free)
    try:
        return Place(kept or await server.store.open(head.id, user.name, "writer"), head)
    except NotFound:
        if await runs.conversation_exists(server.store.database, head.id):
            raise
        return None


async def start_run(
    server: Server, user: User, place: Place, choice: ModelChoice, request: RunRequest, *, key: str | None
) -> tuple[RunRow, LiveRun | None]:
    """Start a run, and wait until its stream has started.

    If the client's message started one already, returns that run's row and None. Raises `AnswerRunning` while the
    conversation has another one.
    """
    database, conversation = server.store.database, place.conversation
    try:
        live = await server.runs.start(conversation, user.name, choice.model, key, request)
        await live.wait_started()
    except Outdated:
        raise RunDiscarded from None
    except RunRefused:
        same = key and await runs.find_of_client(database, conversation.id, key)
        if same:
            return same, None
        if not await runs.conversation_exists(database, conversation.id):
            raise not_found(conversation.id) from None
        running = await runs.find_running(database, conversation.id)
        if running is None:  # it has ended meanwhile
            raise RunDiscarded from None
        raise AnswerRunning(running) from None
    live.when_ended(lambda: server.conversations.keep(conversation, user.name))
    live.when_ended(lambda: server.pending.wake_known(conversation.id))
    await remember_model(server, user, choice.model, place.head.preferences)
    return live.row, live


async def find_repeat(server: Server, request: ChatRequest, place: Place) -> Decision:
    """Find out whether the request was sent before."""
    database, conversation = server.store.database, place.conversation
    messages, stored = conversation.messages, dict[str, RunRow]()
    for key in possible_keys(request, messages):
        is_read = key == request.client_id
        run = place.head.run if is_read else await runs.find_of_client(database, conversation.id, key)
        if run is not None:
            stored[key] = run
    return decide(request, messages, stored)


async def find_or_start(
    server: Server, user: User, request: ChatRequest, place: Place
) -> tuple[RunRow, LiveRun | None]:
    """Start the run of a request, as `start_run` does; a repeated request gets the run that it started before."""
    conversation = place.conversation
    repeat = await find_repeat(server, request, place)
    if repeat.run is not None:
        return repeat.run, None
    choice = await choose_model(server, user, request, conversation, place.head)
    async with new_drafts(server, user, request, conversation) as drafts:
        branch_point = await read_branch_point(server, request, conversation)
        run_request = RunRequest(drafts, branch_point, choice.settings, place.create)
        return await start_run(server, user, place, choice, run_request, key=repeat.key)


async def read_branch_point(
    server: Server, request: ChatRequest, conversation: StoredConversation
) -> BranchPoint | None:
    """The message that a new branch follows; None if the request starts no branch. Raises `NotFound`."""
    if not starts_branch(request):
        return None
    run = None
    if request.message_id is not None:
        run = await runs.find_of_client(server.store.database, conversation.id, request.message_id)
    return find_branch_point(request, conversation.messages, await conversation.everything(), run)


async def find_last_run(server: Server, conversation: StoredConversation, row: RunRow) -> RunRow:
    """Return the last run of the answer that a run began, once its message is stored."""
    last = row
    if row.state != RUNNING and row.message_id is not None:  # an approval continues a response in another run
        last = await runs.find_last_of(server.store.database, conversation.id, row.message_id) or row
    return await server.runs.wait_accepted(last) if last.state == RUNNING else last
