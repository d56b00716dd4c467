"""What happens in a run, as small typed values: parsers give them, fold gathers them, programs watch them.

A batch is what one read of the network gave. Every event says its `type` in JSON.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from showandtell.core.events.annotations import Aside
from showandtell.core.messages.messages import Stop

Status: TypeAlias = Literal["complete", "incomplete", "refused", "error", "waiting"]


class Usage(Struct, frozen=True):
    """Tokens of one or more steps, as the provider counts them; a number that it doesn't tell is 0.

    input_tokens: the whole prompt, cached tokens included. cached_tokens: those of it read from a cache;
        written_tokens: those written to one. output_tokens: the whole answer, reasoning_tokens included.
    modalities: the prompt's tokens by what they stand for, "text", "image", "document", "audio", "video", where told.
    cost: US dollars, where the provider says so.
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


class TextStart(Struct, frozen=True, tag="text-start"):
    """A text begins."""

    id: str


class TextDelta(Struct, frozen=True, tag="text-delta"):
    """More of a text."""

    id: str
    text: str


class TextEnd(Struct, frozen=True, tag="text-end"):
    """A text is whole."""

    id: str


class ReasoningStart(Struct, frozen=True, tag="reasoning-start"):
    """The model begins to think aloud."""

    id: str


class ReasoningDelta(Struct, frozen=True, tag="reasoning-delta"):
    """More of a thought."""

    id: str
    text: str


class ReasoningEnd(Struct, frozen=True, tag="reasoning-end"):
    """A thought is whole; `opaque` is what the provider needs back to accept it in history."""

    id: str
    opaque: str | None = None


class ToolInputStart(Struct, frozen=True, tag="tool-input-start"):
    """The model begins to call a tool."""

    call_id: str
    tool: str


class ToolInputDelta(Struct, frozen=True, tag="tool-input-delta"):
    """More of a call's arguments, as text."""

    call_id: str
    text: str


class ToolInputEnd(Struct, frozen=True, tag="tool-input-end"):
    """A call's arguments are whole; `opaque` is what the provider needs back with the call."""

    call_id: str
    opaque: str | None = None


class FileMade(Struct, frozen=True, tag="file-made"):
    """The model made a file. Programs are told of it by a `FileEvent`, once it is stored, and never get this one.

    `data` are the bytes themselves; where they couldn't be had, it is empty and `problem` says why.
    """

    media_type: str
    data: bytes
    name: str | None = None
    problem: str | None = None


class StepEnd(Struct, frozen=True, tag="step-end"):
    """The provider said why its message ended, and what it cost."""

    stop: Stop
    usage: Usage
    detail: str = ""


class ProviderFault(Struct, frozen=True, tag="provider-fault"):
    """An error inside a stream that had begun."""

    text: str


class StepStart(Struct, frozen=True, tag="step-start"):
    """A model call begins; `step` counts from 1 within the run."""

    step: int


class StepFinish(Struct, frozen=True, tag="step-finish"):
    """A step's message is stored. `asides` is what the model said that it doesn't hold."""

    step: int
    stop: Stop
    usage: Usage
    asides: tuple[Aside, ...] = ()


class ToolStart(Struct, frozen=True, tag="tool-start"):
    """A tool runs with these arguments (the model's text)."""

    call_id: str
    tool: str
    arguments: str


class ToolProgress(Struct, frozen=True, tag="tool-progress"):
    """A tool says how far it is: `done` of `total`, or a word."""

    call_id: str
    done: float
    total: float | None = None
    note: str = ""


class ToolOutput(Struct, frozen=True, tag="tool-output"):
    """A tool's stored result: its words, and the numbers of its files."""

    call_id: str
    tool: str
    text: str
    files: tuple[int, ...]
    is_error: bool


class FileEvent(Struct, frozen=True, tag="file"):
    """A file joined the conversation: by whom, and what it was proved to be."""

    number: int
    id: str
    name: str
    kind: str
    media_type: str
    size: int
    origin: str
    problem: str | None = None


class ReceiptEvent(Struct, frozen=True, tag="receipt"):
    """What the model was given of one file in this step, and why; the keys of `Receipt.record()`."""

    step: int
    receipt: dict[str, object]


class ApprovalNeeded(Struct, frozen=True, tag="approval"):
    """A call waits for a person's yes or no."""

    call_id: str
    tool: str
    arguments: str


class Retry(Struct, frozen=True, tag="retry"):
    """The provider is asked again after `seconds`; `files` are the numbers of those that it is not given again."""

    reason: str
    seconds: float
    files: tuple[int, ...] = ()


class ErrorEvent(Struct, frozen=True, tag="error"):
    """Something failed; `kind` is the error's class."""

    kind: str
    text: str


class Finish(Struct, frozen=True, tag="finish"):
    """The last event of a run."""

    status: Status
    reason: str | None = None
    usage: Usage = Usage()


#: What a model says, as a program sees it.
Said: TypeAlias = (
    TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | StepEnd
    | ProviderFault
)
StreamEvent: TypeAlias = Said | FileMade
Event: TypeAlias = (
    Said
    | StepStart
    | StepFinish
    | ToolStart
    | ToolProgress
    | ToolOutput
    | FileEvent
    | ReceiptEvent
    | ApprovalNeeded
    | Retry
    | ErrorEvent
    | Finish
)
