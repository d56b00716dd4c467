"""Types of openai-chat responses: chunks, messages, calls and token counts, with the fields of many hosts."""

from __future__ import annotations

from typing import Any

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


class CallDelta(Struct, gc=False):
    """A piece of a tool call, or a complete call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: Custom | None = None

    @property
    def name(self) -> str:
        """The name of the tool; empty if this piece doesn't have it."""
        return (self.function and self.function.name) or (self.custom and self.custom.name) or ""


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
    """A piece of a message, or a complete message."""

    content: str | list[msgspec.Raw] | dict[str, Any] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallDelta] | None = None
    function_call: Function | None = None
    images: list[Image] | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    annotations: list[Fields] | None = None
    audio: Fields | None = None
    executed_tools: list[Fields] | None = None


class Choice(Struct, gc=False):
    """One answer. Only the first one is read."""

    delta: Delta | None = None
    message: Delta | None = None
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
