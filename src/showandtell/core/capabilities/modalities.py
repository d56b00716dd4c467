"""What a model takes, as its host says or as its provider's answers have shown: kinds of files, and tokens."""

from __future__ import annotations

from collections.abc import Iterable

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
