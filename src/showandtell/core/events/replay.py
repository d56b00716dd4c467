"""Stored messages told again as the events of their run, so that one mapping makes a page of either."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from showandtell.core.events.annotations import Aside, Thought, TruncatedCall
from showandtell.core.events.types import (
    ApprovalNeeded,
    Event,
    FileEvent,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReceiptEvent,
    Said,
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
from showandtell.core.messages.messages import Message, begins_turn
from showandtell.core.messages.parts import Approval, Json, Text, ToolCall


class StepSummary(Struct, frozen=True):
    """What is known of a step besides its message.

    `receipts` are the records of those that changed with it (`Receipt.record()`), `model` is as a person names it.
    """

    model: str
    usage: Usage
    receipts: tuple[dict[str, object], ...] = ()
    asides: tuple[Aside, ...] = ()


class ModelChosen(Struct, frozen=True):
    """The next step is asked of this model."""

    model: str


#: What an answer is told again with: no event says who was asked, and what a person said to a call that waited.
Retold: TypeAlias = Event | Approval | ModelChosen


def replay(
    messages: Sequence[Message],
    files: Mapping[int, Attachment],
    told: Mapping[str, StepSummary],
    *,
    before: Collection[int] = (),
    waiting: Collection[str] = (),
) -> Iterator[Retold]:
    """The events of one answer: `messages` are all that follow a person's words, up to the next ones.

    `told` is what is known of each step by the id of its message, `before` the numbers of the files that were shown
    earlier, and `waiting` the ids of the calls that wait for a person now.
    """
    shown, calls, step = set(before), dict[str, ToolCall](), 0
    for message in messages:
        match message.role:
            case "assistant":
                step += 1
                calls |= {call.call_id: call for call in message.calls}
                yield from _step(step, message, told.get(message.id), _joined(message, files, shown))
            case "tool":
                yield from _joined(message, files, shown)
                yield tool_output(message)
            case "user":
                for part in message.parts:
                    if isinstance(part, Approval) and (call := calls.get(part.call_id)):
                        yield _needs_approval(call)
                        yield part
    for call_id in waiting:
        if call_id in calls:
            yield _needs_approval(calls[call_id])


def replay_parts(message: Message, asides: Sequence[Aside]) -> Iterator[Said]:
    """What a model said in one message, and beside it, in order."""
    left = [*asides]
    said = [part for part in message.parts if isinstance(part, Text | ToolCall)]
    for place, part in enumerate(said):
        while left and left[0].place <= place:
            yield from _aside(left.pop(0))
        if isinstance(part, Text):
            yield from (TextStart(str(place)), TextDelta(str(place), part.text), TextEnd(str(place)))
        else:
            yield from (ToolInputStart(part.call_id, part.tool), ToolInputDelta(part.call_id, part.arguments))
            yield ToolInputEnd(part.call_id)
    for aside in left:
        yield from _aside(aside)


def find_step(messages: Sequence[Message], step: int) -> Message | None:
    """The message of a step of the newest answer; steps count from 1."""
    steps: list[Message] = []
    for message in reversed(messages):
        if begins_turn(message):
            break
        if message.role == "assistant":
            steps.append(message)
    return steps[-step] if 0 < step <= len(steps) else None


def _step(step: int, message: Message, told: StepSummary | None, joined: Sequence[FileEvent]) -> Iterator[Retold]:
    if told is not None:
        yield ModelChosen(told.model)
    yield StepStart(step)
    for receipt in told.receipts if told else ():
        yield ReceiptEvent(step, receipt)
    yield from replay_parts(message, told.asides if told else ())
    yield from joined
    if told is not None:
        yield StepFinish(step, message.stop or "cut", told.usage)


def _aside(aside: Aside) -> Iterator[Said]:
    match aside:
        case Thought(_, name, text):
            yield from (ReasoningStart(name), ReasoningDelta(name, text), ReasoningEnd(name))
        case TruncatedCall(_, call_id, tool, text):
            yield from (ToolInputStart(call_id, tool), ToolInputDelta(call_id, text))


def _needs_approval(call: ToolCall) -> ApprovalNeeded:
    return ApprovalNeeded(call.call_id, call.tool, call.arguments)


def tool_output(message: Message) -> ToolOutput:
    """What is told of a call's stored result."""
    text = "\n".join(part.text for part in message.parts if isinstance(part, Text | Json))
    numbers = tuple(shown.number for shown in message.showings)
    return ToolOutput(message.call_id or "", message.tool or "", text, numbers, message.is_error)


def _joined(message: Message, files: Mapping[int, Attachment], shown: set[int]) -> list[FileEvent]:
    """The files that came with a message; the others were there, and are shown again."""
    fresh = [number for number in dict.fromkeys(one.number for one in message.showings) if number not in shown]
    shown.update(fresh)
    return [file_event(files[number]) for number in fresh if number in files and _came_with(message, files[number])]


def _came_with(message: Message, file: Attachment) -> bool:
    if message.role == "tool":
        return file.origin.call_id in {None, message.call_id} and file.origin.by != "user"
    return file.origin.by == message.role


def file_event(file: Attachment) -> FileEvent:
    """What is told of a file that joined the conversation."""
    size = file.facts.size if file.facts else 0
    return FileEvent(file.number, file.id, file.name, file.kind, file.media_type, size, str(file.origin), file.problem)
