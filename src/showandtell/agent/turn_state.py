"""What was stored since the message to answer, which decides what a run does next."""

from __future__ import annotations

from dataclasses import dataclass, field

from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import Approval, Correction
from showandtell.core.planning.values import View


@dataclass(slots=True)
class TurnState:
    """What was stored since the message to answer: assistant steps, the newest one, results, approvals, corrections.

    `failed` are the calls whose result is an error, `is_corrected` whether the newest step's answer was invalid.
    A run keeps it, so that each step reads the new messages alone: `read` is how many messages were read, `newest` the
    last of them. `answer_tool` is that of `LoopLimits`.
    """

    answer_tool: str | None = None
    read: int = 0
    newest: Message | None = None
    steps: int = 0
    last: Message | None = None
    answered: set[str | None] = field(default_factory=set[str | None])
    answers: dict[str, Approval] = field(default_factory=dict[str, Approval])
    failed: set[str | None] = field(default_factory=set[str | None])
    corrections: int = 0
    is_corrected: bool = False

    def follow(self, view: View, answer_tool: str | None) -> TurnState:
        """The state for a view: this one with the new messages, if the view continues the one that it has read."""
        state, messages = self, view.messages
        continues = 0 < self.read <= len(messages) and messages[self.read - 1] is self.newest
        is_same = continues and not any(map(starts_turn, messages[self.read :])) and self.answer_tool == answer_tool
        if not is_same:
            before = (at for at in reversed(range(len(messages))) if messages[at].id == view.answering)
            state = TurnState(answer_tool, next(before, -1) + 1)
        for message in messages[state.read :]:
            state.add(message)
        state.read, state.newest = len(messages), messages[-1] if messages else None
        return state

    def add(self, message: Message) -> None:
        """Count a message. Of two approvals of one call the newer one counts."""
        match message.role:
            case "assistant":
                self.steps += 1
                self.last, self.is_corrected = message, False
            case "tool":
                self.answered.add(message.call_id)
                if message.is_error:
                    self.failed.add(message.call_id)
                    self.corrections += message.tool == self.answer_tool
            case "user":
                for part in message.parts:
                    if isinstance(part, Approval):
                        self.answers[part.call_id] = part
                    elif isinstance(part, Correction):
                        self.corrections += 1
                        self.is_corrected = True
