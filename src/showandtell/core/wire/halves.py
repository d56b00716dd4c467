"""Halves of characters: gateways cut a text between the two UTF-16 units of an emoji, and send each half in an event.

msgspec decodes no lone half. Each is replaced by a mark, a private character, and the marks in the events that were
read are joined over all deltas of a text. A half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec.structs import replace

from showandtell.core.collect.surrogates import REPLACEMENT, join_surrogates, replace_lone_escapes
from showandtell.core.events.types import (
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    StepEnd,
    StreamEvent,
    TextDelta,
    TextEnd,
    ToolInputDelta,
    ToolInputEnd,
)

#: The marks are the last 2048 characters of a private plane, in which no script and no icon font has any.
FIRST_HALF, LAST_HIGH, FIRST_MARK = 0xD800, "\udbff", 0x10F800
MARKS = re.compile("[\U0010f800-\U0010ffff]")

_Delta: TypeAlias = TextDelta | ReasoningDelta | ToolInputDelta
_End: TypeAlias = TextEnd | ReasoningEnd | ToolInputEnd


def mark_halves(json: bytes) -> bytes | None:
    """Return JSON with a mark for every escape of a lone half, or None if there is none."""
    marked = replace_lone_escapes(json, lambda unit: chr(FIRST_MARK + unit - FIRST_HALF))
    return None if marked == json else marked


class HalfJoiner:
    """Turns the marks in the events of one response into characters."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], _Delta] = {}

    def join(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return a batch without marks. A first half at the end of a delta waits for the next one."""
        joined: list[StreamEvent] = []
        for event in events:
            match event:
                case TextDelta() | ReasoningDelta() | ToolInputDelta():
                    joined += self._join_delta(event)
                case TextEnd() | ReasoningEnd() | ToolInputEnd():
                    joined += [*self._flush(_key(event)), _without_marks(event)]
                case StepEnd() | ProviderFault():
                    joined += [
                        *(delta for key in [*self._pending] for delta in self._flush(key)),
                        _without_marks(event),
                    ]
                case _:
                    joined.append(_without_marks(event))
        return joined

    def _join_delta(self, delta: _Delta) -> list[_Delta]:
        before = self._pending.pop(_key(delta), None)
        text = (before.text if before else "") + MARKS.sub(_half, delta.text)
        if "\ud800" <= text[-1:] <= LAST_HIGH:
            self._pending[_key(delta)] = replace(delta, text=text[-1])
            text = text[:-1]
        return [replace(delta, text=join_surrogates(text))] if text else []

    def _flush(self, key: tuple[str, str]) -> list[_Delta]:
        pending = self._pending.pop(key, None)
        return [replace(pending, text=REPLACEMENT)] if pending else []


def _key(event: _Delta | _End) -> tuple[str, str]:
    """Identify a text, a thought or a call."""
    name = event.call_id if isinstance(event, ToolInputDelta | ToolInputEnd) else event.id
    return type(event).__name__.removesuffix("Delta").removesuffix("End"), name


def _half(mark: re.Match[str]) -> str:
    return chr(ord(mark[0]) - FIRST_MARK + FIRST_HALF)


def _without_marks(event: StreamEvent) -> StreamEvent:
    """Join marks in texts that come in one piece: names, opaque parts, an error."""
    texts = {name: text for name in event.__struct_fields__ if isinstance(text := getattr(event, name), str)}
    marked = {name: join_surrogates(MARKS.sub(_half, text)) for name, text in texts.items() if MARKS.search(text)}
    return replace(event, **marked) if marked else event
