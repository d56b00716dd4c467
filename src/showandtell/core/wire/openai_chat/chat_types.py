"""Types of openai-chat responses: chunks, messages, calls and token counts, with the fields of many hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from showandtell.core.wire.hosted_blocks import Fields
from showandtell.core.wire.usage import NULL


class Function(Struct, gc=False):
    """A function and its arguments."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class Custom(Struct, gc=False):
    """A tool whose input is any text."""

    name: str | None = None
    input: str | None = None


class KnownFunction(Function, forbid_unknown_fields=True, gc=False):
    """A function without fields of the host's own."""


class CallDelta(Struct, gc=False):
    """A piece of a tool call, or a complete call."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None

    @property
    def name(self) -> str:
        """The name of the tool; empty if this piece doesn't have it."""
        return (self.function and self.function.name) or (self.custom and self.custom.name) or ""


class KnownCall(CallDelta, forbid_unknown_fields=True, gc=False):
    """A call without fields of the host's own."""

    function: KnownFunction | None = None  # pyright: ignore[reportIncompatibleVariableOverride] - it is only read


class ThinkingText(Struct, gc=False):
    """A text of reasoning."""

    text: str = ""


class Item(Struct, gc=False):
    """An item of Mistral's content lists: a text, or reasoning made of texts."""

    type: str = ""
    text: str = ""
    thinking: list[ThinkingText] = []


class Url(Struct, gc=False):
    """An address, or a data URL."""

    url: str = ""


class Image(Struct, gc=False):
    """A generated image, in OpenRouter's format."""

    image_url: Url | str | None = None


class Delta(Struct, gc=False):
    """A piece of a message, or a complete message.

    The three `reasoning` fields are the host's own and go back. `channel` (Groq) and `token_id` (Hugging Face) only
    describe a piece of a stream.
    """

    role: Any = None
    type: Any = None
    content: str | list[msgspec.Raw] | dict[str, Any] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: Sequence[CallDelta] | None = None
    function_call: Function | None = None
    images: list[Image] | None = None
    reasoning_details: Any = None
    annotations: list[Fields] | None = None
    audio: Fields | None = None
    executed_tools: list[Fields] | None = None
    channel: Any = None
    token_id: Any = None


class KnownDelta(Delta, forbid_unknown_fields=True, gc=False):
    """A piece of a message in which only known fields are, as in nearly every piece."""

    tool_calls: Sequence[KnownCall] | None = None  # pyright: ignore[reportIncompatibleVariableOverride] - the same


class Piece(NamedTuple):
    """A piece of a message, with the fields that are the host's own: of the message, and of each call."""

    delta: Delta
    fields: Fields
    calls: Sequence[Fields]


_known = msgspec.json.Decoder(KnownDelta)
_delta = msgspec.json.Decoder(Delta)
_fields = msgspec.json.Decoder(Fields)
REASONING = ("reasoning_content", "reasoning", "reasoning_details")
OURS = frozenset(Delta.__struct_fields__) - {*REASONING}
OUR_CALLS, OUR_FUNCTIONS = frozenset(CallDelta.__struct_fields__), frozenset(Function.__struct_fields__)


def read_piece(raw: msgspec.Raw) -> Piece | None:
    """Read a message or a piece of one; None for null."""
    if raw == NULL:
        return None
    try:
        delta, own, calls = _known.decode(raw), Fields(), ()
    except msgspec.ValidationError:  # a field of another name, or of another type
        delta, everything = _delta.decode(raw), _fields.decode(raw)
        own = {name: value for name, value in everything.items() if name not in OURS}
        calls = [fields_of_call(call) for call in everything.get("tool_calls") or ()]
    for name in REASONING:
        if (value := getattr(delta, name)) is not None:
            own[name] = value
    return Piece(delta, own, calls)


def fields_of_call(call: Fields) -> Fields:
    """The fields of a call that are the host's own, such as `extra_content` with a thought signature of Gemini."""
    own = {name: value for name, value in call.items() if name not in OUR_CALLS}
    given: Fields = call.get("function") or {}
    function = {name: value for name, value in given.items() if name not in OUR_FUNCTIONS and value is not None}
    return {**own, "function": function} if function else own


class Choice(Struct, gc=False):
    """One answer. Only the first one is read."""

    delta: msgspec.Raw = NULL
    message: msgspec.Raw = NULL
    finish_reason: str | None = None


class PromptDetails(Struct, gc=False):
    """Prompt tokens by modality, and those read from or written to a cache."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    text_tokens: int | None = None
    image_tokens: int | None = None
    audio_tokens: int | None = None
    video_tokens: int | None = None


class CompletionDetails(Struct, gc=False):
    """Output tokens by kind."""

    reasoning_tokens: int | None = None


class TokenCounts(Struct, gc=False):
    """Token counts. Only OpenRouter sends `cost`, only DeepSeek `prompt_cache_hit_tokens`."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cost: Any = None


class Error(Struct, gc=False):
    """An error of a response."""

    message: str | None = None
    type: str | None = None


class Groq(Struct, gc=False):
    """Groq's own field of a stream chunk."""

    usage: msgspec.Raw = NULL
    error: str | None = None


class Chunk(Struct, gc=False):
    """One event of a stream, or a complete body."""

    choices: list[Choice] | None = None
    usage: msgspec.Raw = NULL
    error: Error | str | None = None
    x_groq: Groq | None = None
