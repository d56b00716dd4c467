"""Decide which requests get a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .faults import Fault, PlannedFault


class Plan:
    """Counts requests and returns the fault for each."""

    def __init__(self, faults: Sequence[Fault | PlannedFault]) -> None:
        self.counts: Counter[str] = Counter()
        self.planned: list[PlannedFault] = []
        self.last = 0
        for planned in faults:
            self.add(planned)

    def add(self, fault: Fault | PlannedFault) -> None:
        """Add a fault. A plain fault takes the next free request, a planned one counts requests from now on."""
        if isinstance(fault, PlannedFault):
            self.planned.append(replace(fault, nth=fault.nth + self.counts[fault.host]))
            return
        self.last = max(self.last, self.counts[""]) + 1
        self.planned.append(PlannedFault(fault, nth=self.last))

    def next(self, host: str) -> Fault | None:
        """Count a request and return the first fault for it."""
        self.counts[host] += 1
        self.counts[""] += 1
        active = (planned for planned in self.planned if planned.strikes(host, self.counts[planned.host]))
        return next((planned.fault for planned in active), None)
