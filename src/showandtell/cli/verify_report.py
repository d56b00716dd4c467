"""Text of a vision check: one line per route, and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.display.words import short
from showandtell.verify.judge import VERDICTS, Finding
from showandtell.verify.probes import TYPES

WIDTHS = (9, 12, 7, 9, 8)
#: Shorter times are printed as "<0.1".
MIN_SECONDS = 0.1
#: Routes whose name in JSON isn't plain.
ROUTES = {"relocated": "next message"}
TITLES = ("kind", "route", "form", "verdict", "seconds")


def head(target: Target, count: int, host: str = "") -> Iterator[str]:
    """What will be checked, and the titles of the columns. `host`: the gateway that replies instead of the provider."""
    yield f"{target.name}: a vision check, {number(count, 'route')} or fewer, one or two requests each"
    yield "only bytes are checked, not uploads and links"
    if target.dialect.separate_results:
        yield "files outside of a function response are checked in a separate content, as we send them"
    if host:
        yield f"{host} is not {target.provider}'s own address: the verdicts apply to what is behind it"
    yield format_row(TITLES, "evidence, and prompt tokens if the provider reports them")


def format_finding(finding: Finding) -> str:
    """One finding as a line."""
    columns = (
        finding.kind,
        ROUTES.get(finding.route, finding.route),
        finding.form,
        finding.outcome,
        format_seconds(finding),
    )
    tokens = finding.tokens.get("text")
    counts = f"; text {number(tokens, 'token')}" if tokens else ""
    return format_row(columns, short(finding.evidence + counts))


def format_seconds(finding: Finding) -> str:
    """The response time; empty for skipped routes."""
    if finding.outcome == "skipped":
        return ""
    return f"{finding.seconds:.1f}" if finding.seconds >= MIN_SECONDS else f"<{MIN_SECONDS}"


def format_row(columns: Sequence[str], rest: str) -> str:
    """Aligned columns, and the rest of the line."""
    return " ".join([*(text.ljust(width) for text, width in zip(columns, WIDTHS, strict=True)), rest])


def number(count: int, noun: str) -> str:
    """A number and a noun in singular or plural."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def differences(target: Target, cells: Iterable[Capability]) -> Iterator[str]:
    """The verdicts that differ from our table."""
    for cell in cells:
        table = target.cell(cell.place, TYPES[cell.kind], "inline") if cell.kind in TYPES else None
        if table is None:
            yield f"{name_place(cell)}: {cell.verdict}, not in our table"
        elif table.verdict != cell.verdict:
            yield f"{name_place(cell)}: {cell.verdict}, our table says {table.verdict}"


def name_place(cell: Capability) -> str:
    """A cell's kind and place."""
    return f"{cell.kind} in a {'user message' if cell.place == 'user' else 'tool result'}"


def conclude(target: Target, cells: Sequence[Capability], findings: Sequence[Finding]) -> Iterator[str]:
    """The summary: new verdicts, differences from our table, and routes without a verdict."""
    checked = number(len(findings), "route")
    if not cells:
        yield f"{checked}, no verdicts"
        return
    changed = list(differences(target, cells))
    result = (
        f"{len(changed)} {'differs' if len(changed) == 1 else 'differ'} from our table:"
        if changed
        else "as in our table"
    )
    yield f"{checked}, {number(len(cells), 'verdict')}; {result}"
    yield from (f"  {line}" for line in changed)
    missing = sum(finding.outcome not in VERDICTS for finding in findings)
    if missing:
        yield f"{number(missing, 'route')} without a verdict"


def format_end(target: Target, path: Path | None, host: str | None) -> str:
    """Where the verdicts were stored, or how to store them. `host`: the gateway that replied; None without verdicts."""
    if path is not None:
        return f"written to {path}: used for {target.name} from now on"
    if host is None:
        return "nothing was written"
    replied = f": {host} replied, but verdicts apply to {target.name} at any address" if host else ""
    return f"not written{replied}; --save stores them for later plans"
