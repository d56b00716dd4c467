"""Whether the calls of a history and their results answer each other, on every branch: no API takes another."""

from __future__ import annotations

from collections.abc import Sequence

from showandtell.core.messages.messages import Draft, History
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.errors import BadConversation


def check(messages: Sequence[Draft], *, strict: bool = True) -> None:
    """Raise `BadConversation` where calls and results don't answer each other one to one, or stand in a wrong role.

    Each branch is looked at alone. What is not `strict` may be as a run left it: calls without results, and ids used
    again once they are answered. Every message is looked at once, however many branches lead through it.
    """
    parents = messages.parents if isinstance(messages, History) else None
    behind: list[list[int]] = [[] for _ in range(len(messages) + 1)]  # the last one holds those that begin
    for index, parent in enumerate(range(-1, len(messages) - 1) if parents is None else parents):
        behind[-1 if parent is None else parent].append(index)
    calls = _Calls(strict=strict)
    left: list[int | None] = [*reversed(behind[-1])]
    while left:
        index = left.pop()
        if index is None:
            calls.step_back()
            continue
        calls.step(index, messages[index])
        if strict and not behind[index]:
            calls.close()
        left += [None, *reversed(behind[index])]


class _Calls:
    """The calls of one branch that are open, while it is gone along; each step can be taken back."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._open: dict[str, int] = {}
        self._used: set[str] = set()
        self._before: list[tuple[dict[str, int], tuple[str, int] | None]] = []

    def step(self, index: int, draft: Draft) -> None:
        before, answered = self._open, None
        if draft.role == "tool":
            if draft.call_id is None or draft.call_id not in self._open:
                told = f"result {draft.call_id!r} answers no call of the message before it"
                raise BadConversation(f"messages[{index}]: {told}")
            answered = draft.call_id, self._open.pop(draft.call_id)
        elif not is_approval(draft.parts):
            if self._strict:
                self.close()
            self._open = {}
            for call_id in (part.call_id for part in draft.parts if isinstance(part, ToolCall)):
                if draft.role != "assistant":
                    raise BadConversation(f"messages[{index}]: a tool call stands in role {draft.role}, not assistant")
                if call_id in (self._used if self._strict else self._open):
                    raise BadConversation(f"messages[{index}]: call_id {call_id!r} is used twice")
                self._used.add(call_id)
                self._open[call_id] = index
        self._before.append((before, answered))

    def step_back(self) -> None:
        here = self._open
        self._open, answered = self._before.pop()
        if here is not self._open:
            self._used -= here.keys()
        if answered is not None:
            self._open[answered[0]] = answered[1]

    def close(self) -> None:
        for call_id, at in self._open.items():
            raise BadConversation(f"messages[{at}]: call {call_id!r} has no result: add a message of role tool for it")
