"""An eye test as people read it: a line for each route as it ends, and what came of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from showandtell.capabilities.cells import Cell, Target
from showandtell.eyetest.judge import VERDICTS, Finding
from showandtell.eyetest.probes import TYPES
from showandtell.terminal import short

WIDTHS = (9, 12, 7, 9, 8)
TITLES = ("kind", "route", "form", "verdict", "seconds")


def head(model: str, count: int) -> Iterator[str]:
    """What is about to happen, and the titles of the columns."""
    yield f"{model}: an eye test, {count} routes or fewer, one or two requests each"
    yield spell_row(TITLES, "evidence, and the prompt's tokens where the provider tells them")


def spell(finding: Finding) -> str:
    """One finding in a line."""
    seconds = f"{finding.seconds:.1f}" if finding.seconds else "-"
    words = (finding.sort, finding.route, finding.form, finding.outcome, seconds)
    tokens = finding.tokens.get("text")
    told = f"; text {tokens} tokens" if tokens else ""
    return spell_row(words, short(finding.evidence + told))


def spell_row(words: Sequence[str], rest: str) -> str:
    """Words in columns, and the rest of the line."""
    return " ".join([*(word.ljust(width) for word, width in zip(words, WIDTHS, strict=True)), rest])


def differences(target: Target, cells: Iterable[Cell]) -> Iterator[str]:
    """Where a test says otherwise than our table."""
    for cell in cells:
        table = target.cell(cell.place, TYPES[cell.kind], "inline") if cell.kind in TYPES else None
        before = table.verdict if table else "none"
        if before != cell.verdict:
            yield f"  {cell.kind} in a {cell.place.replace('_', ' ')}{' message' if cell.place == 'user' else ''}: \
{cell.verdict}, our table has {before}"


def conclude(target: Target, cells: Sequence[Cell], findings: Sequence[Finding], path: Path | None) -> Iterator[str]:
    """What a test came to: what is new, what gave no verdict, and where it was written."""
    changed = list(differences(target, cells))
    yield f"{len(cells)} verdicts, {len(changed)} of them not those of our table{':' if changed else ''}"
    yield from changed
    silent = [finding for finding in findings if finding.outcome not in VERDICTS]
    if silent:
        yield f"{len(silent)} routes gave no verdict"
    if path is None:
        yield "nothing was written"
    else:
        yield f"written to {path}: {target.name} is planned by it from now on"
