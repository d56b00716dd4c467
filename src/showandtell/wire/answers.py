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
from showandtell.wire.stream import Frames, Parser


class Reads(Struct, frozen=True):
    """The two ways to read an api's answer: event by event, or the whole body at once."""

    stream: Callable[[Frames], Parser]
    whole: Callable[[bytes], Sequence[StreamEvent]]


ANSWERS: dict[Api, Reads] = {
    "anthropic-messages": Reads(parse_anthropic.Parser, parse_anthropic.whole),
    "openai-chat": Reads(parse_openai_chat.Parser, parse_openai_chat.whole),
    "openai-responses": Reads(parse_openai_responses.Parser, parse_openai_responses.whole),
    "gemini": Reads(parse_gemini.Parser, parse_gemini.whole),
    "bedrock-converse": Reads(parse_bedrock.Parser, parse_bedrock.whole),
}
#: Frames by content type; server-sent events are the rule where none is said.
FRAMES: dict[str, Callable[[], Frames]] = {
    "text/event-stream": sse.Splitter,
    "application/vnd.amazon.eventstream": eventstream.Splitter,
    "": sse.Splitter,
}
WHOLE = "application/json"
