"""The turns of a soak: what is asked, what is to happen with it, and how its answer ended for its readers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from served.faults import CALLS, EARLY, ENDLESS, LATE, PASSING

#: Seconds between two words of an answer.
EVERY = 0.05
#: Shares of the turns that call a tool, are left and returned to, are stopped.
TOOLS, LEAVES, STOPS = 0.25, 0.2, 0.08
NUMBERS = count(1)


@dataclass(slots=True)
class End:
    """How an answer ended for its readers."""

    status: str
    reason: str | None
    text: str


@dataclass(slots=True)
class Turn:
    """A message, what is to happen with it, and what was received of its answer, by run."""

    number: int
    words: int
    tool: str = "none"
    fault: str = "none"
    at: int = 0
    #: The word at which its reader leaves, and whether without a goodbye; the second in which it is stopped.
    leaves: int | None = None
    is_abrupt: bool = False
    stop: float | None = None
    files: list[str] = field(default_factory=list)
    answer_id: str = ""
    ends: dict[str, End] = field(default_factory=dict)
    was_killed: bool = False

    @property
    def text(self) -> str:
        """The text of the message."""
        return f"words={self.words} every={EVERY} turn={self.number} tool={self.tool} fault={self.fault}@{self.at}"

    @property
    def answer(self) -> str:
        """What a whole answer says."""
        return f" {self.number}" * self.words

    @property
    def may_end_early(self) -> bool:
        """Whether something was done to it after which its answer needs no end of its own."""
        return self.fault not in {"none", *PASSING} or self.stop is not None or self.was_killed

    def message(self) -> dict[str, Any]:
        """It as the client's message."""
        files = [{"type": "data-attachment", "data": {"id": file}} for file in self.files]
        return {"id": f"turn {self.number}", "role": "user", "parts": [*files, {"type": "text", "text": self.text}]}


@dataclass(slots=True)
class Talk:
    """A conversation: the client's name for it, the server's, and its turns."""

    alias: str
    id: str = ""
    turns: list[Turn] = field(default_factory=list)

    def body(self, turn: Turn, *, again: bool) -> dict[str, Any]:
        """The request for an answer to a turn."""
        if again:
            return {"id": self.alias, "trigger": "regenerate-message", "messageId": turn.answer_id}
        return {"id": self.alias, "messages": [turn.message()]}


def plan(chance: random.Random, share: float) -> Turn:
    """A turn, and what is to happen in it; `share` of the turns go wrong at the provider, and as many at the reader."""

    def happens(share: float) -> bool:
        return chance.random() < share

    turn = Turn(next(NUMBERS), chance.randint(10, 60))
    if happens(TOOLS):
        turn.tool = chance.choice([*CALLS])
    if happens(share):
        turn.fault, turn.at = chance.choice([*EARLY, *LATE]), chance.randint(0, turn.tool != "none")
    turn.is_abrupt = happens(share)
    if turn.is_abrupt or happens(LEAVES):
        turn.leaves = chance.randint(1, turn.words)
    if turn.fault in ENDLESS or happens(STOPS):
        turn.stop = chance.uniform(0, 2)
    return turn


def end_of(metadata: Mapping[str, Any], text: str) -> End:
    """An end, as streams and conversations tell it."""
    return End(metadata["status"], metadata["reason"], text)


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message."""
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def note(turn: Turn, run: str, end: End) -> None:
    """Note how a run ended; all readers must receive the same end."""
    known = turn.ends.setdefault(run, end)
    assert known == end, f"{run} ended as {known}, and as {end}"
