"""What is stored of a step beside its message, for users and for the next plan. It is never sent to a provider."""

from __future__ import annotations

from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.core.events.annotations import Annotation
from showandtell.core.events.replay import StepSummary
from showandtell.core.events.types import Usage
from showandtell.core.planning.values import Receipt


class Step(Checked, Struct, frozen=True, omit_defaults=True):
    """A model call: the model, its token usage, the receipts that changed, and annotations outside of the message."""

    usage: Usage | None = None
    receipts: tuple[Receipt, ...] = ()
    model: str = ""
    asides: tuple[Annotation, ...] = ()

    def summary(self) -> StepSummary:
        """The step as the page receives it."""
        records = tuple(receipt.record() for receipt in self.receipts)
        return StepSummary(self.model, self.usage or Usage(), records, self.asides)
