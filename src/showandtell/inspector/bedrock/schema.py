"""The body of POST /model/{model}/converse and converse-stream: names, types, bounds and nesting only.

From the service model of bedrock-runtime in botocore 1.44.5. Bytes are base64 text here, as they are on the wire.
Recorded requests hold text, images, documents, videos, calls and results; all other blocks rest on botocore's types
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
CallId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_.:-]+\Z")]
ToolName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+\Z")]
ImageFormat: TypeAlias = Literal["png", "jpeg", "gif", "webp"]
DocumentFormat: TypeAlias = Literal["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]
VideoFormat: TypeAlias = Literal["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"]
AudioFormat: TypeAlias = Literal[
    "mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a", "mpeg", "mpga", "pcm", "webm"
]  # fmt: skip


class Strict(Struct, rename="camel", forbid_unknown_fields=True):
    """An object in which unknown fields are an error."""


class OneOf(Strict):
    """A union: an object with exactly one member set. `member_of` returns it."""


class S3Location(Strict):
    """Bytes in a bucket."""

    uri: Annotated[
        str, Meta(min_length=1, max_length=1024, pattern=r"^s3://[a-z0-9][\.\-a-z0-9]{1,61}[a-z0-9](/.*)?\Z")
    ]
    bucket_owner: Annotated[str, Meta(pattern=r"^[0-9]{12}\Z")] | UnsetType = UNSET


class Source(OneOf):
    """Where a file's bytes are."""

    bytes: NonEmpty | UnsetType = UNSET
    s3_location: S3Location | UnsetType = UNSET


class TextOnly(OneOf):
    """A piece of text in a union with no other member."""

    text: str | UnsetType = UNSET


class DocumentSource(OneOf):
    """Where a document's bytes are, or its text."""

    bytes: NonEmpty | UnsetType = UNSET
    s3_location: S3Location | UnsetType = UNSET
    text: str | UnsetType = UNSET
    content: list[TextOnly] | UnsetType = UNSET


class Image(Strict):
    """An image in a message or a tool result; `error` only occurs in responses."""

    format: ImageFormat
    source: Source
    error: dict[str, str] | UnsetType = UNSET


class Citations(Strict):
    """Whether responses cite. For Claude also whether it sees a PDF."""

    enabled: bool


class Document(Strict):
    """A PDF, office or text file. Models read its name, which must be unique in the request."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    source: DocumentSource
    format: DocumentFormat | UnsetType = UNSET
    context: str | UnsetType = UNSET
    citations: Citations | UnsetType = UNSET


class Video(Strict):
    """A video in a message; only some models take one in a tool result."""

    format: VideoFormat
    source: Source


class Audio(Strict):
    """Audio in a message; tool results have no such block."""

    format: AudioFormat
    source: Source
    error: dict[str, str] | UnsetType = UNSET


class ToolUse(Strict):
    """A tool call by the assistant."""

    tool_use_id: CallId
    name: ToolName
    input: Any
    type: Literal["server_tool_use"] | UnsetType = UNSET


class SearchText(Strict):
    """A passage of a search result."""

    text: str


class SearchResult(Strict):
    """Passages with their source."""

    source: str
    title: str
    content: list[SearchText]
    citations: Citations | UnsetType = UNSET


class ResultBlock(OneOf):
    """A block of a tool result."""

    json: Any = UNSET
    text: str | UnsetType = UNSET
    image: Image | UnsetType = UNSET
    document: Document | UnsetType = UNSET
    video: Video | UnsetType = UNSET
    search_result: SearchResult | UnsetType = UNSET


class ToolResult(Strict):
    """The result of a tool call."""

    tool_use_id: CallId
    content: list[ResultBlock]
    status: Literal["success", "error"] | UnsetType = UNSET
    type: str | UnsetType = UNSET


class GuardText(Strict):
    """Text for the guardrail."""

    text: str
    qualifiers: list[Literal["grounding_source", "query", "guard_content"]] | UnsetType = UNSET


class GuardSource(OneOf):
    """Bytes for the guardrail."""

    bytes: NonEmpty | UnsetType = UNSET


class GuardImage(Strict):
    """An image for the guardrail."""

    format: Literal["png", "jpeg"]
    source: GuardSource


class Guard(OneOf):
    """Content that the guardrail checks."""

    text: GuardText | UnsetType = UNSET
    image: GuardImage | UnsetType = UNSET


class CachePoint(Strict):
    """A cache mark."""

    type: Literal["default"]
    ttl: Literal["5m", "1h"] | UnsetType = UNSET


class ReasoningText(Strict):
    """Readable reasoning. The signature proves to the model that it is its own."""

    text: str
    signature: str | UnsetType = UNSET


class Reasoning(OneOf):
    """Reasoning as text or encrypted."""

    reasoning_text: ReasoningText | UnsetType = UNSET
    redacted_content: str | UnsetType = UNSET


class CitationsContent(Strict):
    """Text with citations."""

    content: list[TextOnly] | UnsetType = UNSET
    citations: list[dict[str, Any]] | UnsetType = UNSET


class ToolReference(Strict):
    """A tool by name."""

    type: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    name: Annotated[str, Meta(min_length=1, max_length=128)] | UnsetType = UNSET
    server_name: Annotated[str, Meta(min_length=1, max_length=128)] | UnsetType = UNSET


class ToolChange(Strict):
    """A tool that is added or removed."""

    tool: ToolReference


class Block(OneOf):
    """A block of a message."""

    text: str | UnsetType = UNSET
    image: Image | UnsetType = UNSET
    document: Document | UnsetType = UNSET
    video: Video | UnsetType = UNSET
    audio: Audio | UnsetType = UNSET
    tool_use: ToolUse | UnsetType = UNSET
    tool_result: ToolResult | UnsetType = UNSET
    guard_content: Guard | UnsetType = UNSET
    cache_point: CachePoint | UnsetType = UNSET
    reasoning_content: Reasoning | UnsetType = UNSET
    citations_content: CitationsContent | UnsetType = UNSET
    search_result: SearchResult | UnsetType = UNSET
    tool_addition: ToolChange | UnsetType = UNSET
    tool_removal: ToolChange | UnsetType = UNSET


class Message(Strict):
    """A turn of the conversation; the roles must alternate."""

    role: Literal["user", "assistant", "system"]
    content: list[Block]


class SystemBlock(OneOf):
    """A block of the instructions."""

    text: NonEmpty | UnsetType = UNSET
    guard_content: Guard | UnsetType = UNSET
    cache_point: CachePoint | UnsetType = UNSET


class InferenceConfig(Strict):
    """Sampling parameters."""

    max_tokens: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    temperature: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    top_p: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    stop_sequences: Annotated[list[NonEmpty], Meta(max_length=2500)] | UnsetType = UNSET


class InputSchema(OneOf):
    """A tool's schema."""

    json: Any = UNSET


class ToolSpec(Strict):
    """A tool of the client."""

    name: ToolName
    input_schema: InputSchema
    description: NonEmpty | UnsetType = UNSET
    strict: bool | UnsetType = UNSET


class NamedTool(Strict):
    """A tool of the host, or the required tool."""

    name: ToolName


class Tool(OneOf):
    """A tool, or a cache mark."""

    tool_spec: ToolSpec | UnsetType = UNSET
    system_tool: NamedTool | UnsetType = UNSET
    cache_point: CachePoint | UnsetType = UNSET


class Empty(Strict):
    """An empty object."""


class ToolChoice(OneOf):
    """Whether the model calls a tool: if it likes, any, or a given one."""

    auto: Empty | UnsetType = UNSET
    any: Empty | UnsetType = UNSET
    tool: NamedTool | UnsetType = UNSET


class ToolConfig(Strict):
    """The declared tools. Required while the messages hold tool calls or results."""

    tools: Annotated[list[Tool], Meta(min_length=1)]
    tool_choice: ToolChoice | UnsetType = UNSET


class Guardrail(Strict):
    """The guardrail. The processing mode is for streams."""

    guardrail_identifier: Annotated[str, Meta(max_length=2048)] | UnsetType = UNSET
    guardrail_version: Annotated[str, Meta(pattern=r"^(|([1-9][0-9]{0,7})|(DRAFT))\Z")] | UnsetType = UNSET
    trace: Literal["enabled", "disabled", "enabled_full"] | UnsetType = UNSET
    stream_processing_mode: Literal["sync", "async"] | UnsetType = UNSET


class PerformanceConfig(Strict):
    """Latency."""

    latency: Literal["standard", "optimized"] | UnsetType = UNSET


class ServiceTier(Strict):
    """Price tier."""

    type: Literal["priority", "default", "flex", "reserved"]


class JsonSchema(Strict):
    """A schema of the response, as JSON text."""

    schema: str
    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class Structure(OneOf):
    """The definition of a response format."""

    json_schema: JsonSchema | UnsetType = UNSET


class TextFormat(Strict):
    """The format of the response."""

    type: Literal["json_schema"]
    structure: Structure


class OutputConfig(Strict):
    """Effort, and the format of the response."""

    text_format: TextFormat | UnsetType = UNSET
    effort: Annotated[str, Meta(max_length=16)] | UnsetType = UNSET


class Body(Strict):
    """The request body. botocore makes `messages` optional for stored prompts, which the inspector doesn't have."""

    messages: list[Message]
    system: list[SystemBlock] = []
    inference_config: InferenceConfig | UnsetType = UNSET
    tool_config: ToolConfig | UnsetType = UNSET
    guardrail_config: Guardrail | UnsetType = UNSET
    additional_model_request_fields: dict[str, Any] = {}
    prompt_variables: dict[str, TextOnly] | UnsetType = UNSET
    additional_model_response_field_paths: (
        Annotated[list[Annotated[str, Meta(min_length=1, max_length=256)]], Meta(max_length=10)] | UnsetType
    ) = UNSET
    request_metadata: Annotated[dict[str, str], Meta(min_length=1, max_length=16)] | UnsetType = UNSET
    performance_config: PerformanceConfig | UnsetType = UNSET
    service_tier: ServiceTier | UnsetType = UNSET
    output_config: OutputConfig | UnsetType = UNSET


@cache
def _names_of(kind: type[Struct]) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, field.encode_name) for field in fields(kind))


def member_of(union: OneOf) -> tuple[str, Any]:
    """The name and value of the set member. The name is empty if none or several are set."""
    members = [(name, value) for field, name in _names_of(type(union)) if (value := getattr(union, field)) is not UNSET]
    return members[0] if len(members) == 1 else ("", None)


def walk(value: Any, path: str = "") -> Iterator[tuple[str, Strict]]:
    """Each object of a body with its path, such as `messages.0.content.1.image`."""
    match value:
        case Strict():
            yield path, value
            for field, name in _names_of(type(value)):
                yield from walk(getattr(value, field), f"{path}.{name}".removeprefix("."))
        case list():
            for index, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - a list from the body
                yield from walk(item, f"{path}.{index}")
        case _:
            return
