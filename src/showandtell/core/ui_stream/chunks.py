"""The chunks of the UI message stream, version 1, spelled as npm `ai` 7.0.173 spells them, and their bytes.

Of that list these are the ones that we send. What travels in a data part is ours, and spelled as everywhere here.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct, structs

from showandtell.core.wire import sse

#: What a response with these chunks says of itself.
HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
DONE = b"data: [DONE]\n\n"

#: A JSON object as plain values.
Record: TypeAlias = dict[str, Any]


class Start(Struct, tag="start", rename="camel"):
    """A message begins, or goes on."""

    message_id: str
    message_metadata: Record


class StartStep(Struct, tag="start-step"):
    """A model call begins."""


class FinishStep(Struct, tag="finish-step"):
    """A model call is over, and its tools are."""


class ResetStep(Struct, tag="reset-step"):
    """What this step has said so far is void."""


class BeginText(Struct, tag="text-start"):
    """A text begins."""

    id: str


class MoreText(Struct, tag="text-delta"):
    """More of it."""

    id: str
    delta: str


class EndText(Struct, tag="text-end"):
    """It is whole."""

    id: str


class BeginReasoning(Struct, tag="reasoning-start"):
    """A thought begins."""

    id: str


class MoreReasoning(Struct, tag="reasoning-delta"):
    """More of it."""

    id: str
    delta: str


class EndReasoning(Struct, tag="reasoning-end"):
    """It is whole."""

    id: str


class BeginInput(Struct, tag="tool-input-start", rename="camel"):
    """A call begins."""

    tool_call_id: str
    tool_name: str


class MoreInput(Struct, tag="tool-input-delta", rename="camel"):
    """More of its arguments, as text."""

    tool_call_id: str
    input_text_delta: str


class Input(Struct, tag="tool-input-available", rename="camel"):
    """Its arguments: the model's own JSON, or its text where a browser must not read that as JSON."""

    tool_call_id: str
    tool_name: str
    input: Raw | str


class InputError(Struct, tag="tool-input-error", rename="camel"):
    """Its arguments are not whole; `input` is the text that came."""

    tool_call_id: str
    tool_name: str
    input: str
    error_text: str


class ApprovalRequest(Struct, tag="tool-approval-request", rename="camel"):
    """It waits for a person."""

    approval_id: str
    tool_call_id: str


class ApprovalResponse(Struct, tag="tool-approval-response", rename="camel", omit_defaults=True):
    """A person has answered."""

    approval_id: str
    approved: bool
    reason: str | None = None


class Output(Struct, tag="tool-output-available", rename="camel"):
    """What the tool gave: its words, and the numbers of its files."""

    tool_call_id: str
    output: Record


class OutputError(Struct, tag="tool-output-error", rename="camel"):
    """What the tool said when it failed."""

    tool_call_id: str
    error_text: str


class OutputDenied(Struct, tag="tool-output-denied", rename="camel"):
    """A person said no."""

    tool_call_id: str


class FileLink(Struct, tag="file", rename="camel"):
    """A file for clients that know no attachments."""

    url: str
    media_type: str


class AttachmentData(Struct, tag="data-attachment", omit_defaults=True):
    """A file of the conversation. `transient`: the client is told, the message doesn't hold it."""

    id: str
    data: Record
    transient: bool = False


class ReceiptData(Struct, tag="data-receipt"):
    """What the model was given of a file in a step; the same id again replaces it."""

    id: str
    data: Record


class StepData(Struct, tag="data-step"):
    """Which model made a step, what it took, and why it ended."""

    id: str
    data: Record


class ProgressData(Struct, tag="data-progress"):
    """How far a tool is."""

    data: Record
    transient: bool = True


class RetryData(Struct, tag="data-retry"):
    """The provider is asked again."""

    data: Record
    transient: bool = True


class Metadata(Struct, tag="message-metadata", rename="camel"):
    """More about the message."""

    message_metadata: Record


class Error(Struct, tag="error", rename="camel"):
    """The run failed. The stock client reads no further."""

    error_text: str


class Abort(Struct, tag="abort"):
    """The run was stopped."""

    reason: str


class End(Struct, tag="finish", rename="camel"):
    """The message is over."""

    finish_reason: str
    message_metadata: Record


Chunk: TypeAlias = (
    Start
    | StartStep
    | FinishStep
    | ResetStep
    | BeginText
    | MoreText
    | EndText
    | BeginReasoning
    | MoreReasoning
    | EndReasoning
    | BeginInput
    | MoreInput
    | Input
    | InputError
    | ApprovalRequest
    | ApprovalResponse
    | Output
    | OutputError
    | OutputDenied
    | FileLink
    | AttachmentData
    | ReceiptData
    | StepData
    | ProgressData
    | RetryData
    | Metadata
    | Error
    | Abort
    | End
)

_encode = msgspec.json.Encoder().encode


def spell(chunk: Chunk) -> bytes:
    """One chunk as one server-sent event, whatever text is in it: half a surrogate pair becomes U+FFFD."""
    try:
        data = _encode(chunk)
    except UnicodeEncodeError:
        fields = {name: mend(getattr(chunk, name)) for name in chunk.__struct_fields__}
        data = _encode(structs.replace(chunk, **fields))
    # Only a model's own arguments, which are sent as they are, hold line ends.
    return b"data: " + data + b"\n\n" if b"\n" not in data and b"\r" not in data else sse.encode(data)


def mend(value: Any) -> Any:
    """A plain value whose words can be encoded."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            held = cast("Record", value)
            return {mend(key): mend(one) for key, one in held.items()}
        case list() | tuple():
            return [mend(one) for one in cast("list[Any]", value)]
        case _:
            return value
