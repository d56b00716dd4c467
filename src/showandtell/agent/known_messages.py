"""What a run needs to know of all messages of a conversation, kept up to date with the new ones alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import ToolCall, is_summary


@dataclass(slots=True)
class KnownMessages:
    """The ids of all calls, the calls without a result in order, and whether there are summaries."""

    call_ids: set[str] = field(default_factory=set[str])
    open_calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    has_summaries: bool = False
    count: int = 0
    _last: Message | None = None

    def follow(self, messages: Sequence[Message]) -> None:
        """Take in messages that are new; all of them, after a change of the branch."""
        if self.count and (len(messages) < self.count or messages[self.count - 1] is not self._last):
            self.call_ids.clear()
            self.open_calls.clear()
            self.count, self.has_summaries = 0, False
        for message in messages[self.count :]:
            if message.role == "assistant":
                for call in message.calls:
                    self.call_ids.add(call.call_id)
                    self.open_calls[call.call_id] = call
            elif message.call_id is not None:
                self.open_calls.pop(message.call_id, None)
            elif is_summary(message.parts):
                self.has_summaries = True
        self.count, self._last = len(messages), messages[-1] if messages else None
