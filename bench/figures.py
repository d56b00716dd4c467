"""A figure that a bench measured: ours beside its floor and its peers, its goal, and whether it was met.

Each round runs every way of doing the same job once, in turn, so that other work on the machine and its clock disturb
all alike: a ratio is the median of the ratios within rounds, and its spread their tenth and ninetieth percentile.
`save` prints the figures and keeps them as JSON, from which `report.py` writes docs/speed.md.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

RESULTS = Path(os.environ.get("BENCH_RESULTS", Path(__file__).parent / ".results"))
FLOOR = "floor"
Of = Literal["", "floor", "best peer"]


@dataclass(frozen=True)
class Figure:
    """A figure in a unit.

    work: what is done, as its user would say it, and with "first" or "again" where that makes a difference.
    ours: its value in each round.
    beside: values of other ways in the same rounds: "floor", and peers by name and version.
    of: what the goal is a ratio to: nothing (the goal is in the unit), the floor (ours divided by it), or the best peer
        (divided by ours).
    goal: the most that it may be; the least, if it is of the best peer. None if it is shown without a goal.
    before: what it was in 0.1, measured in the same way.
    inner: it times a function that is not in the public API.
    """

    work: str
    unit: str
    ours: Sequence[float]
    beside: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    of: Of = ""
    goal: float | None = None
    before: str = ""
    inner: bool = False

    @property
    def compared(self) -> list[float]:
        """What the goal is about, by round."""
        match self.of:
            case "floor":
                return [own / floor for own, floor in zip(self.ours, self.beside[FLOOR], strict=True)]
            case "best peer":
                best = min(self.peers, key=lambda name: median(self.peers[name]))
                return [peer / own for own, peer in zip(self.ours, self.peers[best], strict=True)]
            case _:
                return list(self.ours)

    @property
    def peers(self) -> dict[str, Sequence[float]]:
        """The other ways without the floor."""
        return {name: values for name, values in self.beside.items() if name != FLOOR}

    @property
    def verdict(self) -> str:
        """Whether the goal is met by the median."""
        if self.goal is None:
            return ""
        measured = median(self.compared)
        return "met" if (measured >= self.goal if self.of == "best peer" else measured <= self.goal) else "missed"

    @property
    def goal_text(self) -> str:
        """The goal with its unit."""
        if self.goal is None:
            return ""
        unit = {"floor": "times the floor", "best peer": "times faster than the best peer"}.get(self.of, self.unit)
        return f"{'≥' if self.of == 'best peer' else '≤'} {self.goal:g} {unit}"


def rounds(count: int, **ways: Callable[[], float]) -> dict[str, list[float]]:
    """Run each way once in each round, after a first round that isn't counted. Each returns its own cost."""
    names = list(ways)
    costs: dict[str, list[float]] = {name: [] for name in names}
    for at in range(count + 1):
        for name in names[at % len(names) :] + names[: at % len(names)]:
            cost = ways[name]()
            if at:
                costs[name].append(cost)
    return costs


def save(about: str, figures: Sequence[Figure]) -> None:
    """Print figures, and keep them under the name of the bench with what it says of itself."""
    print(about.strip().partition("\n")[0])
    print(table(HEAD, [row(figure) for figure in figures]))
    RESULTS.mkdir(parents=True, exist_ok=True)
    kept = {"about": about.strip(), "figures": [asdict(figure) for figure in figures]}
    (RESULTS / f"{Path(sys.argv[0]).stem}.json").write_text(json.dumps(kept, ensure_ascii=False))


HEAD = ("work", "unit", "ours", "beside", "compared", "spread", "goal", "")


def row(figure: Figure) -> list[str]:
    """A line of the table."""
    beside = ", ".join(f"{name} {number(median(values))}" for name, values in figure.beside.items())
    compared = figure.compared
    spread = f"{number(low(compared))} to {number(high(compared))}" if len(compared) > 1 else ""
    ratio = "" if not figure.of else f"{median(compared):.2f} times"
    unit = f"{figure.unit}, inner" if figure.inner else figure.unit
    return [figure.work, unit, number(median(figure.ours)), beside, ratio, spread, figure.goal_text, figure.verdict]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under a head, in columns as wide as they need."""
    texts = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(_lines(texts, widths))


def _lines(texts: list[list[str]], widths: list[int]) -> Iterator[str]:
    for index, row in enumerate(texts):
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        if index == 0:
            yield "  ".join("-" * width for width in widths)


def number(value: float) -> str:
    """Three digits, or all of a large number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def low(values: Sequence[float]) -> float:
    """The tenth percentile."""
    return quantiles(values, n=10, method="inclusive")[0]


def high(values: Sequence[float]) -> float:
    """The ninetieth percentile."""
    return quantiles(values, n=10, method="inclusive")[-1]
