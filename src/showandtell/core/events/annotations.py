"""Output of a step that isn't part of its message, for people only: thoughts and truncated calls."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class Thought(Struct, frozen=True, tag="thought"):
    """A model's thoughts as text. `place` is the number of texts and complete calls of its message before it."""

    place: int
    id: str
    text: str


class TruncatedCall(Struct, frozen=True, tag="torn"):
    """A call that was cut off and didn't run: the text of its arguments so far."""

    place: int
    call_id: str
    tool: str
    text: str


Annotation: TypeAlias = Thought | TruncatedCall
