"""The body of POST /v1/chat/completions as its api defines it: names, types and nesting of one message."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType


class Strict(Struct, forbid_unknown_fields=True):
    """An object in which unknown fields are an error."""


class Part(Strict):
    """What every part may carry."""

    prompt_cache_breakpoint: dict[str, Any] | UnsetType = UNSET


class Text(Part, tag="text", kw_only=True):
    """A text part."""

    text: str


class Refused(Strict, tag="refusal"):
    """The assistant's refusal."""

    refusal: str


class ImageUrl(Strict):
    """A URL or data URL."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | UnsetType = UNSET


class Image(Part, tag="image_url", kw_only=True):
    """An image part."""

    image_url: ImageUrl


class AudioData(Strict):
    """Base64 audio."""

    data: str
    format: Literal["wav", "mp3"]


class Audio(Part, tag="input_audio", kw_only=True):
    """An audio part."""

    input_audio: AudioData


class FileData(Strict):
    """A data URL, or the id of an upload."""

    file_data: str | UnsetType = UNSET
    file_id: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class File(Part, tag="file", kw_only=True):
    """A file part."""

    file: FileData


Anything: TypeAlias = Text | Image | Audio | File | Refused


class Function(Strict):
    """Name and arguments of a call."""

    name: str
    arguments: str


class ToolCall(Strict):
    """A call of the assistant's."""

    id: str
    type: Literal["function"]
    function: Function


class Instruction(Strict, tag_field="role", tag="system"):
    """The program's words."""

    content: str | list[Anything]
    name: str | UnsetType = UNSET


class Developer(Strict, tag_field="role", tag="developer"):
    """The program's words, as newer models name them."""

    content: str | list[Anything]
    name: str | UnsetType = UNSET


class User(Strict, tag_field="role", tag="user"):
    """A person's message."""

    content: str | list[Anything]
    name: str | UnsetType = UNSET


class Assistant(Strict, tag_field="role", tag="assistant"):
    """The model's message."""

    content: str | list[Anything] | None = None
    tool_calls: list[ToolCall] | UnsetType = UNSET
    refusal: str | None = None
    name: str | UnsetType = UNSET
    audio: dict[str, Any] | None = None


class ToolMessage(Strict, tag_field="role", tag="tool"):
    """A tool's result."""

    content: str | list[Anything]
    tool_call_id: str


Message: TypeAlias = Instruction | Developer | User | Assistant | ToolMessage


class Declared(Strict):
    """A function that may be called."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Strict):
    """A tool."""

    type: Literal["function"]
    function: Declared


class Name(Strict):
    """A function's name."""

    name: str


class OneTool(Strict):
    """Call this one."""

    type: Literal["function"]
    function: Name


class StreamOptions(Strict):
    """What a stream carries besides."""

    include_usage: bool = False
    include_obfuscation: bool = True


class Body(Strict):
    """The whole body."""

    model: str
    messages: list[Message]
    tools: list[Tool] | UnsetType = UNSET
    tool_choice: str | OneTool | UnsetType = UNSET
    parallel_tool_calls: bool = True
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[str, int] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    reasoning_effort: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None
    audio: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    prediction: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] | None = None
    prompt_cache_retention: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    user: str | None = None
    web_search_options: dict[str, Any] | None = None
