"""Text and reasoning blocks of APIs that mark no start or end: a block ends when another kind of block starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from showandtell.checking.checked import Checked, checked
from showandtell.core.events.types import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
)


@checked
@dataclass(slots=True)
class OpenBlock(Checked):
    """The open text or reasoning block, as (kind, id), and the number of blocks started so far."""

    count: int = 0
    current: tuple[Literal["text", "reasoning"], str] | None = None

    def add_text(self, text: str | None, events: list[StreamEvent]) -> None:
        """Add text, starting a text block if none is open."""
        if not text:
            return
        if self.current is None or self.current[0] != "text":
            self.close_block(events)
            self.current = ("text", f"t{self.count}")
            self.count += 1
            events.append(TextStart(self.current[1]))
        events.append(TextDelta(self.current[1], text))

    def add_reasoning(self, text: str | None, events: list[StreamEvent]) -> None:
        """Add reasoning, starting a reasoning block if none is open."""
        if text:
            events.append(ReasoningDelta(self.ensure_reasoning(events), text))

    def ensure_reasoning(self, events: list[StreamEvent]) -> str:
        """Return the id of the open reasoning block, starting one if none is open."""
        if self.current is None or self.current[0] != "reasoning":
            self.close_block(events)
            self.current = ("reasoning", f"r{self.count}")
            self.count += 1
            events.append(ReasoningStart(self.current[1]))
        return self.current[1]

    def close_block(self, events: list[StreamEvent]) -> None:
        """End the open block, if any."""
        match self.current:
            case ("text", name):
                events.append(TextEnd(name))
            case ("reasoning", name):
                events.append(ReasoningEnd(name))
            case None:
                pass
        self.current = None
