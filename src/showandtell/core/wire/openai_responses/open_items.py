"""The open items of a response and their texts, and how each kind of item ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from showandtell.core.events.types import (
    ReasoningEnd,
    StreamEvent,
    TextEnd,
    ToolInputDelta,
    ToolInputEnd,
)
from showandtell.core.wire.hosted_blocks import Fields
from showandtell.core.wire.openai_responses.hosted import read_annotation
from showandtell.core.wire.openai_responses.text_fields import format_text_fields


@dataclass(slots=True)
class OpenText:
    """A content part of a message; `written` and `annotations` are emitted already."""

    id: str
    #: As UTF-8, which grows in place; a list would keep an object for each piece.
    written: bytearray = field(default_factory=bytearray)
    annotations: list[Fields] = field(default_factory=list[Fields])
    is_complete: bool = False
    has_ended: bool = False

    def annotate(self, annotations: Sequence[Fields], events: list[StreamEvent]) -> None:
        """Add annotations: sources of the text, and files that code of the provider made."""
        for annotation in annotations:
            self.annotations.append(annotation)
            events.append(read_annotation(self.id, annotation))

    def begins(self, text: str) -> bool:
        """Whether a text starts with what was emitted."""
        return bool(self.written) and text.startswith(self.written.decode())


@dataclass(slots=True)
class OpenItem:
    """A started item.

    `id` is the id in our events, `pieces` are a call's arguments, and `section` is the field and index of the last
    reasoning delta. A message's `phase` may come as late as its end.
    """

    kind: str
    id: str
    item_id: str | None
    phase: str | None = None
    texts: dict[int, OpenText] = field(default_factory=dict[int, OpenText])
    pieces: list[str] = field(default_factory=list[str])
    section: tuple[str, int] | None = None
    has_full_arguments: bool = False
    is_done: bool = False

    def adopt_text(self, index: int, text: str, strays: list[int]) -> None:
        """Move one of the texts at `strays` to its index: Bedrock's deltas name another one than their end."""
        stray = next((at for at in strays if self.texts[at].begins(text)), None)
        if stray is not None and index not in self.texts:
            self.texts[index] = self.texts.pop(stray)
            strays.remove(stray)


def fill_arguments(call: OpenItem, arguments: str, events: list[StreamEvent]) -> None:
    """Emit what a call's deltas left out of its arguments. If the two differ, the deltas win."""
    received = "".join(call.pieces)
    if arguments.startswith(received) and (rest := arguments[len(received) :]):
        call.pieces.append(rest)
        events.append(ToolInputDelta(call.id, rest))


def end_call(call: OpenItem, events: list[StreamEvent], fields: str | None = None) -> None:
    """End a call, with the fields that go back with it. One without arguments gets an empty object."""
    if not call.pieces:
        events.append(ToolInputDelta(call.id, "{}"))
    events.append(ToolInputEnd(call.id, fields))


def end_texts(message: OpenItem, events: list[StreamEvent], *, only_complete: bool = False) -> None:
    """End the texts of a message, with its phase."""
    for part in message.texts.values():
        if not part.has_ended and (part.is_complete or not only_complete):
            part.has_ended = True
            events.append(TextEnd(part.id, format_text_fields(message.phase, part.annotations)))


def close_unfinished(opened: OpenItem, events: list[StreamEvent], *, is_complete: bool) -> None:
    """End an item without an end of its own; a call only if its arguments and the response are complete."""
    match opened.kind:
        case _ if opened.is_done:
            pass
        case "message":
            end_texts(opened, events)
        case "reasoning":
            events.append(ReasoningEnd(opened.id))
        case "function_call" if opened.has_full_arguments and is_complete:
            end_call(opened, events)
        case _:
            pass
