"""Checks that calls and results of a history match, on every branch: APIs reject any other history."""

from __future__ import annotations

from collections.abc import Sequence

from showandtell.core.messages.message import Draft, History
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.errors import BadConversation


def check_tool_pairs(messages: Sequence[Draft], *, strict: bool = True) -> None:
    """Raise `BadConversation` if calls and results don't match one to one, or are in a wrong role.

    Each branch is checked separately. If not `strict`, messages may be as a run left them: calls without results, and
    ids that are used again after their result. Each message is visited once, even if several branches contain it.
    """
    parents = messages.parents if isinstance(messages, History) else None
    children: list[list[int]] = [[] for _ in range(len(messages) + 1)]  # the last list holds messages without a parent
    for index, parent in enumerate(range(-1, len(messages) - 1) if parents is None else parents):
        children[-1 if parent is None else parent].append(index)
    calls = _Calls(strict=strict)
    stack: list[int | None] = [*reversed(children[-1])]
    while stack:
        index = stack.pop()
        if index is None:
            calls.step_back()
            continue
        calls.step(index, messages[index])
        if strict and not children[index]:
            calls.close()
        stack += [None, *reversed(children[index])]


class _Calls:
    """The open calls at one message of a branch. Steps can be undone in reverse order."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._open: dict[str, int] = {}
        self._used: set[str] = set()
        self._before: list[tuple[dict[str, int], tuple[str, int] | None]] = []

    def step(self, index: int, draft: Draft) -> None:
        before, answered = self._open, None
        if draft.role == "tool":
            if draft.call_id is None or draft.call_id not in self._open:
                problem = f"result {draft.call_id!r} answers no call of the message before it"
                raise BadConversation(f"messages[{index}]: {problem}")
            answered = draft.call_id, self._open.pop(draft.call_id)
        elif not is_approval(draft.parts):
            if self._strict:
                self.close()
            self._open = {}
            for call_id in (part.call_id for part in draft.parts if isinstance(part, ToolCall)):
                if draft.role != "assistant":
                    raise BadConversation(f"messages[{index}]: a tool call in role {draft.role}, not assistant")
                if call_id in (self._used if self._strict else self._open):
                    raise BadConversation(f"messages[{index}]: call_id {call_id!r} is used twice")
                self._used.add(call_id)
                self._open[call_id] = index
        self._before.append((before, answered))

    def step_back(self) -> None:
        last = self._open
        self._open, answered = self._before.pop()
        if last is not self._open:
            self._used -= last.keys()
        if answered is not None:
            self._open[answered[0]] = answered[1]

    def close(self) -> None:
        for call_id, index in self._open.items():
            raise BadConversation(
                f"messages[{index}]: call {call_id!r} has no result: add a message of role tool for it"
            )
