"""When a fault strikes: at the n-th request of a house, so many times, and then everything is normal again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .faults import Fault, Planned


class Plan:
    """Counts requests, and says which fault each of them gets."""

    def __init__(self, faults: Sequence[Fault | Planned]) -> None:
        self.counts: Counter[str] = Counter()
        self.planned: list[Planned] = []
        self.last = 0
        for one in faults:
            self.add(one)

    def add(self, fault: Fault | Planned) -> None:
        """Plan one more: bare faults strike at one request after the other; a planned one counts from now on."""
        if isinstance(fault, Planned):
            self.planned.append(replace(fault, nth=fault.nth + self.counts[fault.house]))
            return
        self.last = max(self.last, self.counts[""]) + 1
        self.planned.append(Planned(fault, nth=self.last))

    def next(self, house: str) -> Fault | None:
        """Count one request; the first fault that strikes it."""
        self.counts[house] += 1
        self.counts[""] += 1
        struck = (one for one in self.planned if one.strikes(house, self.counts[one.house]))
        return next((one.fault for one in struck), None)
