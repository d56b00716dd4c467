"""What is kept of a step beside its message, for people and for the next plan; no provider reads it back."""

from __future__ import annotations

from msgspec import Struct

from showandtell.core.events.annotations import Aside
from showandtell.core.events.replay import StepSummary
from showandtell.core.events.types import Usage
from showandtell.core.planning.values import Receipt


class Step(Struct, frozen=True, omit_defaults=True):
    """A model call: who was asked, the tokens it took, the receipts that changed with it, what it said aside."""

    usage: Usage | None = None
    receipts: tuple[Receipt, ...] = ()
    model: str = ""
    asides: tuple[Aside, ...] = ()

    def told(self) -> StepSummary:
        """The same as a page is told of it."""
        records = tuple(receipt.record() for receipt in self.receipts)
        return StepSummary(self.model, self.usage or Usage(), records, self.asides)
