"""Sends pending messages: the next one when an answer has ended well, or any that a person wants to send now.

Each worker looks at a conversation when an answer ends there, and at all conversations every second, since another
worker may have ended the answer, or died. A message is claimed, sent under its client id, and deleted once it is
stored. Whatever ends in between, the next attempt finds the run that it has started, or starts it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from typing import Final

from starlette.responses import Response

from showandtell.core.ui_stream.chunks import QueueData, serialize
from showandtell.errors import Busy, NotFound, ShowAndTellError, StorageFailed, TooBusy
from showandtell.media.turns import Caller, caller
from showandtell.server.answers import public_message
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest, FileId
from showandtell.server.drafts import uploaded
from showandtell.server.if_running import AnswerRunning, StreamForm, WaitingRequest
from showandtell.server.model_choice import check_model
from showandtell.server.new_messages import Place, find_or_start, in_place
from showandtell.server.runs.live_run import STOPPED, NotStoredYet
from showandtell.server.runs.manager import TURN_SECONDS
from showandtell.server.state import Server
from showandtell.storage.conversations import pending_messages, runs
from showandtell.storage.conversations.access import resolve
from showandtell.storage.conversations.pending_messages import (
    PendingContent,
    PendingFile,
    PendingMessage,
    PendingText,
)
from showandtell.storage.database.garbage_collection import collect_now

log = logging.getLogger(__name__)

#: Maximum characters of a message. Longer ones are sent when nothing runs, or as a file.
MAX_TEXT: Final = 100_000
#: Seconds between two looks at all conversations.
CHECK_SECONDS: Final = 1.0
#: Seconds that a reader of a conversation waits for another worker that sends the next message, and between two looks.
SENDING_SECONDS, LOOK_SECONDS = 3.0, 0.05
#: Maximum number of messages that a worker sends at once.
MAX_SENDING: Final = 8
#: Tells readers of an answer that messages behind it have changed. It is no part of the answer's stream.
QUEUE_CHANGED: Final = serialize(QueueData({}))
REMOVED: Final = "this message was removed before it was sent"
#: A request to send a message now has no stream.
NO_STREAM: Final = StreamForm({}, str.encode)


async def send_next(server: Server, conversation_id: str) -> None:
    """Send the next message of a conversation, if it may be sent. Raises what prevents that."""
    database = server.store.database
    async with server.pending.lock(conversation_id):
        queue = await pending_messages.read_queue(database, conversation_id)
        for message in queue.messages:
            if message.id in queue.sent:
                await delete(server, message)
        message = None if server.runs.is_leaving else queue.next(server.clock())
        if message is None:
            return
        async with server.runs.requests.awaited(message.user_id, TURN_SECONDS):
            if await pending_messages.claim(database, message, server.clock()):
                await send_claimed(server, message)


async def send_claimed(server: Server, message: PendingMessage) -> None:
    """Send a message that is claimed, and delete it.

    Raises what prevents that: `AnswerRunning`, and errors that may pass. Any other is stored with the message, too.
    """
    database, user = server.store.database, User(message.user_id, "bearer")
    problem: str | None = None
    try:
        if await may_write(server, message):
            await start(server, user, message)
        await delete(server, message)
    except (AnswerRunning, TooBusy, StorageFailed, NotStoredYet):
        raise
    except Busy as error:
        problem = STOPPED if str(error) == STOPPED else None
        raise
    except Exception as error:
        problem = public_message(error)
        raise
    finally:
        await pending_messages.release(database, message, problem)  # finds nothing if it is deleted


async def may_write(server: Server, message: PendingMessage) -> bool:
    """Whether the user may still write in the conversation."""
    try:
        await resolve(server.store.database, message.conversation_id, message.user_id, "writer")
    except NotFound:
        return False
    return True


async def start(server: Server, user: User, message: PendingMessage) -> None:
    """Start the run of a message, unless that was done before. Returns once the message is stored."""
    caller.set(Caller(user.name))  # the request that stored it has ended
    content = message.content
    parts = tuple(part.text if isinstance(part, PendingText) else FileId(part.id) for part in content.parts)
    request = ChatRequest(
        message.conversation_id,
        message.client_id,
        parts,
        {},
        "submit-message",
        None,
        content.model,
        "error",
        lift=content.lift,
    )

    async def respond(place: Place) -> Response:
        row, live = await find_or_start(server, user, request, place)
        if live is None:
            await server.runs.wait_accepted(row)
        return Response(status_code=204)

    await in_place(server, user, message.conversation_id, message.client_id, respond)


async def send_now(server: Server, user: User, id: str, revision: int) -> None:  # noqa: A002 - it is one
    """Send a message of the user before all others; an answer to the user that runs is stopped.

    Raises `NotFound`, `Busy` for an older revision, and what prevents sending.
    """
    database = server.store.database
    message = await pending_messages.find(database, id, user.name)
    pending_messages.check_unchanged(message, revision, server.clock())

    async def respond() -> Response:
        await send_own(server, message, revision, first=True)
        return Response(status_code=204)

    try:
        async with server.runs.requests.awaited(user.name, TURN_SECONDS):
            await respond()
    except AnswerRunning as found:
        await WaitingRequest(server, user, respond).answer("stop", found.run, NO_STREAM)


async def send_own(
    server: Server, message: PendingMessage, revision: int | None = None, *, first: bool = False
) -> None:
    """Send a message for its user, unless that was done before. Raises `NotFound` if it was removed."""
    database = server.store.database
    async with server.pending.lock(message.conversation_id):
        if await runs.find_of_client(database, message.conversation_id, message.client_id) is None:
            now = await pending_messages.find(database, message.id, message.user_id)
            if revision is not None:
                pending_messages.check_unchanged(now, revision, server.clock())
            if await pending_messages.claim(database, now, server.clock(), first=first):
                await send_claimed(server, now)


async def store_waiting(
    server: Server, user: User, request: ChatRequest, conversation_id: str
) -> PendingMessage | None:
    """Store the message of a request that waits for the end of an answer. None unless it is a new one of usual size."""
    is_new = request.client_id is not None and request.message_id is None and not request.approvals
    length = sum(len(part) for part in request.content if isinstance(part, str))
    if request.client_id is None or not (is_new and request.content) or request.is_regeneration or length > MAX_TEXT:
        return None
    async with uploaded(server, user, request) as content:
        parts = tuple(PendingText(part) if isinstance(part, str) else PendingFile(part.id) for part in content)
        message = await pending_messages.add(
            server.store.database,
            conversation_id,
            user.name,
            request.client_id,
            PendingContent(parts, request.model and check_model(request.model), request.lift),
            server.clock(),
        )
    server.pending.add(conversation_id)
    return message


async def send_in_turn(server: Server, user: User, message: PendingMessage) -> None:
    """Wait until a message was sent, or send it when it is next: its client waits, whatever became of the last answer.

    Raises what prevents that. The message is deleted then, unless it may be sent later.
    """
    database, conversation_id = server.store.database, message.conversation_id
    try:
        while await runs.find_of_client(database, conversation_id, message.client_id) is None:
            running = await runs.find_running(database, conversation_id)
            if running is not None:
                await server.runs.wait_end(running)
                continue
            queue = await pending_messages.read_queue(database, conversation_id)
            now, due = server.clock(), queue.next(server.clock())
            if all(other.id != message.id for other in queue.messages):
                if await runs.find_of_client(database, conversation_id, message.client_id) is None:
                    raise Busy(REMOVED)
                return
            if any(other.is_claimed(now) for other in queue.messages) or (due is not None and due.id != message.id):
                await asyncio.sleep(LOOK_SECONDS)  # another one is sent first
                continue
            with suppress(AnswerRunning):
                async with server.runs.requests.awaited(user.name, TURN_SECONDS):
                    await send_own(server, message)
    except (StorageFailed, NotStoredYet):
        raise
    except ShowAndTellError:
        await delete(server, message)
        raise


async def delete(server: Server, message: PendingMessage) -> None:
    """Delete a message that was sent, or can't be any more."""
    keys = await pending_messages.discard(server.store.database, message)
    await collect_now(server.store.database, server.store.blobs, keys)


async def wait_sent(server: Server, conversation_id: str) -> None:
    """Send the next message of a conversation if that is due, or wait until another worker has done so.

    Waits for `SENDING_SECONDS` at most.
    """

    async def send() -> None:
        while True:
            await send_next(server, conversation_id)
            queue = await pending_messages.read_queue(server.store.database, conversation_id)
            if queue.running or not any(message.is_claimed(server.clock()) for message in queue.messages):
                return
            await asyncio.sleep(LOOK_SECONDS)

    sending = server.runs.hold(asyncio.create_task(attempt(send())))
    await asyncio.wait({sending}, timeout=SENDING_SECONDS)


async def send_forever(server: Server) -> None:
    """Send what is due in all conversations, until this task is cancelled."""
    slots = asyncio.Semaphore(MAX_SENDING)

    async def look(conversation_id: str) -> None:
        async with slots:
            await attempt(send_next(server, conversation_id))

    async def check_regularly() -> None:
        while True:
            await attempt(check_all(server))
            await asyncio.sleep(CHECK_SECONDS)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(check_regularly())
        while True:
            for conversation_id in await server.pending.wait_woken():
                tasks.create_task(look(conversation_id))


async def check_all(server: Server) -> None:
    """Tell readers of running answers what has changed behind them, and look soon at what may be sent."""
    server.pending.begin_look()
    active = await pending_messages.list_active(server.store.database)
    for conversation_id in server.pending.find_changed(active):
        server.runs.notify(conversation_id, QUEUE_CHANGED)
    for conversation_id, (running, _) in active.items():
        if not running:
            server.pending.wake(conversation_id)


async def attempt(job: Awaitable[None]) -> None:
    """Wait for a job, which is tried again later if it fails."""
    try:
        await job
    except AnswerRunning:
        pass
    except ShowAndTellError as error:
        log.warning("pending messages can't be sent: %s", error)
    except Exception:  # later ones are sent after any error
        log.exception("pending messages can't be sent")
