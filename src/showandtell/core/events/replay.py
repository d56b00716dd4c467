"""Turns stored messages into the events of their run again, so that a page needs only one mapping."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard

from msgspec import Struct, structs

from showandtell.core.events.annotations import Annotation, Thought, TruncatedCall
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    ApprovalNeeded,
    Event,
    FileEvent,
    ModelEvent,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReceiptEvent,
    SourceEvent,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolOutput,
    Usage,
)
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import (
    Approval,
    HostedBlock,
    Json,
    Shown,
    Source,
    Text,
    ToolCall,
    is_for_people,
    is_for_user,
)

#: The result of a call that waited for approval when the user went on. Replays show it as a denial.
UNDECIDED = "the user went on without deciding about this call, so it was not run"


class StepSummary(Struct, frozen=True):
    """Data of a step beside its message.

    `receipts` are the records (`Receipt.record()`) that changed in this step. `model` is the name that users see.
    """

    model: str
    usage: Usage
    receipts: tuple[dict[str, object], ...] = ()
    asides: tuple[Annotation, ...] = ()


def without_receipts(summaries: Mapping[str, StepSummary], numbers: Container[object]) -> dict[str, StepSummary]:
    """Summaries without the receipts of the files with these numbers."""
    return {
        message_id: structs.replace(
            summary, receipts=tuple(record for record in summary.receipts if record["number"] not in numbers)
        )
        for message_id, summary in summaries.items()
    }


class ModelChosen(Struct, frozen=True):
    """The next step goes to this model."""

    model: str


class UserText(Struct, frozen=True):
    """A text for the user alone in a message of the model, which comes from an import: no model writes one."""

    id: str
    text: str


#: Events of a replay. Live events contain neither the model nor the approvals of waiting calls.
ReplayEvent: TypeAlias = Event | Approval | ModelChosen | UserText


def replay(
    messages: Sequence[Message],
    files: Mapping[int, Attachment],
    summaries: Mapping[str, StepSummary],
    *,
    before: Container[int] = (),
    waiting: Collection[str] = (),
) -> Iterator[ReplayEvent]:
    """The events of one answer: `messages` are all between a user message and the next one.

    `summaries` are by message id. `before` are the numbers of files that were shown earlier, and `waiting` the ids of
    calls that wait for approval.
    """
    shown, calls, step, hosted = set[int](), dict[str, ToolCall](), 0, HostedCalls()
    for message in messages:
        match message.role:
            case "assistant":
                step += 1
                calls |= {call.call_id: call for call in [*message.calls, *message.waiting]}
                yield from _step(
                    step, message, summaries.get(message.id), _new_files(message, files, before, shown), hosted
                )
            case "tool":
                yield from _new_files(message, files, before, shown)
                if is_undecided(message) and (call := calls.get(message.call_id or "")):
                    yield _needs_approval(call)
                    yield Approval(call.call_id, approved=False, reason=UNDECIDED)
                yield tool_output(message)
            case "user":
                for part in message.parts:
                    if isinstance(part, Approval) and (call := calls.get(part.call_id)):
                        yield _needs_approval(call)
                        yield part
    for call_id in waiting:
        if call_id in calls:
            yield _needs_approval(calls[call_id])


def replay_parts(
    message: Message, annotations: Sequence[Annotation], hosted: HostedCalls | None = None
) -> Iterator[ModelEvent | UserText]:
    """The events of one message and its annotations, in order, without texts that are for the model alone.

    `hosted` are the provider's own calls before it.
    """
    remaining, hosted = [*annotations], hosted or HostedCalls()
    parts = [part for part in message.parts if isinstance(part, Text | ToolCall) or is_seen(part)]
    for place, part in enumerate(parts):
        while remaining and remaining[0].place <= place:
            yield from _replay_annotation(remaining.pop(0))
        if isinstance(part, Text) and part.audience != "both":
            yield from (UserText(str(place), part.text),) if is_for_user(part) else ()
        elif isinstance(part, Text):
            yield from (TextStart(str(place)), TextDelta(str(place), part.text))
            yield from (SourceEvent(str(place), source) for source in sources_after(message, part))
            yield TextEnd(str(place))
        elif isinstance(part, HostedBlock):
            yield hosted.follow(part)
        else:
            yield from (ToolInputStart(part.call_id, part.tool), ToolInputDelta(part.call_id, part.arguments))
            yield ToolInputEnd(part.call_id)
    for annotation in remaining:
        yield from _replay_annotation(annotation)


def is_seen(part: object) -> TypeGuard[HostedBlock[Shown]]:
    """Whether a part is a block that people see as a call. One without a tool is a file alone."""
    return isinstance(part, HostedBlock) and bool(part.tool)


def sources_after(message: Message, text: Text) -> Iterator[Source]:
    """The sources of a text: those that follow it."""
    start = next(index for index, part in enumerate(message.parts) if part is text)
    for part in message.parts[start + 1 :]:
        if not isinstance(part, Source):
            return
        yield part


def is_undecided(message: Message) -> bool:
    """Whether a message is the result of a call that waited for approval when the user went on."""
    return message.is_error and message.text == UNDECIDED


def find_step(messages: Sequence[Message], step: int) -> Message | None:
    """The message of a step of the newest answer. Steps count from 1."""
    steps: list[Message] = []
    for message in reversed(messages):
        if starts_turn(message):
            break
        if message.role == "assistant":
            steps.append(message)
    return steps[-step] if 0 < step <= len(steps) else None


def _step(
    step: int, message: Message, summary: StepSummary | None, files: Sequence[FileEvent], hosted: HostedCalls
) -> Iterator[ReplayEvent]:
    if summary is not None:
        yield ModelChosen(summary.model)
    yield StepStart(step)
    for receipt in summary.receipts if summary else ():
        yield ReceiptEvent(step, receipt)
    yield from replay_parts(message, summary.asides if summary else (), hosted)
    yield from files
    if summary is not None:
        yield StepFinish(step, message.stop or "cut", summary.usage)


def _replay_annotation(annotation: Annotation) -> Iterator[ModelEvent]:
    match annotation:
        case Thought(_, name, text):
            yield from (ReasoningStart(name), ReasoningDelta(name, text), ReasoningEnd(name))
        case TruncatedCall(_, call_id, tool, text):
            yield from (ToolInputStart(call_id, tool), ToolInputDelta(call_id, text))


def _needs_approval(call: ToolCall) -> ApprovalNeeded:
    return ApprovalNeeded(call.call_id, call.tool, call.arguments)


def tool_output(message: Message) -> ToolOutput:
    """The event of a stored tool result, without texts that are for the model alone."""
    parts = tuple(part for part in message.parts if isinstance(part, Json | Shown) or is_for_people(part))
    numbers = tuple(shown.number for shown in message.showings)
    return ToolOutput(message.call_id or "", message.tool or "", words_of(parts), numbers, message.is_error, parts)


def split_output(output: ToolOutput) -> tuple[ToolOutput, str]:
    """A result without the texts that are for the user alone, and these texts, line by line."""
    own = tuple(part for part in output.parts if is_for_user(part))
    if not own:
        return output, ""
    rest = tuple(part for part in output.parts if not is_for_user(part))
    return structs.replace(output, text=words_of(rest), parts=rest), words_of(own)


def words_of(parts: Iterable[Text | Json[Shown] | Shown]) -> str:
    """The texts and JSON of a result, line by line."""
    return "\n".join(part.text for part in parts if not isinstance(part, Shown))


def _new_files(
    message: Message, files: Mapping[int, Attachment], before: Container[int], shown: set[int]
) -> list[FileEvent]:
    """The files that came with a message, without those that it only shows again. Adds them to `shown`."""
    numbers = dict.fromkeys(use.number for use in message.showings)
    fresh = [number for number in numbers if number not in shown and number not in before]
    shown.update(fresh)
    return [file_event(files[number]) for number in fresh if number in files and _came_with(message, files[number])]


def _came_with(message: Message, file: Attachment) -> bool:
    if message.role == "tool":
        return file.origin.call_id in {None, message.call_id} and file.origin.by != "user"
    return file.origin.by in {message.role, "provider"} if message.role == "assistant" else file.origin.by == "user"


def file_event(file: Attachment) -> FileEvent:
    """The event of a file that was added to the conversation."""
    size = file.facts.size if file.facts else 0
    return FileEvent(
        file.number,
        file.id,
        file.name,
        file.kind,
        file.media_type,
        size,
        str(file.origin),
        file.problem,
        file.audience,
    )
