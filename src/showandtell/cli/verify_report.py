"""An eye test as people read it: a line for each route as it ends, and what came of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from showandtell.cli.terminal import short
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.verify.judge import VERDICTS, Finding
from showandtell.verify.probes import TYPES

WIDTHS = (9, 12, 7, 9, 8)
#: The shortest time that is told.
LEAST = 0.1
TITLES = ("kind", "route", "form", "verdict", "seconds")


def head(target: Target, count: int, host: str = "") -> Iterator[str]:
    """What is about to happen, and the titles of the columns. `host`: who answers in the provider's place."""
    yield f"{target.name}: an eye test, {number(count, 'route')} or fewer, one or two requests each"
    yield "bytes alone are tried: uploads and links are not"
    if target.api == "gemini":
        yield "files outside a response are tried in a content of their own, as we send them, not beside the response"
    if host:
        yield f"{host} answers, which isn't {target.provider}'s own address: the verdicts are about what is behind it"
    yield spell_row(TITLES, "evidence, and the prompt's tokens where the provider tells them")


def spell(finding: Finding) -> str:
    """One finding in a line."""
    words = (finding.sort, finding.route, finding.form, finding.outcome, spell_seconds(finding))
    tokens = finding.tokens.get("text")
    told = f"; text {number(tokens, 'token')}" if tokens else ""
    return spell_row(words, short(finding.evidence + told))


def spell_seconds(finding: Finding) -> str:
    """How long an answer took; nothing where nobody was asked."""
    if finding.outcome == "skipped":
        return ""
    return f"{finding.seconds:.1f}" if finding.seconds >= LEAST else f"<{LEAST}"


def spell_row(words: Sequence[str], rest: str) -> str:
    """Words in columns, and the rest of the line."""
    return " ".join([*(word.ljust(width) for word, width in zip(words, WIDTHS, strict=True)), rest])


def number(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def differences(target: Target, cells: Iterable[Capability]) -> Iterator[str]:
    """Where a test says otherwise than our table."""
    for cell in cells:
        table = target.cell(cell.place, TYPES[cell.kind], "inline") if cell.kind in TYPES else None
        if table is None:
            yield f"{name_place(cell)}: {cell.verdict}, our table says nothing"
        elif table.verdict != cell.verdict:
            yield f"{name_place(cell)}: {cell.verdict}, our table says {table.verdict}"


def name_place(cell: Capability) -> str:
    """A cell's kind and place in words."""
    return f"{cell.kind} in a {'user message' if cell.place == 'user' else 'tool result'}"


def conclude(target: Target, cells: Sequence[Capability], findings: Sequence[Finding]) -> Iterator[str]:
    """What a test came to: what was learnt, what is new, and what gave no verdict."""
    tried = number(len(findings), "route")
    if not cells:
        yield f"{tried}, nothing learnt"
        return
    changed = list(differences(target, cells))
    told = f"{len(changed)} {'differs' if len(changed) == 1 else 'differ'}:" if changed else "all as our table says"
    yield f"{tried}, {number(len(cells), 'place')} learnt; {told}"
    yield from (f"  {line}" for line in changed)
    silent = sum(finding.outcome not in VERDICTS for finding in findings)
    if silent:
        yield f"{number(silent, 'route')} gave no verdict"


def tell_end(target: Target, path: Path | None, host: str = "") -> str:
    """Where the verdicts were written; without a path, that they weren't, and why where `host` is the reason."""
    if path is not None:
        return f"written to {path}: {target.name} is planned by it from now on"
    if not host:
        return "nothing was written"
    return f"not written: {host} answered, and {target.name} would be planned by that at any address; --write keeps it"
