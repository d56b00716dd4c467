"""How each api's answers are read: by its own parser, in the frames that the answer's content type says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from showandtell import eventstream, sse
from showandtell.capabilities.cells import Api
from showandtell.events.types import StreamEvent
from showandtell.wire import (
    parse_anthropic,
    parse_bedrock,
    parse_gemini,
    parse_openai_chat,
    parse_openai_responses,
)
from showandtell.wire.stream import Frames, Reading


class Reads(Struct, frozen=True):
    """The two ways to read an api's answer: event by event, or the whole body at once."""

    reading: Callable[[], Reading]
    whole: Callable[[bytes], Sequence[StreamEvent]]


ANSWERS: dict[Api, Reads] = {
    "anthropic-messages": Reads(parse_anthropic.reading, parse_anthropic.whole),
    "openai-chat": Reads(parse_openai_chat.reading, parse_openai_chat.whole),
    "openai-responses": Reads(parse_openai_responses.reading, parse_openai_responses.whole),
    "gemini": Reads(parse_gemini.reading, parse_gemini.whole),
    "bedrock-converse": Reads(parse_bedrock.reading, parse_bedrock.whole),
}
#: Frames by content type; server-sent events are the rule where none is said.
FRAMES: dict[str, Callable[[], Frames]] = {
    "text/event-stream": sse.Splitter,
    "application/vnd.amazon.eventstream": eventstream.Splitter,
    "": sse.Splitter,
}
WHOLE = "application/json"
