"""What comes next, from stored messages alone: resume, repair, approval and the next step are one and the same call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from showandtell.content import Approval, Message, ToolCall
from showandtell.delivery.values import View
from showandtell.events.types import Status


class Limits(Struct, frozen=True):
    """What bounds a run: `max_steps` model calls, and the tools that need a person's yes."""

    max_steps: int = 20
    approval: frozenset[str] = frozenset()


class AskModel(Struct, frozen=True):
    """Ask the model; on the last allowed step tools are forbidden."""

    step: int
    forbid_tools: bool


class RunTools(Struct, frozen=True):
    """Run these calls side by side; `denied` ones get a person's no instead."""

    calls: tuple[ToolCall, ...]
    denied: tuple[tuple[ToolCall, str], ...] = ()


class Close(Struct, frozen=True):
    """Give these calls an error result, for they will not run."""

    calls: tuple[ToolCall, ...]
    why: str


class Wait(Struct, frozen=True):
    """A person must answer first."""

    calls: tuple[ToolCall, ...]


class Over(Struct, frozen=True):
    """The run is over."""

    status: Status
    reason: str | None = None


Next: TypeAlias = AskModel | RunTools | Close | Wait | Over

LIMIT = "limit reached: the run may make no further step, so this call was not run"

#: How a message that ended early ends its run: the status, and what its open calls are told.
EARLY: dict[str, tuple[Status, str]] = {
    "cut": ("incomplete", "the model's message was cut off, so this call was not run"),
    "length": ("incomplete", "the model's message reached its length limit, so this call was not run"),
    "cancelled": ("incomplete", "the run was cancelled, so this call was not run"),
    "error": ("error", "the provider failed, so this call was not run"),
    "refusal": ("refused", "the model refused, so this call was not run"),
    "limit": ("incomplete", LIMIT),
}


def decide(view: View, limits: Limits) -> Next:
    """The next thing to do for the newest user message."""
    steps, results, answers = _since(view)
    if not steps:
        return AskModel(1, forbid_tools=limits.max_steps <= 1)
    last = steps[-1]
    answered = {message.call_id for message in results}
    unanswered = tuple(call for call in last.calls if call.call_id not in answered)
    if last.stop in EARLY:
        status, why = EARLY[last.stop]
        return Close(unanswered, why) if unanswered else Over(status, last.stop)
    if unanswered:
        return _open(unanswered, len(steps), limits, answers)
    if not last.calls:
        return Over("complete") if last.parts else Over("incomplete", "empty")
    if len(steps) >= limits.max_steps:
        return Over("incomplete", "steps")
    return AskModel(len(steps) + 1, forbid_tools=len(steps) + 1 >= limits.max_steps)


def _open(calls: tuple[ToolCall, ...], steps: int, limits: Limits, answers: dict[str, Approval]) -> Next:
    if steps >= limits.max_steps:
        return Close(calls, LIMIT)
    waiting = tuple(call for call in calls if call.tool in limits.approval and call.call_id not in answers)
    ready = tuple(call for call in calls if call not in waiting)
    if not ready:
        return Wait(waiting)
    denied = {call.call_id for call in ready if call.call_id in answers and not answers[call.call_id].approved}
    return RunTools(
        tuple(call for call in ready if call.call_id not in denied),
        tuple((call, answers[call.call_id].reason) for call in ready if call.call_id in denied),
    )


def _since(view: View) -> tuple[Sequence[Message], Sequence[Message], dict[str, Approval]]:
    """The model's messages, the tool results and the approvals since the message that is answered."""
    steps: list[Message] = []
    results: list[Message] = []
    answers: dict[str, Approval] = {}
    for message in reversed(view.messages):
        if message.id == view.answering:
            break
        if message.role == "assistant":
            steps.insert(0, message)
        elif message.role == "tool":
            results.append(message)
        answers |= {part.call_id: part for part in message.parts if isinstance(part, Approval)}
    return steps, results, answers
