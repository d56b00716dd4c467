"""Response parsers by API, and frame splitters by content type."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol, cast, get_args

from showandtell.core.capabilities.apis import PARSE, find_module, reported_mistakes
from showandtell.core.capabilities.cells import VENDORS, Api
from showandtell.core.events.types import StreamEvent
from showandtell.core.wire import aws_eventstream, sse
from showandtell.core.wire.aws_eventstream import DECODE_ERRORS
from showandtell.core.wire.stream import EventReader, FrameSplitter, full_parser
from showandtell.errors import BadAnswer
from showandtell.lazy import LazyModule
from showandtell.plugins import MISTAKES

EVENTS: Final = get_args(StreamEvent)


class ResponseParser(Protocol):
    """The module `parse` of an API: reads responses event by event with a new reader, or a complete body at once.

    A module of a package may have `SPLITTERS`: what splits a stream into events, by content type, besides those below.
    """

    def new_reader(self) -> EventReader:
        """Return a reader of one response."""
        ...

    def parse_full(self, data: bytes) -> Sequence[StreamEvent]:
        """Return the events of a complete response."""
        ...


class BoundedParser(Protocol):
    """A parser with the limits of all: ours, or one of a package behind them."""

    def new_reader(self) -> EventReader:
        """Return a reader of one response."""
        ...

    def parse_full(self, data: bytes, declared: Container[str] | None = None) -> Sequence[StreamEvent]:
        """Return the events of a complete response to a request with tools of these names."""
        ...


@contextmanager
def unreadable_answers(api: Api) -> Generator[None]:
    """Raise `BadAnswer` for what the reader of a package raises. Errors of decoding pass."""
    try:
        yield
    except (BadAnswer, *DECODE_ERRORS):
        raise
    except MISTAKES as error:
        raise BadAnswer(f"the parser of {api} failed: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class PackageParser:
    """The parser of a package, with the limits of ours. What its code raises is the error of an unreadable answer."""

    api: Api
    module: ResponseParser

    def check(self) -> None:
        """Raise `CannotRender` for a function that the module doesn't have."""
        with reported_mistakes(self.api, PARSE):
            self.module.new_reader  # noqa: B018 - imports the module
            self.module.parse_full  # noqa: B018

    def find_splitter(self, content_type: str) -> Callable[[], FrameSplitter] | None:
        """The module's own splitter for a content type."""
        with reported_mistakes(self.api, PARSE):
            self.check()
            splitters: Mapping[str, Callable[[], FrameSplitter]] = getattr(self.module, "SPLITTERS", {})
            own = splitters.get(content_type)
        return None if own is None else lambda: PackageSplitter(self.api, own())

    def new_reader(self) -> EventReader:
        """Return a reader of one response."""
        with reported_mistakes(self.api, PARSE):
            return PackageReader(self.api, self.module.new_reader())

    def parse_full(self, data: bytes, declared: Container[str] | None = None) -> Sequence[StreamEvent]:
        """Return the events of a complete response."""
        return full_parser(self._parse_full)(data, declared)

    def _parse_full(self, data: bytes) -> list[StreamEvent]:
        with unreadable_answers(self.api):
            events = [*self.module.parse_full(data)]
            check_events(events, 0)
            return events


def check_events(events: list[StreamEvent], start: int) -> None:
    """Raise `TypeError` for anything else than an event from `start` on, and remove it and what follows."""
    for at in range(start, len(events)):
        if not isinstance(wrong := events[at], EVENTS):
            del events[at:]
            raise TypeError(f"{wrong!r:.80} is no event")


@dataclass(frozen=True, slots=True)
class PackageSplitter:
    """A splitter of a package: its errors become `BadAnswer`."""

    api: Api
    splitter: FrameSplitter

    @property
    def pending(self) -> int:
        """Bytes buffered for an incomplete event."""
        with unreadable_answers(self.api):
            return self.splitter.pending

    def feed(self, data: bytes) -> list[bytes]:
        """Return the JSON of every event that the bytes of one read complete."""
        with unreadable_answers(self.api):
            return self.splitter.feed(data)

    def flush(self) -> list[bytes]:
        """Return the JSON of an event whose end is missing."""
        with unreadable_answers(self.api):
            return self.splitter.flush()


@dataclass(frozen=True, slots=True)
class PackageReader:
    """A reader of a package: its errors become `BadAnswer`."""

    api: Api
    reader: EventReader

    @property
    def done(self) -> bool:
        """Whether the message has ended."""
        with unreadable_answers(self.api):
            return bool(self.reader.done)

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        with unreadable_answers(self.api):
            start = len(events)
            self.reader.read(text, events)
            check_events(events, start)

    def end(self, events: list[StreamEvent]) -> None:
        """Append the event that ends the message, unless `done`."""
        with unreadable_answers(self.api):
            start = len(events)
            self.reader.end(events)
            check_events(events, start)


@cache
def parser_of(api: Api) -> BoundedParser:
    """The parser of an API. It is imported when it is first used: most programs use one. Raises `BadInput`."""
    module = LazyModule(find_module(api, PARSE))
    return cast("BoundedParser", module) if api in VENDORS else PackageParser(api, cast("ResponseParser", module))


def splitter_of(api: Api, content_type: str) -> Callable[[], FrameSplitter] | None:
    """What splits a stream of this type into events; None if it isn't a stream."""
    parser = parser_of(api)
    if not isinstance(parser, PackageParser) or (own := parser.find_splitter(content_type)) is None:
        return FRAMES.get(content_type)
    return own


#: The parsers that are built in.
PARSERS: dict[Api, BoundedParser] = {api: parser_of(api) for api in VENDORS}
#: Splitters by content type. A response without a content type is read as server-sent events.
FRAMES: dict[str, Callable[[], FrameSplitter]] = {
    "text/event-stream": sse.Splitter,
    "application/vnd.amazon.eventstream": aws_eventstream.Splitter,
    "": sse.Splitter,
}
JSON_TYPE = "application/json"
