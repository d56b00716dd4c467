"""The table as people read it: one row a family, what becomes of each kind of file, derived from the cells alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, TypedDict

import msgspec

from showandtell.capabilities.cells import Cell, Place, Target
from showandtell.capabilities.family import ANY_MODEL, Family
from showandtell.capabilities.resolve import families, find_family, resolve
from showandtell.files import Kind

InResult: TypeAlias = Literal["native", "relocated", "noted", "words"]
InUser: TypeAlias = Literal["native", "refused", "words"]
#: A reader's own cells, by globs on `provider:model`; `settings.all_overrides` reads them.
Overrides: TypeAlias = Mapping[str, Sequence[Cell]]
NOTHING: Overrides = {}
PLACES = {"tool_result": "tool results", "user": "user messages"}

START, END = "<!-- matrix -->", "<!-- /matrix -->"

#: One representative type for each kind.
PROBES: dict[Kind, str] = {
    "image": "image/png",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
    "text": "text/plain",
}
SYMBOLS: dict[InResult, str] = {"native": "●", "relocated": "◐", "noted": "○", "words": "T"}
LEGEND = (
    "What becomes of a file that a tool returns: ● it stands in the tool result · ◐ it follows in a labelled user "
    "message · T its text is given as words · ○ the model is told its name, and why it wasn't sent. Probed with PNG, "
    "PDF, WAV, MP4 and plain text. *Uploads* are the kinds that a user may send."
)


class Row(TypedDict):
    """One family: where each kind goes. `blind` holds, for a kind, why its place in a tool result is not used.

    `cells`, `budget` and `order` are the facts behind it, as JSON has them: verdicts, forms, limits, evidence, dates.
    `verified` are the reader's own cells for models of this family, by the name or glob that they were given.
    """

    provider: str
    models: str
    api: str
    example: str
    tool_result: dict[Kind, InResult]
    user: dict[Kind, InUser]
    blind: dict[Kind, str]
    cells: list[dict[str, object]]
    budget: dict[str, object]
    order: dict[str, object]
    verified: dict[str, list[dict[str, object]]]


def matrix(overrides: Overrides = NOTHING) -> list[Row]:
    """The whole table, in its own order. `overrides` are told beside it; the table itself stays what it is."""
    return [row(family, overrides) for family in families()]


def row(family: Family, overrides: Overrides = NOTHING) -> Row:
    """One family's row, by way of its example model."""
    target = resolve(f"{family.provider}:{family.example}")
    return {
        "provider": family.provider,
        "models": name_models(family),
        "api": family.api,
        "example": family.example,
        "tool_result": {kind: place_result(target, kind) for kind in PROBES},
        "user": {kind: place_upload(target, kind) for kind in PROBES},
        "blind": find_blind(target),
        "cells": [msgspec.to_builtins(cell) for cell in target.cells],
        "budget": msgspec.to_builtins(target.budget),
        "order": msgspec.to_builtins(target.order),
        "verified": {
            name: [msgspec.to_builtins(cell) for cell in cells]
            for name, cells in overrides.items()
            if concerns(name, family)
        },
    }


def concerns(name: str, family: Family) -> bool:
    """Whether a model's name, or a glob that fits the family's example, is of this family."""
    if fnmatchcase(f"{family.provider}:{family.example}", name):
        return True
    provider, _, model = name.partition(":")
    return find_family(provider, model) == family


def name_models(family: Family) -> str:
    """The patterns; for a provider's default "any other", or "any" where it has no other row."""
    if family.patterns != ANY_MODEL:
        return ", ".join(family.patterns)
    return "any other" if sum(other.provider == family.provider for other in families()) > 1 else "any"


def place_result(target: Target, kind: Kind) -> InResult:
    """The planner's rungs for a tool's file: its result, else a user message, else a note (text: else words)."""
    if _verdict(target, "tool_result", kind) == "sees":
        return "native"
    if _verdict(target, "user", kind) in {"sees", "unproven"}:
        return "relocated"
    return "words" if kind == "text" else "noted"


def place_upload(target: Target, kind: Kind) -> InUser:
    """The planner's rungs for a user's file, which is refused where nothing takes it."""
    if _verdict(target, "user", kind) in {"sees", "unproven"}:
        return "native"
    return "words" if kind == "text" else "refused"


def find_blind(target: Target) -> dict[Kind, str]:
    """The kinds whose cell in a tool result is accepted but not seen, in any form, with the evidence."""
    return {
        cell.kind: f"{cell.form}: {cell.evidence} ({cell.date})"
        for cell in reversed(target.cells)
        if cell.verdict == "blind" and cell.place == "tool_result"
    }


def _verdict(target: Target, place: Place, kind: Kind) -> str:
    cell = target.cell(place, PROBES[kind], "inline")
    return cell.verdict if cell else "none"


def to_json(rows: Sequence[Row]) -> str:
    """The rows as JSON, for programs."""
    return msgspec.json.format(msgspec.json.encode(list(rows)), indent=2).decode()


def markdown(rows: Sequence[Row]) -> str:
    """The rows as one table grouped by provider, with a legend before it and footnotes on blind cells after it."""
    notes = list(dict.fromkeys(note for entry in rows for note in entry["blind"].values()))
    lines = [LEGEND, "", f"| provider | models | api | {' | '.join(PROBES)} | uploads |", f"|{' --- |' * 9}"]
    before = ""
    for entry in rows:
        lines.append(_line(entry, notes, named=entry["provider"] != before))
        before = entry["provider"]
    lines += list_verified(rows)
    if notes:
        lines += ["", "Taken by the API but not seen by the model, so never used:", ""]
        lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def list_verified(rows: Sequence[Row]) -> list[str]:
    """What eye tests and the reader's own file say instead of the table, a line for each cell; nothing without one."""
    found = {
        f"- `{name}`: {cell['kind']} in {PLACES[str(cell['place'])]} ({cell['form']}): **{cell['verdict']}**, "
        f"verified {cell['date']}: {one_line(cell['evidence'])}": None
        for entry in rows
        for name, cells in entry["verified"].items()
        for cell in cells
    }
    return ["", "Verified here, and used instead of the table:", "", *found] if found else []


def one_line(words: object, most: int | None = None) -> str:
    """Words of others on one line, without what could drive a terminal, cut after `most` letters, if any."""
    kept = "".join(letter for letter in str(words) if letter.isprintable() or letter.isspace())
    line = " ".join(kept.split())
    return line if most is None or len(line) <= most else line[:most] + " …"


def _line(entry: Row, notes: Sequence[str], *, named: bool) -> str:
    models = entry["models"] if entry["models"].startswith("any") else f"`{entry['models'].replace(', ', '`, `')}`"
    cells = [
        SYMBOLS[rung] + (f" ({notes.index(entry['blind'][kind]) + 1})" if kind in entry["blind"] else "")
        for kind, rung in entry["tool_result"].items()
    ]
    uploads = ", ".join(kind for kind, rung in entry["user"].items() if rung != "refused")
    days = [str(cell["date"]) for cells in entry["verified"].values() for cell in cells]
    models += f" (verified {max(days)})" if days else ""
    head = [f"**{entry['provider']}**" if named else "", models, entry["api"]]
    return f"| {' | '.join([*head, *cells, uploads])} |"


def matrix_block() -> str:
    """The table between the markers that README keeps it in."""
    return f"{START}\n{markdown(matrix())}{END}"
