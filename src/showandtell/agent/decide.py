"""Decides the next action of a run from stored messages alone. Resuming and repairing a run need no other code."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from showandtell.agent.turn_state import TurnState
from showandtell.core.events.types import Status
from showandtell.core.limits import OnFull
from showandtell.core.messages.message import Message, last_text
from showandtell.core.messages.parts import Approval, HostedBlock, Opaque, ToolCall
from showandtell.core.planning.values import View


class LoopLimits(Struct, frozen=True):
    """The limits of a run: model calls, tokens and seconds. The step that passes `tokens` is the last one.

    `approval` names the tools that need a person's approval, `idempotent` those that may run twice. `on_full` is what
    happens to a conversation that is longer than the model's context window. `tool_text` is the maximum number of
    characters of one result.
    `checks_answer`: the answer has an output type, `answer_tool` is the tool that gives it, if one does, and
    `output_retries` the maximum number of times that an invalid answer is asked for again.
    """

    max_steps: int = 20
    approval: frozenset[str] = frozenset()
    tokens: int | None = None
    seconds: float | None = None
    idempotent: frozenset[str] = frozenset()
    on_full: OnFull = "error"
    tool_text: int | None = None
    checks_answer: bool = False
    answer_tool: str | None = None
    output_retries: int = 2


class AskModel(Struct, frozen=True):
    """Call the model. `forbid_tools` is set on the last allowed step, and if only the answer's tool is missing."""

    step: int
    forbid_tools: bool


class RunTools(Struct, frozen=True):
    """Run these calls concurrently. Each `denied` call gets an error result with the person's reason instead."""

    calls: tuple[ToolCall, ...]
    denied: tuple[tuple[ToolCall, str], ...] = ()


class Close(Struct, frozen=True):
    """Give these calls an error result instead of running them."""

    calls: tuple[ToolCall, ...]
    why: str


class Wait(Struct, frozen=True):
    """Wait until a person approves or denies these calls."""

    calls: tuple[ToolCall, ...]


class Done(Struct, frozen=True):
    """End the run."""

    status: Status
    reason: str | None = None

    def named(self, detail: str) -> Done:
        """This end with the provider's own reason, such as "NAME: text", if ours says no more than cut or complete."""
        name = detail.partition(":")[0]
        return Done(self.status, name) if name and (self.reason == "cut" or self.status == "complete") else self


class CheckAnswer(Struct, frozen=True):
    """Check the answer: a text, or the arguments of a call that was found valid. `may_retry`: it may be corrected."""

    text: str
    call_id: str | None = None
    may_retry: bool = False


Next: TypeAlias = AskModel | RunTools | Close | Wait | CheckAnswer | Done

LIMIT = "limit reached: the run may make no further step, so this call was not run"
BUDGET = "limit reached: the run has used up its tokens, so this call was not run"
UNKNOWN = (
    "unknown outcome: the program ended while this call ran, so nobody knows whether it did its work; it was not run"
    " again. Look before you call it anew"
)
#: Maximum number of calls that run in one step, far above what models make.
MAX_CALLS = 128
TOO_MANY = f"too many calls in one step: only the first {MAX_CALLS} were run"

#: For a message that ended early: the status of its run, and the error text of its open calls.
EARLY_STOPS: dict[str, tuple[Status, str]] = {
    "cut": ("incomplete", "the model's message was cut off, so this call was not run"),
    "length": ("incomplete", "the model's message reached its length limit, so this call was not run"),
    "cancelled": ("incomplete", "the run was cancelled, so this call was not run"),
    "error": ("error", "the provider failed, so this call was not run"),
    "refusal": ("refused", "the model refused, so this call was not run"),
    "limit": ("incomplete", LIMIT),
}


def decide(view: View, limits: LoopLimits, tokens: int = 0, turn: TurnState | None = None) -> Next:
    """The next action to answer the newest user message. `tokens` is the number used so far in this run.

    `turn` is what is known of the message's turn; by default it is read from the view.
    """
    since = turn or TurnState().follow(view, limits.answer_tool)
    last, steps = since.last, since.steps
    if last is None:
        return AskModel(1, forbid_tools=limits.max_steps <= 1)
    calls = last.calls
    unanswered = tuple(call for call in calls if call.call_id not in since.answered)
    if last.stop in EARLY_STOPS:
        status, why = EARLY_STOPS[last.stop]
        return Close(unanswered, why) if unanswered else Done(status, last.stop)
    given = tuple(call for call in calls if call.tool == limits.answer_tool)
    if due := tuple(call for call in unanswered if call in given):
        return RunTools(due)  # also beyond a limit: checking an answer is no step
    if beyond := tuple(call for call in calls[MAX_CALLS:] if call.call_id not in since.answered):
        return Close(beyond, TOO_MANY)
    is_spent = limits.tokens is not None and tokens >= limits.tokens
    if unanswered:
        if interrupted := find_interrupted(unanswered, view, limits):
            return Close(interrupted, UNKNOWN)
        return Close(unanswered, BUDGET) if is_spent else _open(unanswered, steps, limits, since.answers)
    if valid := next((call for call in given if call.call_id not in since.failed), None):
        return CheckAnswer(valid.arguments, valid.call_id)
    is_last = is_spent or steps >= limits.max_steps
    if undecided := tuple(call for call in last.waiting if call.call_id not in since.answers):
        return Wait(undecided)
    is_paused = (last.stop == "pause" and bool(last.parts)) or bool(last.waiting)
    if not calls and not is_paused and not since.is_corrected:
        if open_tool := find_open_tool(last):
            return Done("incomplete", open_tool)
        if last.stop == "pause" or not has_content(last):
            return Done("incomplete", "empty")
        if not limits.checks_answer:
            return Done("complete")
        may_retry = since.corrections < limits.output_retries and not is_last
        return CheckAnswer(last_text(view.messages), may_retry=may_retry)
    if given and (is_last or since.corrections > limits.output_retries):
        return Done("incomplete", "output")
    if is_spent:
        return Done("incomplete", "budget")
    if steps >= limits.max_steps:
        return Done("incomplete", "steps")
    lacks_call = since.is_corrected and limits.answer_tool is not None
    return AskModel(steps + 1, forbid_tools=lacks_call or steps + 1 >= limits.max_steps)


def find_interrupted(calls: tuple[ToolCall, ...], view: View, limits: LoopLimits) -> tuple[ToolCall, ...]:
    """Calls that started before the program ended and must not run twice."""
    return tuple(call for call in calls if call.call_id in view.started and call.tool not in limits.idempotent)


def find_open_tool(message: Message) -> str | None:
    """The provider's tool whose call only the program could answer, such as a click on a screen."""
    blocks = [part for part in message.parts if isinstance(part, HostedBlock)]
    ended = {block.call_id for block in blocks if block.state != "running"}
    return next((block.tool for block in blocks if block.call_id not in ended), None)


def has_content(message: Message) -> bool:
    """Whether a message holds more than parts that only the provider can read."""
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


def tool_choice_of(setting: str, ask: AskModel) -> str:
    """The tool choice of a step. A forced choice applies to the first step only; otherwise it would repeat forever."""
    if ask.forbid_tools:
        return "none"
    return setting if ask.step == 1 or setting == "none" else "auto"
