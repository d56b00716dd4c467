"""What every stream parser does alike: events are split off, read one by one, and given as one batch a read."""

from __future__ import annotations

from typing import Protocol

from showandtell.errors import BadAnswer
from showandtell.events.types import StreamEvent
from showandtell.sse import Splitter

#: The most bytes that one event may have; no honest one comes near.
LARGEST_EVENT = 32 * 1024 * 1024


class Reading(Protocol):
    """What an api's own reader keeps between events. `done` after the end or a fault."""

    done: bool

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event; raises `BadAnswer`."""
        ...

    def end(self, events: list[StreamEvent]) -> None:
        """Say how the message ended, once."""
        ...


class StreamParser:
    """Takes the bytes of each read; gives one batch of events for it."""

    __slots__ = ("_failed", "_reading", "_splitter")

    def __init__(self, reading: Reading) -> None:
        self._splitter = Splitter()
        self._reading = reading
        self._failed: BadAnswer | None = None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Events of one read, none after the end or a fault.

        Raises `BadAnswer` where data is not the api's JSON, but never before the events that came first are given.
        """
        if self._failed is not None:
            raise self._failed
        events: list[StreamEvent] = []
        try:
            for text in self._splitter.feed(data):
                if self._reading.done:
                    break
                self._reading.read(text, events)
        except BadAnswer as error:
            self._failed = error
        if self._splitter.waiting > LARGEST_EVENT:
            self._failed = BadAnswer(f"an event is larger than {LARGEST_EVENT} bytes")
        if self._failed is not None and not events:
            raise self._failed
        return events

    def finish(self) -> list[StreamEvent]:
        """End the body: "cut" unless the provider said why it ended; nothing where the end was told already."""
        if self._failed is not None:
            raise self._failed
        events: list[StreamEvent] = []
        self._reading.end(events)
        return events
