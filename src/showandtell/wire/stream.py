"""What every stream parser does alike: events are split off, read one by one, and given as one batch a read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from showandtell.errors import BadAnswer
from showandtell.events.types import StreamEvent
from showandtell.sse import Splitter

#: The most bytes that one event may have; no honest one comes near.
LARGEST_EVENT = 32 * 1024 * 1024
#: The most bytes that one answer may have. 128,000 tokens in chunks of 500 bytes are half of it.
LARGEST_ANSWER = 128 * 1024 * 1024
#: What decoding bytes that nobody vouches for may raise: not JSON, not UTF-8, of other types, nested too deep.
UNREADABLE = (msgspec.MsgspecError, RecursionError, ValueError)


class Reading(Protocol):
    """What an api's own reader keeps between events. `done` after the end or a fault."""

    done: bool

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event; raises `BadAnswer` or what is `UNREADABLE`."""
        ...

    def end(self, events: list[StreamEvent]) -> None:
        """Say how the message ended, once."""
        ...


class Frames(Protocol):
    """How the events of a body lie in its bytes: server-sent events, or AWS's binary frames."""

    @property
    def waiting(self) -> int:
        """How many bytes belong to an event that isn't whole yet."""
        ...

    def feed(self, data: bytes) -> list[bytes]:
        """Take the bytes of one read; give the JSON of every event that they complete. May raise `BadAnswer`."""
        ...


class Parser(Protocol):
    """The bytes of one read give one batch."""

    @property
    def done(self) -> bool:
        """Whether nothing that may still come counts."""
        ...

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """More bytes."""
        ...

    def finish(self) -> Sequence[StreamEvent]:
        """There are no more bytes."""
        ...


class StreamParser:
    """Takes the bytes of each read; gives one batch of events for it."""

    __slots__ = ("_failed", "_reading", "_size", "_splitter")

    def __init__(self, reading: Reading, frames: Frames | None = None) -> None:
        self._splitter: Frames = frames or Splitter()
        self._reading = reading
        self._failed: BadAnswer | None = None
        self._size = 0

    @property
    def done(self) -> bool:
        """Whether nothing that may still come counts: the message has ended, or can't be read."""
        return self._reading.done or self._failed is not None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Events of one read, none after the end or a fault.

        Raises `BadAnswer` where data is not the api's JSON, but never before the events that came first are given.
        """
        if self._failed is not None:
            raise self._failed
        events: list[StreamEvent] = []
        self._size += len(data)
        try:
            for text in self._splitter.feed(data):
                if self._reading.done:
                    break
                self._reading.read(text, events)
        except BadAnswer as error:
            self._failed = error
        except UNREADABLE as error:
            self._failed = unreadable(error)
        # A read that gave something has emptied the splitter but for less than itself.
        if not events or self._size > LARGEST_ANSWER:
            self._failed = self._failed or self._too_large()
            if self._failed is not None and not events:
                raise self._failed
        return events

    def finish(self) -> list[StreamEvent]:
        """End the body: "cut" unless the provider said why it ended; nothing where the end was told already."""
        if self._failed is not None:
            raise self._failed
        # Frames may hold back an error until what came before it is given: then this raises.
        events = [] if self._reading.done else self.feed(b"")
        self._reading.end(events)
        return events

    def _too_large(self) -> BadAnswer | None:
        """Give up an event or an answer without end."""
        if self._splitter.waiting > LARGEST_EVENT:
            return BadAnswer(f"an event is larger than {LARGEST_EVENT} bytes")
        if self._size > LARGEST_ANSWER and not self._reading.done:
            return BadAnswer(f"the answer is larger than {LARGEST_ANSWER} bytes")
        return None


def unreadable(error: Exception) -> BadAnswer:
    """What is told of bytes that can't be read."""
    bad = BadAnswer(f"the answer is not what the api promises: {error}")
    bad.__cause__ = error
    return bad
