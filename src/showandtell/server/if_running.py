"""A message that arrives while an answer runs: it stops that answer, waits in line for its end, or is refused.

Only the person whose answer runs may stop it or wait for it; a message of anybody else is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Final, TypeAlias, cast

from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from showandtell.core.events.types import IfRunning
from showandtell.errors import Busy, ShowAndTellError
from showandtell.server.answers import public_message
from showandtell.server.auth.authenticate import User
from showandtell.server.event_stream import EventStream
from showandtell.server.runs.manager import HEARTBEAT_SECONDS, TURN_SECONDS
from showandtell.server.runs.stream_buffer import HEARTBEAT, StreamInterrupted
from showandtell.server.state import Server
from showandtell.storage.conversations.runs import RunRow
from showandtell.storage.database.lease import BUSY

#: Seconds in which an answer has to end once it is stopped.
STOP_SECONDS: Final = 15.0
OF_ANOTHER: Final = "another person's message is being answered in this conversation: send yours when it is answered"
NOT_STOPPED: Final = f"the running answer was stopped, but did not end within {STOP_SECONDS:g} s: send it again"


class AnswerRunning(Exception):
    """An answer runs in the conversation of a request."""

    def __init__(self, run: RunRow) -> None:
        super().__init__()
        self.run = run


class StreamForm(Struct, frozen=True):
    """What a stream in one protocol begins with, and how it says that there will be no answer."""

    headers: Mapping[str, str]
    failure: Callable[[str], bytes]


#: Stores a message in the queue of a conversation, and returns the function that waits until it was sent. None for
#: requests that can't be stored.
Enqueue: TypeAlias = Callable[[str], Awaitable[Callable[[], Awaitable[None]] | None]]


class WaitingRequest(Struct, frozen=True):
    """A request that couldn't be answered yet. `respond` answers it, or raises `AnswerRunning` again.

    With `enqueue`, a message that waits for the end of an answer is stored.
    """

    server: Server
    user: User
    respond: Callable[[], Awaitable[Response]]
    enqueue: Enqueue | None = None

    async def answer(self, if_running: IfRunning, running: RunRow, form: StreamForm) -> Response:
        """Answer it as soon as its client wishes. Raises `Busy`."""
        check_is_own(running, self.user)
        match if_running:
            case "stop":
                return await self._answer_after(running, stop=True)
            case "queue":
                return await self._answer_in_line(running, form)
            case "error":
                raise Busy(BUSY)

    async def _answer_after(self, running: RunRow, *, stop: bool) -> Response:
        """Answer it once the conversation is free."""
        runs = self.server.runs
        while True:
            check_is_own(running, self.user)
            if stop:
                await runs.stop(running)
            try:
                async with asyncio.timeout(STOP_SECONDS if stop else None):
                    await runs.wait_end(running)
            except TimeoutError:
                raise Busy(NOT_STOPPED) from None
            try:
                async with runs.requests.awaited(self.user.name, TURN_SECONDS):
                    return await self.respond()
            except AnswerRunning as found:
                running = found.run

    async def _answer_in_line(self, running: RunRow, form: StreamForm) -> Response:
        """Stream the answer after that of a run. The message is answered even if its client leaves meanwhile."""
        self.server.line.check(self.user.name)
        wait_sent = None if self.enqueue is None else await self.enqueue(running.conversation_id)

        async def wait_and_answer() -> Response:
            async with self.server.line.place(running.conversation_id, self.user.name):
                if wait_sent is None:
                    return await self._answer_after(running, stop=False)
                await wait_sent()
                return await self.respond()

        answer = self.server.runs.hold(asyncio.create_task(wait_and_answer()))
        headers = {**form.headers, "x-conversation-id": running.conversation_id}
        return EventStream(follow(answer, form), headers=headers)


def check_is_own(running: RunRow, user: User) -> None:
    """Raise `Busy` if a run answers another person: it is neither stopped nor waited for."""
    if running.user_id != user.name:
        raise Busy(OF_ANOTHER)


async def follow(answer: asyncio.Task[Response], form: StreamForm) -> AsyncGenerator[bytes]:
    """Yield heartbeats until there is a response, and then its body."""
    while not answer.done():
        yield HEARTBEAT
        await asyncio.wait({answer}, timeout=HEARTBEAT_SECONDS)
    if answer.cancelled():
        raise StreamInterrupted
    try:
        response = answer.result()
    except ShowAndTellError as error:
        yield form.failure(public_message(error))
        return
    if isinstance(response, StreamingResponse):
        async for chunk in cast("AsyncGenerator[bytes]", response.body_iterator):
            yield chunk
    else:
        yield bytes(response.body)
