"""The body of POST /v1/responses as the API defines it (types of openai 3.54): names, types and nesting of one item.

Items and tools stay raw in `Body`: each is decoded by its own `type`. Tools that the host provides are not checked.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]
Phase: TypeAlias = Literal["commentary", "final_answer"]
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Summaries: TypeAlias = Literal["auto", "concise", "detailed"]


class Strict(Struct, forbid_unknown_fields=True):
    """An object in which unknown fields are an error."""


class Breakpoint(Strict):
    """A cache mark."""

    mode: Literal["explicit"]
    ttl: Literal["30m", "12h"] | UnsetType = UNSET


class Part(Strict):
    """Fields that any input part may have."""

    prompt_cache_breakpoint: Breakpoint | None = None


class Text(Part, tag="input_text", kw_only=True):
    """A text part."""

    text: str


class Image(Part, tag="input_image", kw_only=True):
    """An image: a URL, a data URL, or the id of an upload."""

    image_url: str | None = None
    file_id: str | None = None
    detail: Literal["auto", "low", "high", "original"] | None = None


class File(Part, tag="input_file", kw_only=True):
    """A file: a data URL, a URL, or the id of an upload."""

    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    filename: str | None = None
    detail: Literal["auto", "low", "high"] | UnsetType = UNSET


class OutputText(Strict, tag="output_text"):
    """Text of the model."""

    text: str
    annotations: list[dict[str, Any]] = []
    logprobs: list[dict[str, Any]] | None = None


class Refused(Strict, tag="refusal"):
    """The model's refusal."""

    refusal: str


Input: TypeAlias = Text | Image | File


class User(Strict):
    """A user message."""

    role: Literal["user"]
    content: str | list[Input]
    type: Literal["message"] = "message"
    id: str | None = None
    status: Status | None = None


class Instruction(Strict):
    """A message of the program, which comes before those of the user."""

    role: Literal["system", "developer"]
    content: str | list[Text]
    type: Literal["message"] = "message"
    id: str | None = None
    status: Status | None = None


class Assistant(Strict):
    """An assistant message."""

    role: Literal["assistant"]
    content: str | list[OutputText | Refused]
    type: Literal["message"] = "message"
    id: str | None = None
    status: Status | None = None
    phase: Phase | None = None


class FunctionCall(Strict):
    """A function call by the model."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: Status | None = None
    caller: dict[str, Any] | None = None
    namespace: str | None = None
    waits: bool | None = msgspec.field(name="async", default=None)


class FunctionOutput(Strict):
    """The result of a function call."""

    type: Literal["function_call_output"]
    call_id: str
    output: str | list[Input]
    id: str | None = None
    status: Status | None = None
    caller: dict[str, Any] | None = None
    name: str | None = None
    namespace: str | None = None


class CustomCall(Strict):
    """A call of a tool that takes free text."""

    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    input: str
    id: str | None = None
    status: Status | None = None
    caller: dict[str, Any] | None = None
    namespace: str | None = None
    waits: bool | None = msgspec.field(name="async", default=None)


class CustomOutput(Strict):
    """The result of a `CustomCall`."""

    type: Literal["custom_tool_call_output"]
    call_id: str
    output: str | list[Input]
    id: str | None = None
    status: Status | None = None
    caller: dict[str, Any] | None = None
    name: str | None = None
    namespace: str | None = None


class Thought(Strict, tag="summary_text"):
    """A summary of reasoning."""

    text: str


class Thinking(Strict, tag="reasoning_text"):
    """Text of reasoning."""

    text: str


class Reasoning(Strict):
    """Reasoning of the model: an id if the response was stored, else encrypted content."""

    type: Literal["reasoning"]
    summary: list[Thought]
    id: str | None = None
    content: list[Thinking] | None = None
    encrypted_content: str | None = None
    status: Status | UnsetType = UNSET


class Reference(Strict):
    """The id of a stored item."""

    id: str
    type: Literal["item_reference"] | None = None


class HostedOutput(Struct):
    """What code returned: logs, or an image as a data URL."""

    type: str
    url: str | None = None


class Hosted(Struct):
    """An item of, or a tool that the host provides. Only its files are checked."""

    type: str
    id: str | None = None
    result: str | None = None
    output_format: str = "png"
    outputs: list[HostedOutput] | None = None


Message: TypeAlias = User | Instruction | Assistant
Call: TypeAlias = FunctionCall | CustomCall
Output: TypeAlias = FunctionOutput | CustomOutput
Item: TypeAlias = Message | Call | Output | Reasoning | Reference | Hosted

ROLES: dict[str, type[Message]] = {
    "assistant": Assistant,
    "system": Instruction,
    "developer": Instruction,
    "user": User,
}
ITEMS: dict[str, type[Item]] = {
    "function_call": FunctionCall,
    "function_call_output": FunctionOutput,
    "custom_tool_call": CustomCall,
    "custom_tool_call_output": CustomOutput,
    "reasoning": Reasoning,
    "item_reference": Reference,
}
#: Items that tools of the host produce. The model makes the calls.
HOSTED_CALLS = frozenset(
    re.findall(
        r"\w+",
        """
        apply_patch_call code_interpreter_call computer_call file_search_call image_generation_call local_shell_call
        mcp_approval_request mcp_call mcp_list_tools program shell_call tool_search_call web_search_call
        """,
    )
)
HOSTED_OUTPUTS = frozenset(
    re.findall(
        r"\w+",
        """
        additional_tools apply_patch_call_output compaction compaction_trigger computer_call_output
        configuration_update local_shell_call_output mcp_approval_response program_output shell_call_output
        tool_search_output
        """,
    )
)
HOSTED_TOOLS = frozenset(
    re.findall(
        r"\w+",
        """
        apply_patch code_interpreter computer computer_use_preview custom file_search image_generation local_shell mcp
        namespace programmatic_tool_calling shell tool_search web_search web_search_2025_08_26 web_search_preview
        web_search_preview_2025_03_11
        """,
    )
)


class Peek(Struct):
    """The fields that tell items apart."""

    type: str | None = None
    role: str | None = None


class Tool(Strict):
    """A function that may be called."""

    type: Literal["function"]
    name: str
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    description: str | None = None
    allowed_callers: list[Literal["direct", "programmatic"]] | None = None
    defer_loading: bool | UnsetType = UNSET
    output_schema: dict[str, Any] | None = None
    waits: bool | UnsetType = msgspec.field(name="async", default=UNSET)


class Choice(Strict):
    """A required tool, or the allowed tools."""

    type: str
    name: str | None = None
    mode: Literal["auto", "required"] | UnsetType = UNSET
    tools: list[dict[str, Any]] | UnsetType = UNSET
    server_label: str | UnsetType = UNSET


class PlainFormat(Strict, tag="text"):
    """Plain text."""


class ObjectFormat(Strict, tag="json_object"):
    """Any JSON object."""


class SchemaFormat(Strict, tag="json_schema"):
    """JSON that matches a schema."""

    name: str
    schema: dict[str, Any]
    description: str | UnsetType = UNSET
    strict: bool | None = None


class TextOptions(Strict):
    """The format of the response."""

    format: PlainFormat | ObjectFormat | SchemaFormat | UnsetType = UNSET
    verbosity: Literal["low", "medium", "high"] | None = None


class ReasoningOptions(Strict):
    """Reasoning effort, and what to return of it."""

    effort: Effort | None = None
    summary: Summaries | None = None
    generate_summary: Summaries | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: str | UnsetType = UNSET


class StreamOptions(Strict):
    """Extras in a stream."""

    include_obfuscation: bool = True


Includable: TypeAlias = Literal[
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
]


class Body(Strict):
    """The request body."""

    model: str
    input: str | list[Raw]
    instructions: str | None = None
    tools: list[Raw] = []
    tool_choice: str | Choice = "auto"
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    store: bool | None = None
    include: list[Includable] | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    reasoning: ReasoningOptions | None = None
    text: TextOptions | UnsetType = UNSET
    truncation: Literal["auto", "disabled"] | None = None
    metadata: dict[str, str] | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    background: bool | None = None
    background_options: dict[str, Any] | UnsetType = UNSET
    context_management: list[dict[str, Any]] | None = None
    access_programs: dict[str, Any] | UnsetType = UNSET
    image: dict[str, Any] | UnsetType = UNSET
    moderation: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] | UnsetType = UNSET
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    safety_identifier: str | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] | None = None
    user: str | UnsetType = UNSET
