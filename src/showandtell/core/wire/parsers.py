"""Response parsers by API, and frame splitters by content type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast, get_args

from showandtell.core.capabilities.cells import Api
from showandtell.core.events.types import StreamEvent
from showandtell.core.wire import aws_eventstream, sse
from showandtell.core.wire.stream import EventReader, FrameSplitter
from showandtell.lazy import LazyModule


class ResponseParser(Protocol):
    """Parses an API's responses: event by event with a new reader, or a complete body at once."""

    def new_reader(self) -> EventReader:
        """Return a reader of one response."""
        ...

    def parse_full(self, data: bytes) -> Sequence[StreamEvent]:
        """Return the events of a complete response."""
        ...


#: Each is imported when it is first used: most programs use one.
PARSERS: dict[Api, ResponseParser] = {
    api: cast("ResponseParser", LazyModule(f"showandtell.core.wire.{api.replace('-', '_')}.parse"))
    for api in get_args(Api)
}
#: Splitters by content type. A response without a content type is read as server-sent events.
FRAMES: dict[str, Callable[[], FrameSplitter]] = {
    "text/event-stream": sse.Splitter,
    "application/vnd.amazon.eventstream": aws_eventstream.Splitter,
    "": sse.Splitter,
}
JSON_TYPE = "application/json"
