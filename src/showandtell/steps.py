"""What is kept of a step beside its message, for people and for the next plan; no provider reads it back."""

from __future__ import annotations

from msgspec import Struct

from showandtell.delivery.values import Receipt
from showandtell.events.asides import Aside
from showandtell.events.retell import Told
from showandtell.events.types import Usage


class Step(Struct, frozen=True, omit_defaults=True):
    """A model call: who was asked, the tokens it took, the receipts that changed with it, what it said aside."""

    usage: Usage | None = None
    receipts: tuple[Receipt, ...] = ()
    model: str = ""
    asides: tuple[Aside, ...] = ()

    def told(self) -> Told:
        """The same as a page is told of it."""
        records = tuple(receipt.record() for receipt in self.receipts)
        return Told(self.model, self.usage or Usage(), records, self.asides)
