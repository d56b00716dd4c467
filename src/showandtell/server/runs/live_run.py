"""One run that goes on in this worker: what it was asked, what it has said, and what of that is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from showandtell.core.messages.messages import Draft, Lead
from showandtell.errors import Busy
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations.runs import RunEnd, RunRow, RunUpdate
from showandtell.storage.conversations.stored_conversation import StoredConversation

#: How often a run without news says that its worker is there, in seconds.
BEAT_EVERY = 5.0


class RunRequest(Struct, frozen=True):
    """What a run begins with: what is said, and where; one that goes on where the conversation stands has neither.

    `instructions` are the user's; None: as they are set when it goes on.
    """

    drafts: Sequence[Draft] = ()
    lead: Lead | None = None
    instructions: str | None = None


#: What is told of a message that nobody has taken, so that it can be sent again.
STOPPED = "the answer was stopped before the message was taken: send it again"
LEFT = "the server could not take the message: send it again"
#: What a run ended as that never said so.
FAILED = RunEnd("error", "the server itself failed")


@dataclass(slots=True)
class LiveRun:
    """A run that this worker runs.

    `last` is the end of its stream, which readers get when the end is stored: then the next message may come.
    `spelled` counts the pieces of its tape, that end included, which stand in its log or in `unstored`.
    """

    row: RunRow
    tape: StreamBuffer
    conversation: StoredConversation
    asked: RunRequest
    last: bytes = b""
    over: RunEnd = FAILED
    error: Exception | None = None
    task: asyncio.Task[None] | None = None
    #: Pieces of its log, by their place, that are not known to be stored: they are stored again as they are.
    unstored: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    spelled: int = 0
    seq: int = 0
    beat: float = 0.0
    is_done: bool = False
    is_left: bool = False
    is_stopped: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_said(self) -> bool:
        """Whether the stream has begun, which it does when what is answered is stored."""
        return bool(len(self.tape) or self.last)

    async def begin(self) -> None:
        """Wait until what is answered is stored, and the stream begins. Raises why, where it never does."""
        await self.begun.wait()
        if not len(self.tape):
            raise self.error or Busy(STOPPED if self.is_stopped else LEFT)

    def news(self, now: float) -> RunUpdate | None:
        """What there is to store; None where there is nothing."""
        self._spell()
        if self.unstored or self.is_done or abs(now - self.beat) > BEAT_EVERY:  # a clock may go back
            over = self.over if self.is_done else None
            return RunUpdate(self.row.id, tuple(self.unstored), over, self.row.message_id)
        return None

    def _spell(self) -> None:
        """Make pieces of the log of what is new. A stream's start is one of its own, which late readers skip."""
        length = len(self.tape)
        if self.spelled == 0 and length:
            if self.tape.opening is not None:
                self.unstored.append((0, self.tape.opening.decode()))
            self.unstored.append((1, self.tape.since(0, 1).decode()))
        rest = self.tape.since(max(self.spelled, 1))
        if self.is_done and self.last and self.spelled <= length:
            rest, length = rest + self.last, length + 1
        if rest:
            self.seq = max(self.seq, 1) + 1
            self.unstored.append((self.seq, rest.decode()))
        self.spelled = max(self.spelled, length)

    def stored(self, news: RunUpdate, now: float) -> None:
        """Note that this is stored."""
        del self.unstored[: len(news.said)]
        self.beat = now
