"""The body of generateContent as the API defines it: names, types and nesting of one content.

Names and types are those of google-genai 3.4, in snake_case like the API's paths. `gemini.json` also accepts camelCase.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field, inspect

Host: TypeAlias = Literal["google", "vertex"]
#: A JSON object with keys that the API doesn't define.
Object: TypeAlias = dict[str, Any]

Modality: TypeAlias = Literal["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO", "VIDEO"]
Mode: TypeAlias = Literal["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"]
Kind: TypeAlias = Literal[
    "TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"
]  # fmt: skip
Level: TypeAlias = Literal["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"]
Threshold: TypeAlias = Literal[
    "HARM_BLOCK_THRESHOLD_UNSPECIFIED", "BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH",
    "BLOCK_NONE", "OFF",
]  # fmt: skip
Scheduling: TypeAlias = Literal["SCHEDULING_UNSPECIFIED", "SILENT", "WHEN_IDLE", "INTERRUPT"]
Resolution: TypeAlias = Literal[
    "MEDIA_RESOLUTION_UNSPECIFIED", "MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH"
]  # fmt: skip


class Strict(Struct, kw_only=True):
    """An object in which unknown names are an error."""


class Blob(Strict):
    """Bytes in the body."""

    mime_type: str = ""
    data: bytes = b""
    display_name: str = ""


class FileData(Strict):
    """Bytes elsewhere."""

    file_uri: str = ""
    mime_type: str = ""
    display_name: str = ""


class FunctionCall(Strict):
    """A function call by the model."""

    name: str = ""
    id: str = ""
    args: Object | None = None
    partial_args: list[Object] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(Strict):
    """A file in the result of a function call."""

    inline_data: Blob | None = None
    file_data: FileData | None = None
    media_processing: str | None = None
    media_resolution: Object | None = None
    video_metadata: Object | None = None
    document_metadata: Object | None = None
    spreadsheet_metadata: Object | None = None
    audio_metadata: Object | None = None


class FunctionResponse(Strict):
    """The result of a function call."""

    name: str = ""
    id: str = ""
    response: Object | None = None
    parts: list[FunctionResponsePart] = []
    scheduling: Scheduling | None = None
    will_continue: bool | None = None


class Part(Strict):
    """A part of a content. Exactly one field of `DATA` is set."""

    text: str | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: Object | None = None
    code_execution_result: Object | None = None
    tool_call: Object | None = None
    tool_response: Object | None = None
    audio_transcription: Object | None = None
    thought: bool = False
    thought_signature: bytes | None = None
    video_metadata: Object | None = None
    media_resolution: Object | None = None
    media_processing: str | None = None
    part_metadata: Object | None = None
    speech_metadata: Object | None = None
    document_metadata: Object | None = None
    spreadsheet_metadata: Object | None = None
    audio_metadata: Object | None = None


#: The fields of a part of which only one may be set.
DATA = (
    "text", "inline_data", "file_data", "function_call", "function_response", "executable_code",
    "code_execution_result", "tool_call", "tool_response", "audio_transcription",
)  # fmt: skip


class Content(Strict):
    """One turn."""

    role: str = ""
    parts: list[Part] = []


class Schema(Strict):
    """The API's own dialect of JSON schema."""

    type: Kind | None = None
    format: str | None = None
    title: str | None = None
    description: str | None = None
    nullable: bool | None = None
    enum: list[str] | None = None
    items: Schema | None = None
    min_items: int | None = None
    max_items: int | None = None
    properties: dict[str, Schema] | None = None
    property_ordering: list[str] | None = None
    required: list[str] | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    any_of: list[Schema] | None = None
    additional_properties: Any = None
    default: Any = None
    example: Any = None
    ref: str | None = None
    defs: dict[str, Schema] | None = None


class FunctionDeclaration(Strict):
    """A function that the model may call."""

    name: str = ""
    description: str = ""
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Schema | None = None
    response_json_schema: Any = None
    behavior: Literal["UNSPECIFIED", "BLOCKING", "NON_BLOCKING"] | None = None


class Tool(Strict):
    """Functions, or a tool that the host runs."""

    function_declarations: list[FunctionDeclaration] = []
    google_search: Object | None = None
    google_search_retrieval: Object | None = None
    google_maps: Object | None = None
    code_execution: Object | None = None
    url_context: Object | None = None
    computer_use: Object | None = None
    file_search: Object | None = None
    mcp_servers: list[Object] = []
    retrieval: Object | None = None
    enterprise_web_search: Object | None = None
    parallel_ai_search: Object | None = None
    exa_ai_search: Object | None = None


class FunctionCallingConfig(Strict):
    """Whether the model calls functions, and which."""

    mode: Mode | None = None
    allowed_function_names: list[str] = []
    stream_function_call_arguments: bool | None = None


class ToolConfig(Strict):
    """How tools are used."""

    function_calling_config: FunctionCallingConfig = field(default_factory=FunctionCallingConfig)
    retrieval_config: Object | None = None
    include_server_side_tool_invocations: bool | None = None


class SafetySetting(Strict):
    """A threshold for harmful content."""

    category: str = ""
    threshold: Threshold | None = None
    method: Literal["HARM_BLOCK_METHOD_UNSPECIFIED", "SEVERITY", "PROBABILITY"] | None = None


class ThinkingConfig(Strict):
    """Reasoning effort."""

    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: Level | None = None


class ImageConfig(Strict):
    """Options for generated images."""

    aspect_ratio: str | None = None
    image_size: str | None = None
    person_generation: str | None = None
    prominent_people: str | None = None
    image_output_options: Object | None = None


class GenerationConfig(Strict):
    """Options for the response."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    candidate_count: int | None = None
    max_output_tokens: int | None = None
    stop_sequences: list[str] = []
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_logprobs: bool | None = None
    logprobs: int | None = None
    response_mime_type: str | None = None
    response_schema: Schema | None = None
    response_json_schema: Any = None
    response_format: list[Object] | None = None
    response_modalities: list[Modality] = []
    media_resolution: Resolution | None = None
    speech_config: Object | None = None
    thinking_config: ThinkingConfig | None = None
    image_config: ImageConfig | None = None
    audio_timestamp: bool | None = None
    routing_config: Object | None = None
    model_config: Object | None = None
    model_selection_config: Object | None = None
    enable_affective_dialog: bool | None = None
    enable_enhanced_civic_answers: bool | None = None
    translation_config: Object | None = None
    audio_transcription_config: Object | None = None


class Body(Strict):
    """The request body."""

    contents: list[Content] = []
    system_instruction: Content | None = None
    tools: list[Tool] = []
    tool_config: ToolConfig = field(default_factory=ToolConfig)
    safety_settings: list[SafetySetting] = []
    generation_config: GenerationConfig = field(default_factory=GenerationConfig)
    cached_content: str | None = None
    labels: dict[str, str] | None = None
    service_tier: str | None = None
    store: bool | None = None
    continuation_token: bytes | None = None
    model: str | None = None
    model_armor_config: Object | None = None
    output_config: Object | None = None


#: Fields that a host doesn't have: google-genai 3.4 raises instead of sending them.
ABSENT: dict[Host, frozenset[str]] = {
    "google": frozenset(
        {
            "FunctionCall.partial_args", "FunctionCall.will_continue", "Tool.retrieval", "Tool.enterprise_web_search",
            "Tool.parallel_ai_search", "Tool.exa_ai_search", "FunctionCallingConfig.stream_function_call_arguments",
            "SafetySetting.method", "ImageConfig.person_generation", "ImageConfig.prominent_people",
            "ImageConfig.image_output_options", "GenerationConfig.audio_timestamp", "GenerationConfig.routing_config",
            "GenerationConfig.model_config", "GenerationConfig.model_selection_config", "Body.model_armor_config",
            "Body.output_config",
        }
    ),
    "vertex": frozenset(
        {
            "Part.tool_call", "Part.tool_response", "Part.part_metadata", "FunctionResponse.will_continue",
            "FunctionResponsePart.media_processing", "Tool.file_search",
            "ToolConfig.include_server_side_tool_invocations", "GenerationConfig.enable_enhanced_civic_answers",
            "Body.store",
        }
    ),
}  # fmt: skip


def decode_bytes(text: str) -> bytes | None:
    """Decode standard or URL-safe base64, padded or not. None if invalid."""
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def _read_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _read_bytes(value: Any) -> bytes | None:
    return decode_bytes(value) if isinstance(value, str) else None


def _read_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _read_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _read_integer(value: Any) -> int | None:
    number = _read_number(value)
    return int(number) if number is not None and number.is_integer() else None


#: Each scalar type: its name in messages, and a function that reads a value, or returns None for another type.
SCALARS: dict[type[inspect.Type], tuple[str, Callable[[Any], Any]]] = {
    inspect.StrType: ("TYPE_STRING", _read_text),
    inspect.BytesType: ("TYPE_BYTES", _read_bytes),
    inspect.BoolType: ("TYPE_BOOL", _read_flag),
    inspect.IntType: ("TYPE_INT32", _read_integer),
    inspect.FloatType: ("TYPE_FLOAT", _read_number),
}
