"""The events of a run: parsers produce them, `Accumulator` builds a message of them, programs receive them.

A batch holds the events of one network read. Every event has its `type` in JSON.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.core.events.annotations import Annotation
from showandtell.core.messages.file import Audience, File
from showandtell.core.messages.message import Stop
from showandtell.core.messages.parts import HostedBlock, HostedState, Json, Shown, Source, Text

Status: TypeAlias = Literal["complete", "incomplete", "refused", "error", "waiting"]
#: What a new message does while an answer runs: it stops that answer, waits for its end, or is refused.
IfRunning: TypeAlias = Literal["stop", "queue", "error"]


class Usage(Checked, Struct, frozen=True):
    """Tokens of one or more steps, as the provider counts them. Numbers that it doesn't report are 0.

    >>> from showandtell import Usage
    >>> total = Usage(input_tokens=10, output_tokens=2) + Usage(input_tokens=15, output_tokens=3)
    >>> total.input_tokens, total.output_tokens
    (25, 5)

    Args:
        input_tokens: the complete prompt, cached tokens included.
        cached_tokens: the part read from a cache.
        written_tokens: the part written to one.
        output_tokens: the complete answer, reasoning_tokens included.
        modalities: the prompt's tokens by kind ("text", "image", "document", "audio", "video"), if reported.
        cost: US dollars, if reported.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0
    modalities: dict[str, int] = {}
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        kinds = {**self.modalities, **other.modalities}
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            {kind: self.modalities.get(kind, 0) + other.modalities.get(kind, 0) for kind in kinds},
            sum(costs) if costs else None,
        )


class TextStart(Checked, Struct, frozen=True, tag="text-start"):
    """Deltas with this id follow. Ids are unique within a step."""

    id: str


class TextDelta(Checked, Struct, frozen=True, tag="text-delta"):
    """More of a text."""

    id: str
    text: str


class TextEnd(Checked, Struct, frozen=True, tag="text-end", omit_defaults=True):
    """A text is complete. `opaque` must go back to the provider with the text."""

    id: str
    opaque: str | None = None


class ReasoningStart(Checked, Struct, frozen=True, tag="reasoning-start"):
    """A thought of the model starts."""

    id: str


class ReasoningDelta(Checked, Struct, frozen=True, tag="reasoning-delta"):
    """More of a thought."""

    id: str
    text: str


class ReasoningEnd(Checked, Struct, frozen=True, tag="reasoning-end"):
    """A thought is complete. `opaque` must go back to the provider with the history."""

    id: str
    opaque: str | None = None


class ToolInputStart(Checked, Struct, frozen=True, tag="tool-input-start"):
    """A tool call of the model starts."""

    call_id: str
    tool: str


class ToolInputDelta(Checked, Struct, frozen=True, tag="tool-input-delta"):
    """More of a call's arguments, as text."""

    call_id: str
    text: str


class ToolInputEnd(Checked, Struct, frozen=True, tag="tool-input-end"):
    """A call's arguments are complete. `opaque` must go back to the provider with the call."""

    call_id: str
    opaque: str | None = None


class HostedCall(Checked, Struct, frozen=True, tag="hosted-call"):
    """The provider runs a tool of its own: first while it runs, and again with its output, or once with both.

    `input` and `output` are JSON texts, cut if they are long, and empty as long as there is none. `tool` is the
    provider's name of the tool, or the type of a block that this version doesn't know.
    """

    call_id: str
    tool: str
    input: str = ""
    output: str = ""
    state: HostedState = "done"


class SourceEvent(Checked, Struct, frozen=True, tag="source"):
    """The text with this id comes from a source. It is sent before the text ends.

    Args:
        document: a file of the request, by its place among the documents. Internal: programs receive the `number` of
            the source's file.
        file_id: the same by the provider's id.
    """

    id: str
    source: Source
    document: int | None = None
    file_id: str = ""


class BlockRead(Struct, frozen=True, tag="block-read"):
    """A complete block that goes back to the provider. Internal: programs receive a `HostedCall`."""

    part: HostedBlock


class RemoteFile(Struct, frozen=True):
    """A file that the provider keeps: its id, and the id of the container of code that made it, if that is needed."""

    file_id: str
    container_id: str = ""


class FileMade(Checked, Struct, frozen=True, tag="file-made"):
    """The model generated a file. Internal: programs receive a `FileEvent` once the file is stored.

    `data` are the bytes. If they aren't available, `data` is empty and `problem` says why; those of a `remote` file are
    fetched once the answer is complete. made_by: the tool of the provider that made it, and its call.
    """

    media_type: str
    data: bytes
    name: str | None = None
    problem: str | None = None
    remote: RemoteFile | None = None
    made_by: tuple[str, str] | None = None


class OutputDelta(Checked, Struct, frozen=True, tag="output-delta", dict=True):
    """More of an answer with an output type, as JSON text. `value` is the answer so far."""

    text: str

    @property
    def value(self) -> Any:
        """The value so far, parsed on demand and not validated. Objects lack the fields that are still to come.

        None before the first value, and for an event that was read from JSON.
        """
        so_far = self.__dict__.get("so_far")
        return None if so_far is None else so_far()


class StepEnd(Checked, Struct, frozen=True, tag="step-end"):
    """The provider reported why its message ended, and its usage."""

    stop: Stop
    usage: Usage
    detail: str = ""


class ProviderFault(Checked, Struct, frozen=True, tag="provider-fault"):
    """An error within a stream."""

    text: str


class StepStart(Checked, Struct, frozen=True, tag="step-start"):
    """A model call starts. `step` counts from 1 within the run."""

    step: int


class StepFinish(Checked, Struct, frozen=True, tag="step-finish"):
    """A step's message is stored. `asides` is output of the model that isn't part of the message."""

    step: int
    stop: Stop
    usage: Usage
    asides: tuple[Annotation, ...] = ()


class ToolStart(Checked, Struct, frozen=True, tag="tool-start"):
    """A tool starts with these arguments, as the model wrote them."""

    call_id: str
    tool: str
    arguments: str


class ToolProgress(Checked, Struct, frozen=True, tag="tool-progress"):
    """A tool reports progress: `done` of `total`, or a note. `preview` is a small picture, such as of a first draft."""

    call_id: str
    done: float
    total: float | None = None
    note: str = ""
    preview: File | None = None


class ToolOutput(Checked, Struct, frozen=True, tag="tool-output"):
    """A tool's stored result: its text for people, the numbers of its files, and all that people may see of it.

    It has texts for the user alone, too: don't give it to a model.
    """

    call_id: str
    tool: str
    text: str
    files: tuple[int, ...]
    is_error: bool
    parts: tuple[Text | Json[Shown] | Shown, ...] = ()


class FileEvent(Checked, Struct, frozen=True, tag="file"):
    """A file was added to the conversation: its origin, its verified type, and who may see it."""

    number: int
    id: str
    name: str
    kind: str
    media_type: str
    size: int
    origin: str
    problem: str | None = None
    audience: Audience = "both"


class ReceiptEvent(Checked, Struct, frozen=True, tag="receipt"):
    """How one file was sent to the model in this step, and why, with the keys of `Receipt.record()`."""

    step: int
    receipt: dict[str, object]


class ApprovalNeeded(Checked, Struct, frozen=True, tag="approval"):
    """A call waits for approval."""

    call_id: str
    tool: str
    arguments: str


class Retry(Checked, Struct, frozen=True, tag="retry"):
    """The request is repeated after `seconds`. `files` are the numbers of files left out of it."""

    reason: str
    seconds: float
    files: tuple[int, ...] = ()


class ErrorEvent(Checked, Struct, frozen=True, tag="error"):
    """An error. `kind` is the name of its class."""

    kind: str
    text: str


class Finish(Checked, Struct, frozen=True, tag="finish"):
    """The last event of a run."""

    status: Status
    reason: str | None = None
    usage: Usage = Usage()


#: Events of the model's output that programs receive.
ModelEvent: TypeAlias = (
    TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | HostedCall
    | SourceEvent
    | StepEnd
    | ProviderFault
)
StreamEvent: TypeAlias = ModelEvent | FileMade | BlockRead
Event: TypeAlias = (
    ModelEvent
    | StepStart
    | StepFinish
    | ToolStart
    | ToolProgress
    | ToolOutput
    | FileEvent
    | ReceiptEvent
    | ApprovalNeeded
    | OutputDelta
    | Retry
    | ErrorEvent
    | Finish
)
