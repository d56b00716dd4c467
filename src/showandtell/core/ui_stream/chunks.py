"""Chunks of the UI message stream, version 1 (npm `ai` 7.0.173), and their serialization.

Only the chunks that we send are defined. The contents of data parts are ours and use snake case.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct, structs

from showandtell.core.wire import sse

#: Headers of a response with these chunks.
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
    """Start or continue a message."""

    message_id: str
    message_metadata: Record


class StartStep(Struct, tag="start-step"):
    """Start a step, which is one model call."""


class FinishStep(Struct, tag="finish-step"):
    """Finish a step, including its tool calls."""


class ResetStep(Struct, tag="reset-step"):
    """Discard the content of the current step."""


class StartText(Struct, tag="text-start"):
    """Opens a text block; chunks with this id fill it."""

    id: str


class MoreText(Struct, tag="text-delta"):
    """Continue a text."""

    id: str
    delta: str


class EndText(Struct, tag="text-end"):
    """Closes the text block with this id."""

    id: str


class StartReasoning(Struct, tag="reasoning-start"):
    """Start a reasoning block."""

    id: str


class MoreReasoning(Struct, tag="reasoning-delta"):
    """Continue a reasoning block."""

    id: str
    delta: str


class EndReasoning(Struct, tag="reasoning-end"):
    """End a reasoning block."""

    id: str


class StartInput(Struct, tag="tool-input-start", rename="camel"):
    """Start a tool call."""

    tool_call_id: str
    tool_name: str


class MoreInput(Struct, tag="tool-input-delta", rename="camel"):
    """Continue a call's arguments, as text."""

    tool_call_id: str
    input_text_delta: str


class Input(Struct, tag="tool-input-available", rename="camel", omit_defaults=True):
    """A call's complete arguments: the model's JSON, or its text as a string if a browser refuses or rounds its value.

    provider_executed: the provider runs the tool itself.
    """

    tool_call_id: str
    tool_name: str
    input: Raw
    provider_executed: bool = False


class InputError(Struct, tag="tool-input-error", rename="camel"):
    """A call's arguments were cut off; `input` is the text received."""

    tool_call_id: str
    tool_name: str
    input: str
    error_text: str


class ApprovalRequest(Struct, tag="tool-approval-request", rename="camel", omit_defaults=True):
    """A call that waits for the user's approval. The client sends the signature back with its decision."""

    approval_id: str
    tool_call_id: str
    signature: str | None = None


class ApprovalResponse(Struct, tag="tool-approval-response", rename="camel", omit_defaults=True):
    """The user's approval or denial of a call."""

    approval_id: str
    approved: bool
    reason: str | None = None


class Output(Struct, tag="tool-output-available", rename="camel", omit_defaults=True):
    """A tool's result: what it returned, with references in place of files. The metadata is ours."""

    tool_call_id: str
    output: Raw
    tool_metadata: Record = {}
    provider_executed: bool = False


class OutputError(Struct, tag="tool-output-error", rename="camel", omit_defaults=True):
    """A tool's error text."""

    tool_call_id: str
    error_text: str
    provider_executed: bool = False


class OutputDenied(Struct, tag="tool-output-denied", rename="camel"):
    """A call was denied by the user."""

    tool_call_id: str


class UrlSource(Struct, tag="source-url", rename="camel", omit_defaults=True):
    """A text comes from an address. The metadata is ours."""

    source_id: str
    url: str
    title: str = ""
    provider_metadata: Record = {}


class DocumentSource(Struct, tag="source-document", rename="camel", omit_defaults=True):
    """A text comes from a document: a file of the conversation, or one that the provider has. The metadata is ours."""

    source_id: str
    media_type: str
    title: str
    filename: str = ""
    provider_metadata: Record = {}


class FileLink(Struct, tag="file", rename="camel"):
    """A file, for clients that don't support `data-attachment`."""

    url: str
    media_type: str


class AttachmentData(Struct, tag="data-attachment", omit_defaults=True):
    """A file of the conversation. If `transient`, it does not become part of the message."""

    id: str
    data: Record
    transient: bool = False


class UserTextData(Struct, tag="data-user-text"):
    """Text for the user alone: of a tool's result, whose call is its `tool_call_id`, or of a message."""

    id: str
    data: Record


class ReceiptData(Struct, tag="data-receipt"):
    """What the model received of a file in a step. A later chunk with the same id replaces it."""

    id: str
    data: Record


class StepData(Struct, tag="data-step"):
    """A step's model, usage and stop reason."""

    id: str
    data: Record


class ProgressData(Struct, tag="data-progress"):
    """A tool's progress."""

    data: Record
    transient: bool = True


class RetryData(Struct, tag="data-retry"):
    """The request to the provider is retried."""

    data: Record
    transient: bool = True


class WorkerData(Struct, tag="data-worker"):
    """The server lost the worker of this answer and waits for another, or has found one."""

    data: Record
    transient: bool = True


class QueueData(Struct, tag="data-queue"):
    """Messages that wait for the end of this answer have changed."""

    data: Record
    transient: bool = True


class Metadata(Struct, tag="message-metadata", rename="camel"):
    """Additional metadata of the message."""

    message_metadata: Record


class Error(Struct, tag="error", rename="camel"):
    """The run failed. The stock client ignores everything after this chunk."""

    error_text: str


class Abort(Struct, tag="abort"):
    """The run was cancelled."""

    reason: str


class End(Struct, tag="finish", rename="camel"):
    """Finish the message."""

    finish_reason: str
    message_metadata: Record


Chunk: TypeAlias = (
    Start
    | StartStep
    | FinishStep
    | ResetStep
    | StartText
    | MoreText
    | EndText
    | StartReasoning
    | MoreReasoning
    | EndReasoning
    | StartInput
    | MoreInput
    | Input
    | InputError
    | ApprovalRequest
    | ApprovalResponse
    | Output
    | OutputError
    | OutputDenied
    | UrlSource
    | DocumentSource
    | FileLink
    | AttachmentData
    | UserTextData
    | ReceiptData
    | StepData
    | ProgressData
    | RetryData
    | WorkerData
    | QueueData
    | Metadata
    | Error
    | Abort
    | End
)

_encode = msgspec.json.Encoder().encode


def serialize(chunk: Struct) -> bytes:
    """Encode a chunk, or an event of AG-UI, as a server-sent event. Unpaired surrogates in its text become U+FFFD."""
    try:
        data = _encode(chunk)
    except UnicodeEncodeError:
        fields = {name: replace_surrogates(getattr(chunk, name)) for name in chunk.__struct_fields__}
        data = _encode(structs.replace(chunk, **fields))
    # Only a model's arguments, which are sent unchanged, can contain line ends.
    return b"data: " + data + b"\n\n" if b"\n" not in data and b"\r" not in data else sse.encode(data)


def replace_surrogates(value: Any) -> Any:
    """Replace unpaired surrogates in a JSON value."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            items = cast("Record", value)
            return {replace_surrogates(key): replace_surrogates(item) for key, item in items.items()}
        case list() | tuple():
            return [replace_surrogates(item) for item in cast("list[Any]", value)]
        case _:
            return value
