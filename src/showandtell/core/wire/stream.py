"""Stream parsing shared by all APIs: split off events, read them one by one, return one batch per network read."""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import suppress
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import msgspec

from showandtell.core.events.types import (
    BlockRead,
    FileMade,
    ProviderFault,
    ReasoningStart,
    StepEnd,
    StreamEvent,
    TextStart,
    ToolInputStart,
)
from showandtell.core.wire.aws_eventstream import DECODE_ERRORS
from showandtell.core.wire.halves import HalfJoiner, mark_halves
from showandtell.core.wire.own_calls import OwnCalls
from showandtell.core.wire.usage import clamp_usage
from showandtell.errors import BadAnswer

T = TypeVar("T")

#: Maximum size of one event in bytes, far above any real one.
MAX_EVENT = 32 * 1024 * 1024
#: Maximum size of one response in bytes. 128,000 tokens in chunks of 500 bytes are half of it.
MAX_RESPONSE = 128 * 1024 * 1024
#: Maximum number of texts, reasoning blocks, calls and files in one response. Real ones have some hundred. Each is
#: stored, planned and sent again with every step; this many block the event loop for about a second.
MAX_PARTS = 10_000
PART_STARTS = frozenset({TextStart, ReasoningStart, ToolInputStart, FileMade, BlockRead})
#: Maximum characters of a provider's message about a fault or a stop, which is logged, stored and shown.
MAX_DETAIL = 2_000


class EventReader(Protocol):
    """An API's reader of one response."""

    @property
    def done(self) -> bool:
        """Whether the message has ended, or a fault was read."""
        ...

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event and append its events. Raises `BadAnswer` or one of `DECODE_ERRORS`.

        Decode all of it before anything changes: if it holds half a character, it is read again without that.
        """
        ...

    def end(self, events: list[StreamEvent]) -> None:
        """Append the event that ends the message, unless `done`."""
        ...


class FrameSplitter(Protocol):
    """Splits a body into events: server-sent events or AWS's binary frames."""

    @property
    def pending(self) -> int:
        """Bytes buffered for an incomplete event."""
        ...

    def feed(self, data: bytes) -> list[bytes]:
        """Feed the bytes of one read; return the JSON of every event that they complete. May raise `BadAnswer`."""
        ...

    def flush(self) -> list[bytes]:
        """Return the JSON of an event whose end is missing, possibly cut off."""
        ...


class StreamParser:
    """Turns the bytes of each network read into a batch of events.

    `declared` are the names of the request's tools: a call of any other may be the provider's own.
    """

    __slots__ = ("_calls", "_declared", "_failed", "_halves", "_parts", "_reader", "_size", "_splitter")

    def __init__(self, reader: EventReader, splitter: FrameSplitter, declared: Container[str] | None = None) -> None:
        self._splitter = splitter
        self._calls: OwnCalls | None = None
        self._declared = declared
        self._reader = reader
        self._failed: BadAnswer | None = None
        self._halves: HalfJoiner | None = None
        self._size = 0
        self._parts = 0

    @property
    def done(self) -> bool:
        """Whether the message has ended or can't be read, so that further bytes don't matter."""
        return self._reader.done or self._failed is not None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return the events of one read; none after the end or a fault.

        Raises `BadAnswer` if the data is not the API's JSON, but only after the events before it have been returned.
        """
        return self._read(data)

    def _read(self, data: bytes | None) -> list[StreamEvent]:
        """Read the events that `data` completes; for None, the last one without its end."""
        if self._failed is not None:
            raise self._failed
        events: list[StreamEvent] = []
        self._size += len(data or b"")
        reader = self._reader
        try:
            texts = self._splitter.flush() if data is None else self._splitter.feed(data)
            if not texts and self._size <= MAX_EVENT:  # most reads of a slow host
                return events
            for text in texts:
                if reader.done:
                    break
                try:
                    reader.read(text, events)
                except DECODE_ERRORS:
                    if (marked := mark_halves(text)) is None:
                        raise
                    self._halves = self._halves or HalfJoiner()
                    reader.read(marked, events)
        except BadAnswer as error:
            self._failed = error
        except DECODE_ERRORS as error:
            self._failed = unreadable_response(error)
        if self._halves is not None:
            events = self._halves.join(events)
        for event in events:  # inline, because many reads have only one event
            if type(event) in PART_STARTS:
                self._parts += 1
                if type(event) is ToolInputStart and self._calls is None:
                    self._calls = OwnCalls(self._declared)
        if self._calls is not None:
            events = self._calls.sort(events)
        if self._parts > MAX_PARTS:
            self._failed, events = too_many_parts(), []
        if reader.done:
            limit_end(events)
        # After a read that completed an event, the splitter holds less than that read.
        if not events or self._size > MAX_RESPONSE:
            self._failed = self._failed or self._too_large()
            if self._failed is not None and not events:
                raise self._failed
        return events

    def finish(self) -> list[StreamEvent]:
        """End the body and return its last events; the stop is "cut" unless the provider gave a reason.

        The last event needs no blank line after it. If it is cut off itself, it is ignored.
        """
        if self._failed is not None:
            raise self._failed
        # Raises if the splitter holds back an error until the events before it have been returned.
        events = [] if self._reader.done else self._read(b"")
        if not self.done:
            with suppress(BadAnswer):
                events += self._read(None)
        ends: list[StreamEvent] = []
        self._reader.end(ends)
        ends = self._halves.join(ends) if self._halves else ends
        events += self._calls.sort(ends) if self._calls else ends
        limit_end(events)
        return events

    def _too_large(self) -> BadAnswer | None:
        """Return an error if an event or the response exceeds its limit."""
        if self._splitter.pending > MAX_EVENT:
            return BadAnswer(f"an event is larger than {MAX_EVENT} bytes")
        if self._size > MAX_RESPONSE and not self._reader.done:
            return BadAnswer(f"the response is larger than {MAX_RESPONSE} bytes")
        return None


class FullParser(Protocol):
    """Parses a complete body. `declared` are the names of the request's tools, as for a stream."""

    def __call__(self, data: bytes, declared: Container[str] | None = None) -> list[StreamEvent]:
        """Return the events of a complete response. Raises `BadAnswer`."""
        ...


def full_parser(read: Callable[[bytes], list[StreamEvent]]) -> FullParser:
    """Decorate a parser of complete bodies: apply what a stream's bytes go through after they were read.

    Raises `BadAnswer` for unreadable bytes.
    """

    @wraps(read)
    def bounded(data: bytes, declared: Container[str] | None = None) -> list[StreamEvent]:
        try:
            events = read_joined(data)
        except DECODE_ERRORS as error:
            raise unreadable_response(error) from error
        if sum(type(event) in PART_STARTS for event in events) > MAX_PARTS:
            raise too_many_parts()
        events = OwnCalls(declared).sort(events)
        limit_end(events)
        return events

    def read_joined(data: bytes) -> list[StreamEvent]:
        try:
            return read(data)
        except DECODE_ERRORS:
            if (marked := mark_halves(data)) is None:
                raise
            return HalfJoiner().join(read(marked))

    return bounded


def limit_end(events: list[StreamEvent]) -> None:
    """Limit the provider's message and token counts in the last event."""
    match events[-1] if events else None:
        case StepEnd(stop, usage, detail):
            events[-1] = StepEnd(stop, clamp_usage(usage), detail[:MAX_DETAIL])
        case ProviderFault(text):
            events[-1] = ProviderFault(text[:MAX_DETAIL])
        case _:
            pass


def decode_optional(decoder: msgspec.json.Decoder[T], raw: bytes | msgspec.Raw) -> T | None:
    """Decode an optional part of a response, such as its usage. Returns None if it is unreadable."""
    try:
        return decoder.decode(raw)
    except DECODE_ERRORS:
        return None


def type_of(value: Any) -> str | None:
    """Return the `type` of a decoded event, block or item, or None."""
    name = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def too_many_parts() -> BadAnswer:
    """Return the error for a response with too many parts."""
    return BadAnswer(f"the response has more than {MAX_PARTS} parts")


def unreadable_response(error: Exception) -> BadAnswer:
    """Return the error for a response that can't be decoded."""
    unreadable = BadAnswer(f"the response is not what the API promises: {error}")
    unreadable.__cause__ = error
    return unreadable
