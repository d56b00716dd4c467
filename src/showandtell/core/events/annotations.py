"""What a step said that no message holds, for people alone: thoughts, and calls that were never whole."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class Thought(Struct, frozen=True, tag="thought"):
    """A model's thinking in words; `place` counts the texts and whole calls of its message that began before it."""

    place: int
    id: str
    text: str


class TruncatedCall(Struct, frozen=True, tag="torn"):
    """A call that was never whole, so that it didn't run: the text of its arguments as far as it came."""

    place: int
    call_id: str
    tool: str
    text: str


Aside: TypeAlias = Thought | TruncatedCall
