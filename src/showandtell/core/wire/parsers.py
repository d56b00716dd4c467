"""How each api's answers are read: by its own parser, in the frames that the answer's content type says."""

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
from showandtell.core.wire.stream import Frames, Reading


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
    "application/vnd.amazon.eventstream": aws_eventstream.Splitter,
    "": sse.Splitter,
}
WHOLE = "application/json"
