"""The body of POST /v1/chat/completions, as the API and its many hosts define it: names, types and nesting.

Fields that only some hosts accept are optional here. `rules.Rules` holds which of them a host accepts.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType


class Strict(Struct, forbid_unknown_fields=True):
    """An object in which unknown fields are an error."""


class Part(Strict):
    """Fields that any part may have."""

    prompt_cache_breakpoint: dict[str, Any] | UnsetType = UNSET
    cache_control: dict[str, Any] | UnsetType = UNSET


class Text(Part, tag="text", kw_only=True):
    """A text part."""

    text: str


class RefusalPart(Strict, tag="refusal"):
    """The assistant's refusal."""

    refusal: str


class ImageUrl(Strict):
    """A URL or data URL."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | UnsetType = UNSET


class Image(Part, tag="image_url", kw_only=True):
    """An image part. Mistral also accepts a plain URL."""

    image_url: ImageUrl | str


class AudioData(Strict):
    """Base64 audio."""

    data: str
    format: Literal["wav", "mp3"]


class Audio(Part, tag="input_audio", kw_only=True):
    """An audio part. Mistral accepts base64 or a URL as a plain string."""

    input_audio: AudioData | str


class FileData(Strict):
    """A data URL, or the id of an upload."""

    file_data: str | UnsetType = UNSET
    file_id: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class File(Part, tag="file", kw_only=True):
    """A file part. Mistral accepts only the id of an upload."""

    file: FileData | UnsetType = UNSET
    file_id: str | UnsetType = UNSET


class DocumentUrl(Part, tag="document_url", kw_only=True):
    """Mistral's document: a URL or data URL."""

    document_url: str
    document_name: str | UnsetType | None = UNSET


class VideoData(Strict):
    """A URL or data URL."""

    url: str


class Video(Part, tag="video_url", kw_only=True):
    """A video part (OpenRouter, vLLM)."""

    video_url: VideoData


class JsonDocument(Part, tag="document", kw_only=True):
    """A JSON document (Groq, Cohere)."""

    document: dict[str, Any]


class Thinking(Part, tag="thinking", kw_only=True):
    """Mistral's reasoning, sent back to it."""

    thinking: list[dict[str, Any]]
    signature: str | UnsetType | None = UNSET
    closed: bool | UnsetType = UNSET


AnyPart: TypeAlias = Text | Image | Audio | File | RefusalPart | DocumentUrl | Video | JsonDocument | Thinking


class Function(Strict):
    """Name and arguments of a call. Mistral also accepts the arguments as an object."""

    name: str
    arguments: str | dict[str, Any]


class ToolCall(Strict, kw_only=True):
    """A tool call by the assistant."""

    id: str
    type: Literal["function"] | UnsetType = UNSET
    function: Function
    index: int | UnsetType = UNSET


class SystemMessage(Strict, tag_field="role", tag="system"):
    """Instructions."""

    content: str | list[AnyPart]
    name: str | UnsetType = UNSET


class DeveloperMessage(Strict, tag_field="role", tag="developer"):
    """Instructions, under the role that newer models use."""

    content: str | list[AnyPart]
    name: str | UnsetType = UNSET


class UserMessage(Strict, tag_field="role", tag="user"):
    """The only role whose content may hold files on OpenAI's own API."""

    content: str | list[AnyPart]
    name: str | UnsetType = UNSET


class AssistantMessage(Strict, tag_field="role", tag="assistant"):
    """The model's text and calls, with the fields that some hosts need back, such as their reasoning."""

    content: str | list[AnyPart] | None = None
    tool_calls: list[ToolCall] | UnsetType = UNSET
    refusal: str | UnsetType | None = UNSET
    name: str | UnsetType = UNSET
    audio: dict[str, Any] | UnsetType | None = UNSET
    prefix: bool | UnsetType = UNSET
    reasoning: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType | None = UNSET
    reasoning_details: list[dict[str, Any]] | UnsetType = UNSET
    images: list[dict[str, Any]] | UnsetType = UNSET


class ToolMessage(Strict, tag_field="role", tag="tool"):
    """A tool's result."""

    content: str | list[AnyPart]
    tool_call_id: str
    name: str | UnsetType = UNSET


Message: TypeAlias = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage


class FunctionDefinition(Strict):
    """A function that may be called."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Strict):
    """The declaration of a function that the model may call."""

    type: Literal["function"]
    function: FunctionDefinition


class FunctionName(Strict):
    """A function's name."""

    name: str


class NamedToolChoice(Strict):
    """Requires a call of this function."""

    type: Literal["function"]
    function: FunctionName


class StreamOptions(Strict):
    """Extras in a stream."""

    include_usage: bool | UnsetType = UNSET
    include_obfuscation: bool | UnsetType = UNSET


class Body(Strict):
    """The request body."""

    model: str
    messages: list[Message]
    tools: list[Tool] | UnsetType = UNSET
    tool_choice: str | NamedToolChoice | UnsetType = UNSET
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
