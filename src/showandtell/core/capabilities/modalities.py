"""Which kinds of files a model takes, as its host says or as its provider's answers have shown."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
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
