"""Write docs/speed.md from the figures that the last `make bench` has kept: every goal, then each bench with its table.

`BENCH_BUSY` is a folder with results of a run while other work kept the machine busy (`BENCH_RESULTS` of that run): the
table of goals has them beside the quiet ones, and the tables of the benches don't. What stands below the line `END` in
the document is written by hand, and stays.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from figures import RESULTS, Figure, high, low, number

PAGE = Path(__file__).parent.parent / "docs/speed.md"
END = "<!-- end of the generated part -->"
INTRODUCTION = """# Speed

What a user of Show & Tell gets, from the public API: `Agent`, `render`, HTTP, the command line and the browser. Written
by `make bench` on {date} with CPython {python} on {machine}, {cores} cores{state}. Times are CPU time unless they say
wall. A ratio is the median of the ratios within rounds, in which every way ran in turn; its spread is from the tenth to
the ninetieth percentile. The machine's clock moves by a third between runs: compare figures of one table only.

A figure marked *inner* times a function that is not public.
"""


def write(names: Sequence[str]) -> None:
    """Write the page from the results of benches, in this order."""
    kept = [json.loads((RESULTS / f"{name}.json").read_text()) for name in names]
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "state": f", {state}" if (state := os.environ.get("BENCH_STATE")) else "",
    }
    _, _, rest = PAGE.read_text().partition(END)
    busy = Path(os.environ["BENCH_BUSY"]) if "BENCH_BUSY" in os.environ else None
    others = [json.loads(path.read_text()) for path in sorted(busy.glob("*.json"))] if busy else []
    parts = [INTRODUCTION.format(**facts), *goals(kept, others), *(section(one) for one in kept)]
    PAGE.write_text("\n".join(parts) + f"\n{END}{rest}")


def goals(kept: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The table of all goals, missed ones in bold, beside what a busy run measured of them."""
    busy = {(figure.work, figure.of): figure for one in others for figure in figures_of(one)}
    yield "## Goals\n"
    heads = ["work", "in 0.1", "goal", "measured", "", *(["busy"] if busy else [])]
    yield row(heads)
    yield row(["---"] * len(heads))
    for one in kept:
        for figure in figures_of(one):
            if figure.goal is not None:
                verdict = figure.verdict if figure.verdict == "met" else f"**{figure.verdict}**"
                cells = [figure.work, figure.before, figure.goal_text, measured(figure), verdict]
                again = busy.get((figure.work, figure.of))
                yield row([*cells, *([measured(again) if again else ""] if busy else [])])
    yield ""


def section(kept: dict[str, Any]) -> str:
    """A bench: what it says of itself, and its table."""
    title, _, about = kept["about"].partition("\n")
    lines = [f"## {title.rstrip('.')}\n", " ".join(about.split()), ""]
    figures = figures_of(kept)
    others = list(dict.fromkeys(name for figure in figures for name in figure.beside))
    heads = ["work", "unit", "ours", *others, "spread"]
    lines += [row(heads), row(["---"] * len(heads))]
    seen = set[str]()
    for figure in figures:
        if figure.work not in seen:
            seen.add(figure.work)
            beside = [number(median(figure.beside[name])) if name in figure.beside else "" for name in others]
            unit = f"{figure.unit}, inner" if figure.inner else figure.unit
            spread = f"{number(low(figure.ours))} to {number(high(figure.ours))}" if len(figure.ours) > 1 else ""
            lines.append(row([figure.work, unit, number(median(figure.ours)), *beside, spread]))
    return "\n".join([*lines, ""])


def measured(figure: Figure) -> str:
    """The median that the goal is about, with its spread."""
    values = figure.compared
    text = f"{number(median(values))} {'times' if figure.of else figure.unit}"
    return f"{text} ({number(low(values))} to {number(high(values))})" if len(values) > 1 else text


def figures_of(kept: dict[str, Any]) -> list[Figure]:
    """The figures of a bench."""
    return [Figure(**figure) for figure in kept["figures"]]


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    write(sys.argv[1:])
