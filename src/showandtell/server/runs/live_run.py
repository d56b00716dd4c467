"""A run that this worker executes: its request, its stream, and how much of the stream is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from sqlalchemy import Connection

from showandtell.core.messages.message import BranchPoint, Draft, starts_turn
from showandtell.errors import Busy, ShowAndTellError
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations.runs import RunEnd, RunRow, RunUpdate
from showandtell.storage.conversations.stored_conversation import StoredConversation

#: Seconds after which a run without new data updates its heartbeat in the database.
HEARTBEAT_SECONDS = 1.0


class RunRequest(Struct, frozen=True):
    """The new messages of a run and where they branch off. A run that continues the conversation has neither.

    `settings` is the record to store with the run. `create` stores a new conversation, in the transaction that stores
    the run.
    """

    drafts: Sequence[Draft] = ()
    branch_point: BranchPoint | None = None
    settings: str | None = None
    create: Callable[[Connection, float], None] | None = None

    @property
    def has_question(self) -> bool:
        """Whether the first thing to store is a message of the user."""
        return any(map(starts_turn, self.drafts))


#: Errors for a message that was not stored: the client can send it again.
STOPPED = "the run was stopped before the message was stored: send it again"
NOT_ACCEPTED = "the server could not store the message: send it again"
#: Seconds that a request waits for the run's message to be stored.
START_SECONDS = 15.0
#: The end of a run that sent no `Finish`.
FAILED = RunEnd("error", "internal server error")


class RunDiscarded(Exception):
    """Nothing of a run was stored, so it was deleted."""


class NotStoredYet(ShowAndTellError):
    """The run's message was not stored in time. It may be stored later, but never twice."""

    status = 503

    def __init__(self) -> None:
        super().__init__("the server has not stored the message yet: send it again")


class RunTask(asyncio.Task[None]):
    """The task of a run. If its event loop ends, the run is left to another process.

    That is how a program ends that hosts this application without a lifespan: `asyncio.run` cancels all tasks once the
    loop doesn't run any more. Whatever else cancels a task does so while it runs.
    """

    def __init__(self, live: LiveRun, job: Coroutine[None, None, None]) -> None:
        super().__init__(job)
        self._live = live

    def cancel(self, msg: object = None) -> bool:
        """Cancel the task."""
        if not (self.get_loop().is_running() or self._live.is_done):
            self._live.leave()
        return super().cancel(msg)


@dataclass(slots=True)
class LiveRun:
    """A run that this worker executes.

    `is_stored`, `is_end_stored`: whether its row and its end are. `storing` is held while its row is stored.
    `final_chunk` is the end of the stream. Readers get it after the run's end is stored, so that the next message can
    follow at once; `failed_chunk` makes the end of a run that failed with a message. `logged` counts the chunks of the
    buffer, `final_chunk` included, that are in the log or `unstored`.
    """

    row: RunRow
    buffer: StreamBuffer
    conversation: StoredConversation
    request: RunRequest
    final_chunk: bytes = b""
    failed_chunk: Callable[[str], bytes] = lambda _: b""
    end: RunEnd = FAILED
    error: Exception | None = None
    task: asyncio.Task[None] | None = None
    #: Log entries as (seq, text) that may not be stored yet. A retry writes them unchanged.
    unstored: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    logged: int = 0
    seq: int = 0
    heartbeat: float = 0.0
    is_stored: bool = True
    is_end_stored: bool = False
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_done: bool = False
    is_abandoned: bool = False
    is_stopped: bool = False
    started: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_started(self) -> bool:
        """Whether the stream has started, which it does once the question is stored."""
        return bool(len(self.buffer) or self.final_chunk)

    async def wait_started(self) -> None:
        """Wait for the stream to start. Raises the run's error, or `Busy`, if it never does; `NotStoredYet`."""
        await self.wait_begun()
        if not len(self.buffer):
            raise self.error or Busy(STOPPED if self.is_stopped else NOT_ACCEPTED)

    async def wait_begun(self) -> None:
        """Wait for the stream to start, or for the end of a run that has none. Raises `NotStoredYet`."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.started.wait()
        except TimeoutError:
            raise NotStoredYet from None

    def when_ended(self, use: Callable[[], None]) -> None:
        """Call a function once the run is over and its conversation complete in memory, unless that isn't so."""

        def pass_on(_: asyncio.Task[None]) -> None:
            self.conversation.join(None, None)
            if self.is_end_stored and not self.is_abandoned:
                use()

        if self.task is not None:
            self.task.add_done_callback(pass_on)

    def leave(self) -> None:
        """Leave the run as a crash would: it stores nothing more here, and another process can continue it."""
        self.is_abandoned = True
        self.conversation.lose_turn()

    def next_update(self, now: float) -> RunUpdate | None:
        """The data to store next; None if there is nothing."""
        if not self.is_stored or self.is_end_stored:
            return None
        self._collect()
        if self.unstored or self.is_done or abs(now - self.heartbeat) > HEARTBEAT_SECONDS:  # a clock may go back
            end = self.end if self.is_done else None
            return RunUpdate(self.row.id, tuple(self.unstored), end, self.row.message_id)
        return None

    def _collect(self) -> None:
        """Turn new chunks into log entries. The stream's start is one of its own: late readers skip it."""
        length = len(self.buffer)
        if self.logged == 0 and length:
            if self.buffer.opening is not None:
                self.unstored.append((0, self.buffer.opening.decode()))
            self.unstored.append((1, self.buffer.slice(0, 1).decode()))
        rest = self.buffer.slice(max(self.logged, 1))
        if self.is_done and self.final_chunk and self.logged <= length:
            rest, length = rest + self.final_chunk, length + 1
        if rest:
            self.seq = max(self.seq, 1) + 1
            self.unstored.append((self.seq, rest.decode()))
        self.logged = max(self.logged, length)

    def mark_stored(self, update: RunUpdate, now: float) -> None:
        """Note that an update is stored."""
        del self.unstored[: len(update.chunks)]
        self.heartbeat = now
        self.is_end_stored = update.end is not None

    def fail(self, message: str) -> None:
        """End with an error, after the end that was to be stored with the last message could not be."""
        complete, self.final_chunk = self.final_chunk, self.failed_chunk(message)
        self.end = RunEnd("error", message)
        if self.unstored:
            seq, data = self.unstored[-1]
            self.unstored[-1] = (seq, data.removesuffix(complete.decode()) + self.final_chunk.decode())
