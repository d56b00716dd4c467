"""What a model takes, as its host says or as its provider's answers have shown: kinds of files, fields, and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target, Window
from showandtell.core.media_types.kinds import Kind


class Modality(Struct, frozen=True):
    """Whether a model takes files of one kind.

    evidence: where that is known from, as the receipt of a file tells it. date: a day in ISO 8601.
    until: when to find out again, in epoch seconds.
    """

    kind: Kind
    takes: bool
    evidence: str
    date: str
    until: float


class MessageField(Struct, frozen=True):
    """A field of a model's message that its host doesn't take back, or without which it refuses the message.

    evidence, date, until: as in `Modality`.
    """

    name: str
    state: Literal["refused", "required"]
    evidence: str
    date: str
    until: float


class ListedWindow(Window, frozen=True):
    """The context window that a host tells. until: when to find out again, in epoch seconds."""

    until: float


def limit_window(target: Target, listed: Window | None) -> Target:
    """The target with the window that its host tells, unless the table has a smaller one.

    A host knows how a model was started, so it counts before the table, which is by the model's name alone. A larger
    one doesn't count: routers list the largest of several hosts.
    """
    if listed is None or (target.window is not None and target.window.tokens <= listed.tokens):
        return target
    return replace(target, window=Window(listed.tokens, listed.evidence, listed.date))


def with_fields(target: Target, fields: Iterable[MessageField]) -> Target:
    """The target with the fields that its host refuses and requires, besides those that it has."""
    new = {field.name: field.state for field in fields}
    if not new:
        return target
    known = dict.fromkeys(target.refused_fields, "refused") | dict.fromkeys(target.required_fields, "required") | new
    refused, required = (
        tuple(sorted(name for name, state in known.items() if state == kind)) for kind in ("refused", "required")
    )
    return replace(target, refused_fields=refused, required_fields=required)


def restrict(target: Target, modalities: Iterable[Modality]) -> Target:
    """The target without the kinds of files that its model doesn't take."""
    refused = {modality.kind: modality for modality in modalities if not modality.takes}
    if not refused:
        return target
    cells = (
        replace(cell, verdict="rejects", evidence=known.evidence, date=known.date)
        if (known := refused.get(cell.kind)) is not None
        else cell
        for cell in target.cells
    )
    learned = tuple((kind, known.evidence) for kind, known in refused.items())
    return replace(target, cells=tuple(cells), learned=learned)
