"""What every stream parser does alike: events are split off, read one by one, and given as one batch a read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import msgspec

from showandtell.core.events.types import (
    FileMade,
    ProviderFault,
    ReasoningStart,
    StepEnd,
    StreamEvent,
    TextStart,
    ToolInputStart,
)
from showandtell.core.wire.aws_eventstream import UNREADABLE
from showandtell.core.wire.usage import within
from showandtell.errors import BadAnswer

T = TypeVar("T")

#: The most bytes that one event may have; no honest one comes near.
LARGEST_EVENT = 32 * 1024 * 1024
#: The most bytes that one answer may have. 128,000 tokens in chunks of 500 bytes are half of it.
LARGEST_ANSWER = 128 * 1024 * 1024
#: The most texts, thoughts, calls and files that one answer may have. An honest one has some hundred; each is stored,
#: planned and sent again with every step, which blocks the event loop for a second or so where they are so many.
MOST_PARTS = 10_000
PARTS = frozenset({TextStart, ReasoningStart, ToolInputStart, FileMade})
#: The most characters of a provider's own words for a fault or an end: they are logged, stored and shown.
MOST_WORDS = 2_000


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


class StreamParser:
    """Takes the bytes of each read; gives one batch of events for it."""

    __slots__ = ("_failed", "_parts", "_reading", "_size", "_splitter")

    def __init__(self, reading: Reading, frames: Frames) -> None:
        self._splitter = frames
        self._reading = reading
        self._failed: BadAnswer | None = None
        self._size = 0
        self._parts = 0

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
        for event in events:  # with no call of a function, for many reads give one event
            if type(event) in PARTS:
                self._parts += 1
        if self._parts > MOST_PARTS:
            self._failed, events = too_many(), []
        if self._reading.done:
            hold_end(events)
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
        hold_end(events)
        return events

    def _too_large(self) -> BadAnswer | None:
        """Give up an event or an answer without end."""
        if self._splitter.waiting > LARGEST_EVENT:
            return BadAnswer(f"an event is larger than {LARGEST_EVENT} bytes")
        if self._size > LARGEST_ANSWER and not self._reading.done:
            return BadAnswer(f"the answer is larger than {LARGEST_ANSWER} bytes")
        return None


Whole: TypeAlias = Callable[[bytes], list[StreamEvent]]


def whole_answer(read: Whole) -> Whole:
    """What every reader of a whole body does alike: a stream's bounds hold, and bytes nobody can read are told."""

    @wraps(read)
    def bounded(data: bytes) -> list[StreamEvent]:
        try:
            events = read(data)
        except UNREADABLE as error:
            raise unreadable(error) from error
        if sum(type(event) in PARTS for event in events) > MOST_PARTS:
            raise too_many()
        hold_end(events)
        return events

    return bounded


def hold_end(events: list[StreamEvent]) -> None:
    """Hold within bounds what a provider says last, if it has: the words, and the tokens."""
    match events[-1] if events else None:
        case StepEnd(stop, usage, detail):
            events[-1] = StepEnd(stop, within(usage), detail[:MOST_WORDS])
        case ProviderFault(text):
            events[-1] = ProviderFault(text[:MOST_WORDS])
        case _:
            pass


def read_aside(decoder: msgspec.json.Decoder[T], raw: bytes | msgspec.Raw) -> T | None:
    """What an answer says beside the point; None where it can't be read, for the answer is as good without it."""
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def type_of(value: Any) -> str | None:
    """The type that a decoded event, block or item says; None where it says none."""
    found = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def too_many() -> BadAnswer:
    """What is told of an answer that has parts without end."""
    return BadAnswer(f"the answer has more than {MOST_PARTS} parts")


def unreadable(error: Exception) -> BadAnswer:
    """What is told of bytes that can't be read."""
    bad = BadAnswer(f"the answer is not what the api promises: {error}")
    bad.__cause__ = error
    return bad
