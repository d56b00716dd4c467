"""Texts and thoughts of apis that don't say where one begins or ends: what is of the other kind ends what is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from showandtell.core.events.types import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
)


@dataclass(slots=True)
class Spoken:
    """The text or thought that is open, by kind and id, and how many have begun."""

    count: int = 0
    open: tuple[Literal["text", "reasoning"], str] | None = None

    def say(self, text: str | None, events: list[StreamEvent]) -> None:
        """More of the text."""
        if not text:
            return
        if self.open is None or self.open[0] != "text":
            self.shut(events)
            self.open = ("text", f"t{self.count}")
            self.count += 1
            events.append(TextStart(self.open[1]))
        events.append(TextDelta(self.open[1], text))

    def think(self, text: str | None, events: list[StreamEvent]) -> None:
        """More of the thought."""
        if text:
            events.append(ReasoningDelta(self.thought(events), text))

    def thought(self, events: list[StreamEvent]) -> str:
        """The id of the open thought, a new one where none is open."""
        if self.open is None or self.open[0] != "reasoning":
            self.shut(events)
            self.open = ("reasoning", f"r{self.count}")
            self.count += 1
            events.append(ReasoningStart(self.open[1]))
        return self.open[1]

    def shut(self, events: list[StreamEvent]) -> None:
        """End the text or thought that is open."""
        match self.open:
            case ("text", name):
                events.append(TextEnd(name))
            case ("reasoning", name):
                events.append(ReasoningEnd(name))
            case None:
                pass
        self.open = None
