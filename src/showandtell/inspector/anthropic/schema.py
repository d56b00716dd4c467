"""The body of POST /v1/messages as the API defines it: names, types and nesting of one message."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from showandtell.inspector.anthropic.hosted_schema import Hosted


class Strict(Struct, forbid_unknown_fields=True):
    """An object in which unknown fields are an error."""


class CacheControl(Strict, tag="ephemeral"):
    """A cache mark."""

    ttl: Literal["5m", "1h"] | None = None


class Text(Strict, tag="text"):
    """A text block."""

    text: str
    cache_control: CacheControl | None = None
    citations: list[Any] | None = None


class Base64(Strict, tag="base64"):
    """Bytes in the body."""

    media_type: str
    data: str


class Url(Strict, tag="url"):
    """A URL of the bytes."""

    url: str


class FileId(Strict, tag="file"):
    """The id of an upload."""

    file_id: str


class PlainText(Strict, tag="text"):
    """A text document."""

    media_type: str
    data: str


class Image(Strict, tag="image"):
    """An image block."""

    source: Base64 | Url | FileId
    cache_control: CacheControl | None = None
    transformations: dict[str, Any] | None = None


class Content(Strict, tag="content"):
    """A document of blocks."""

    content: str | list[Text | Image]


class Document(Strict, tag="document"):
    """A document block."""

    source: Base64 | PlainText | Content | Url | FileId
    cache_control: CacheControl | None = None
    citations: dict[str, bool] | None = None
    context: str | None = None
    title: str | None = None


class ToolUse(Strict, tag="tool_use"):
    """A tool call by the assistant."""

    id: str
    name: str
    input: dict[str, Any]
    cache_control: CacheControl | None = None
    caller: dict[str, Any] | None = None


class ToolResult(Strict, tag="tool_result"):
    """The result of a tool call."""

    tool_use_id: str
    content: str | list[Text | Image | Document] | UnsetType = UNSET
    is_error: bool = False
    cache_control: CacheControl | None = None


class Thinking(Strict, tag="thinking"):
    """Signed reasoning."""

    thinking: str
    signature: str


class RedactedThinking(Strict, tag="redacted_thinking"):
    """Encrypted reasoning."""

    data: str


Block: TypeAlias = Text | Image | Document | ToolUse | ToolResult | Thinking | RedactedThinking | Hosted


class Message(Strict):
    """A turn of the conversation. A string stands for one text block."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Block]


class Tool(Strict):
    """A tool of the client, or one that Anthropic runs, whose type has a date."""

    name: str
    input_schema: dict[str, Any] | None = None
    description: str = ""
    type: str | None = None
    max_uses: int | None = None
    allowed_domains: list[str] | None = None
    blocked_domains: list[str] | None = None
    user_location: dict[str, Any] | None = None
    citations: dict[str, bool] | None = None
    max_content_tokens: int | None = None
    cache_control: CacheControl | None = None
    strict: bool | None = None
    eager_input_streaming: bool | None = None
    input_examples: list[dict[str, Any]] | None = None
    defer_loading: bool | None = None
    allowed_callers: list[str] | None = None


class AutoToolChoice(Strict, tag="auto"):
    """Lets the model decide whether to call a tool."""

    disable_parallel_tool_use: bool = False


class AnyToolChoice(Strict, tag="any"):
    """Requires a tool call."""

    disable_parallel_tool_use: bool = False


class NamedToolChoice(Strict, tag="tool"):
    """Requires a call of this tool."""

    name: str
    disable_parallel_tool_use: bool = False


class NoToolChoice(Strict, tag="none"):
    """Forbids tool calls."""


class OutputConfig(Strict):
    """Effort, and the format of the response."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: dict[str, Any] | None = None


class Body(Strict):
    """The request body."""

    model: str
    messages: list[Message]
    max_tokens: int
    system: str | list[Text] = ""
    tools: list[Tool] = []
    tool_choice: AutoToolChoice | AnyToolChoice | NamedToolChoice | NoToolChoice | None = None
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    thinking: dict[str, Any] | None = None
    output_config: OutputConfig | None = None
    metadata: dict[str, Any] | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    cache_control: CacheControl | None = None
    container: Any = None
    inference_geo: str | None = None
    speed: Literal["standard", "fast"] | None = None
