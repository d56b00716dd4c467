"""What comes next, from stored messages alone: resume, repair, approval and the next step are one and the same call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from showandtell.core.events.types import Status
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Approval, Opaque, ToolCall
from showandtell.core.planning.values import View


class LoopLimits(Struct, frozen=True):
    """What bounds a run: `max_steps` model calls, `tokens` in all (those of the step that passes it included), seconds.

    `approval` are the tools that need a person's yes, `idempotent` those that may run twice.
    """

    max_steps: int = 20
    approval: frozenset[str] = frozenset()
    tokens: int | None = None
    seconds: float | None = None
    idempotent: frozenset[str] = frozenset()


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


class Done(Struct, frozen=True):
    """The run is over."""

    status: Status
    reason: str | None = None


Next: TypeAlias = AskModel | RunTools | Close | Wait | Done

LIMIT = "limit reached: the run may make no further step, so this call was not run"
BUDGET = "limit reached: the run has used up its tokens, so this call was not run"
UNKNOWN = (
    "unknown outcome: the program ended while this call ran, so nobody knows whether it did its work; it was not run"
    " again. Look before you call it anew"
)
#: The most calls of one step that run; no honest model makes so many.
MOST_CALLS = 128
TOO_MANY = f"too many calls in one step: only the first {MOST_CALLS} were run"

#: How a message that ended early ends its run: the status, and what its open calls are told.
EARLY: dict[str, tuple[Status, str]] = {
    "cut": ("incomplete", "the model's message was cut off, so this call was not run"),
    "length": ("incomplete", "the model's message reached its length limit, so this call was not run"),
    "cancelled": ("incomplete", "the run was cancelled, so this call was not run"),
    "error": ("error", "the provider failed, so this call was not run"),
    "refusal": ("refused", "the model refused, so this call was not run"),
    "limit": ("incomplete", LIMIT),
}


@dataclass(slots=True)
class _Since:
    """What was stored since the message that is answered: how many steps, the newest, and what its calls got."""

    steps: int = 0
    last: Message | None = None
    answered: set[str | None] = field(default_factory=set[str | None])
    answers: dict[str, Approval] = field(default_factory=dict[str, Approval])


def decide(view: View, limits: LoopLimits, tokens: int = 0) -> Next:
    """The next thing to do for the newest user message; `tokens` is what the run has used so far."""
    since = _since(view)
    last, steps = since.last, since.steps
    if last is None:
        return AskModel(1, forbid_tools=limits.max_steps <= 1)
    calls = last.calls
    unanswered = tuple(call for call in calls if call.call_id not in since.answered)
    if last.stop in EARLY:
        status, why = EARLY[last.stop]
        return Close(unanswered, why) if unanswered else Done(status, last.stop)
    if beyond := tuple(call for call in calls[MOST_CALLS:] if call.call_id not in since.answered):
        return Close(beyond, TOO_MANY)
    is_spent = limits.tokens is not None and tokens >= limits.tokens
    if unanswered:
        if lost := tuple(one for one in unanswered if one.call_id in view.begun and one.tool not in limits.idempotent):
            return Close(lost, UNKNOWN)
        return Close(unanswered, BUDGET) if is_spent else _open(unanswered, steps, limits, since.answers)
    if not calls:
        return Done("complete") if says_something(last) else Done("incomplete", "empty")
    if is_spent:
        return Done("incomplete", "budget")
    if steps >= limits.max_steps:
        return Done("incomplete", "steps")
    return AskModel(steps + 1, forbid_tools=steps + 1 >= limits.max_steps)


def says_something(message: Message) -> bool:
    """Whether anybody gets anything from a message: what a provider alone can read is nothing."""
    return any(not isinstance(part, Opaque) for part in message.parts)


def _open(calls: tuple[ToolCall, ...], steps: int, limits: LoopLimits, answers: dict[str, Approval]) -> Next:
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


def _since(view: View) -> _Since:
    """Walk back to the message that is answered; of two answers to one call the newer counts."""
    since = _Since()
    for message in reversed(view.messages):
        if message.id == view.answering:
            break
        match message.role:
            case "assistant":
                since.steps += 1
                since.last = since.last or message
            case "tool":
                since.answered.add(message.call_id)
            case "user":
                for part in message.parts:
                    if isinstance(part, Approval):
                        since.answers.setdefault(part.call_id, part)
    return since


def choice(wanted: str, ask: AskModel) -> str:
    """The tool choice of a step: what is forced is forced once, for else the tool would run until the steps are out."""
    if ask.forbid_tools:
        return "none"
    return wanted if ask.step == 1 or wanted == "none" else "auto"
