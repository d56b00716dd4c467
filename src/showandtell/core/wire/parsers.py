"""Response parsers by API, and frame splitters by content type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from showandtell.core.capabilities.cells import Api
from showandtell.core.events.types import StreamEvent
from showandtell.core.wire import aws_eventstream, sse
from showandtell.core.wire.anthropic_messages import parse as parse_anthropic
from showandtell.core.wire.bedrock_converse import parse as parse_bedrock
from showandtell.core.wire.gemini import parse as parse_gemini
from showandtell.core.wire.openai_chat import parse as parse_openai_chat
from showandtell.core.wire.openai_responses import parse as parse_openai_responses
from showandtell.core.wire.stream import EventReader, FrameSplitter


class ResponseParser(Struct, frozen=True):
    """Parses an API's responses: event by event with a new reader, or a complete body at once."""

    new_reader: Callable[[], EventReader]
    parse_full: Callable[[bytes], Sequence[StreamEvent]]


PARSERS: dict[Api, ResponseParser] = {
    "anthropic-messages": ResponseParser(parse_anthropic.new_reader, parse_anthropic.parse_full),
    "openai-chat": ResponseParser(parse_openai_chat.new_reader, parse_openai_chat.parse_full),
    "openai-responses": ResponseParser(parse_openai_responses.new_reader, parse_openai_responses.parse_full),
    "gemini": ResponseParser(parse_gemini.new_reader, parse_gemini.parse_full),
    "bedrock-converse": ResponseParser(parse_bedrock.new_reader, parse_bedrock.parse_full),
}
#: Splitters by content type. A response without a content type is read as server-sent events.
FRAMES: dict[str, Callable[[], FrameSplitter]] = {
    "text/event-stream": sse.Splitter,
    "application/vnd.amazon.eventstream": aws_eventstream.Splitter,
    "": sse.Splitter,
}
JSON_TYPE = "application/json"
