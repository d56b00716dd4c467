"""Receipts of placements: what became of each file, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from operator import is_not

from msgspec import UNSET

from showandtell.core.messages.attachments import Facts
from showandtell.core.planning.placement import Placement
from showandtell.core.planning.values import Receipt

#: The end of the reason of a file whose mark was lifted.
LIFTED = "; it is for the user alone, and its owner showed it to the model for this message"


def make_receipts(placements: Sequence[Placement]) -> dict[int, Receipt]:
    """Receipts by file number. For a file that is shown twice, its newest use counts."""
    newest = {placement.attachment.number: placement for placement in placements}
    return {number: make_receipt(placement) for number, placement in newest.items()}


def make_receipt(placement: Placement) -> Receipt:
    """The receipt of one placement."""
    file, derivative = placement.attachment, placement.derivative
    text = derivative.text if derivative and derivative.text is not None else ""
    size = sum(source.size for source in placement.files if isinstance(source, Facts)) + len(text.encode())
    reason = placement.reason
    if file.corrected:
        reason += f"; it claimed to be {file.corrected} and is {file.media_type}"
    if placement.is_lifted:
        reason += LIFTED
    return Receipt(
        number=file.number,
        name=file.name,
        kind=file.kind,
        media_type=file.media_type,
        origin=str(file.origin),
        place=placement.place,
        delivery=placement.delivery,
        converted=derivative is not None,
        reason=reason,
        cell=placement.cell,
        bytes=size,
        variant=derivative,
        view=placement.view if derivative is not None else None,
        external_id=file.external_id,
        lifted=placement.is_lifted or UNSET,
    )


def new_receipts(receipts: Sequence[Receipt], before: Sequence[Receipt]) -> Iterator[Receipt]:
    """The receipts of a plan that aren't those of the plan before, which had the same files at its start."""
    yield from compress(receipts, map(is_not, receipts, before))
    yield from receipts[len(before) :]
