"""Events of AG-UI 1.0 (npm `@ag-ui/core` 1.0.0), and their serialization.

Only the events that we send are defined. Peers of 0.0.x accept all of them, but no parts in a tool's result.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from showandtell.core.ui_stream.chunks import Record

#: The version that a run declares to a peer of 1.0.
PROTOCOL_VERSION = "1.0"
#: Headers of a response with these events.
HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}


class AgUiEvent(Struct, tag_field="type", rename="camel", omit_defaults=True):
    """Base of all events. A field without a value is left out, because null is invalid."""


class RunStarted(AgUiEvent, tag="RUN_STARTED"):
    """The first event of a run."""

    thread_id: str
    run_id: str
    protocol_version: str | None = None
    parent_run_id: str | None = None


class Interrupt(Struct, rename="camel"):
    """A call that waits for approval. `response_schema` is the JSON schema of the payload that answers it."""

    id: str
    reason: str
    message: str
    tool_call_id: str
    response_schema: Record


class Success(Struct, tag="success"):
    """A run that ended by itself."""


class Interrupted(Struct, tag="interrupt"):
    """A run that waits for approvals."""

    interrupts: list[Interrupt]


class Cancelled(Struct, tag="cancelled"):
    """A run that was stopped. Only peers of 1.0 know this outcome."""


class TokenUsage(Struct, rename="camel"):
    """Tokens of a run by one model. A total includes its parts: cached and written input, reasoning output."""

    model: str
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cached_input_tokens: int
    cache_write_input_tokens: int


class RunFinished(AgUiEvent, tag="RUN_FINISHED"):
    """The last event of a run without an error."""

    thread_id: str
    run_id: str
    result: Record
    outcome: Success | Interrupted | Cancelled
    usage: list[TokenUsage] = []


class RunError(AgUiEvent, tag="RUN_ERROR"):
    """The last event of a run that failed."""

    message: str
    code: str | None = None


class StepStarted(AgUiEvent, tag="STEP_STARTED"):
    """A call of the model starts."""

    step_name: str


class StepFinished(AgUiEvent, tag="STEP_FINISHED"):
    """A step is complete, including its tool calls."""

    step_name: str


class TextStart(AgUiEvent, tag="TEXT_MESSAGE_START"):
    """Start a text, or continue the message with this id."""

    message_id: str
    role: str


class TextContent(AgUiEvent, tag="TEXT_MESSAGE_CONTENT"):
    """More of a text."""

    message_id: str
    delta: str


class TextEnd(AgUiEvent, tag="TEXT_MESSAGE_END"):
    """The text of a message is complete."""

    message_id: str


class ReasoningStart(AgUiEvent, tag="REASONING_START"):
    """A span of reasoning starts."""

    message_id: str


class ReasoningMessageStart(AgUiEvent, tag="REASONING_MESSAGE_START"):
    """The text of a span of reasoning starts."""

    message_id: str
    role: str


class ReasoningContent(AgUiEvent, tag="REASONING_MESSAGE_CONTENT"):
    """More of the text of a span of reasoning."""

    message_id: str
    delta: str


class ReasoningMessageEnd(AgUiEvent, tag="REASONING_MESSAGE_END"):
    """The text of a span of reasoning is complete."""

    message_id: str


class ReasoningEnd(AgUiEvent, tag="REASONING_END"):
    """A span of reasoning ends."""

    message_id: str


class CallStart(AgUiEvent, tag="TOOL_CALL_START"):
    """Start a tool call, which belongs to an assistant message."""

    tool_call_id: str
    tool_call_name: str
    parent_message_id: str


class CallArguments(AgUiEvent, tag="TOOL_CALL_ARGS"):
    """More of a call's arguments, as text."""

    tool_call_id: str
    delta: str


class CallEnd(AgUiEvent, tag="TOOL_CALL_END"):
    """A call's arguments are complete. The metadata becomes that of the call."""

    tool_call_id: str
    metadata: Record | None = None


class CallResult(AgUiEvent, tag="TOOL_CALL_RESULT"):
    """A tool's result: text, or parts."""

    message_id: str
    tool_call_id: str
    content: str | list[Record]
    role: str = ""
    metadata: Record | None = None


class StateSnapshot(AgUiEvent, tag="STATE_SNAPSHOT"):
    """The complete state."""

    snapshot: Record


class MessagesSnapshot(AgUiEvent, tag="MESSAGES_SNAPSHOT"):
    """All messages of the conversation. Clients drop theirs that are not among them."""

    messages: list[Any]


class ActivitySnapshot(AgUiEvent, tag="ACTIVITY_SNAPSHOT"):
    """A message that is no part of the conversation, such as a receipt. A later one with the same id replaces it."""

    message_id: str
    activity_type: str
    content: Record


class Custom(AgUiEvent, tag="CUSTOM"):
    """An event of our own, which becomes no message."""

    name: str
    value: Record


Event: TypeAlias = (
    RunStarted
    | RunFinished
    | RunError
    | StepStarted
    | StepFinished
    | TextStart
    | TextContent
    | TextEnd
    | ReasoningStart
    | ReasoningMessageStart
    | ReasoningContent
    | ReasoningMessageEnd
    | ReasoningEnd
    | CallStart
    | CallArguments
    | CallEnd
    | CallResult
    | StateSnapshot
    | MessagesSnapshot
    | ActivitySnapshot
    | Custom
)
