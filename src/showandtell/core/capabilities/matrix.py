"""The table for readers: a row for each family, and one for each model that the reader's own cells are about.

How each kind of file is delivered is derived from the cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, TypedDict

import msgspec

from showandtell.core.capabilities.cells import Capability, Place, Target, Verdict
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.overrides import select
from showandtell.core.capabilities.registry import families
from showandtell.core.capabilities.resolve import find_family, resolve
from showandtell.core.display.words import one_line
from showandtell.core.media_types.kinds import Kind

InResult: TypeAlias = Literal["native", "relocated", "converted", "noted", "words"]
InUser: TypeAlias = Literal["native", "converted", "refused", "words"]
#: A reader's own cells, by globs on `provider:model`; `settings.all_overrides` reads them.
Overrides: TypeAlias = Mapping[str, Sequence[Capability]]
NO_OVERRIDES: Overrides = {}
PLACES = {"tool_result": "tool results", "user": "user messages"}
#: A place is used if it has one of these verdicts.
USED: dict[Place, tuple[Verdict, ...]] = {"tool_result": ("sees",), "user": ("sees", "unproven")}


#: One representative type for each kind.
PROBES: dict[Kind, str] = {
    "image": "image/png",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
    "text": "text/plain",
}
SYMBOLS: dict[InResult, str] = {"native": "●", "relocated": "◐", "converted": "◇", "noted": "○", "words": "T"}
#: Kinds that can be converted for every model: to pages or text, to frames, to a transcript.
CONVERTED = frozenset[Kind]({"document", "audio", "video"})
LEGEND = (
    "How a file that a tool returns is sent: ● in the tool result · ◐ in a follow-up message · ◌ in a follow-up "
    "message, not proved to be seen · T as text · ◇ converted: pages or text of a document, frames of a video, a "
    "transcript of audio · ○ name only, and why it wasn't sent. Probed with PNG, PDF, WAV, MP4 and plain text. "
    "*Uploads* are the kinds that a user may send, in parentheses if they are not proved to be seen. *Known by* is the "
    "evidence for the places in use, or that there are none, with its newest date: recorded or live responses, docs, "
    "types of an SDK, source code, reports by others, our default for unknown models, or your own vision check."
)
#: An unproven place that is used because there is no better one.
UNPROVEN = "◌"
#: Kinds of evidence, the strongest first. Evidence is classified by the first of these words in it.
EVIDENCE_KINDS = ("eye test", "recorded", "live", "docs", "types", "source", "report", "default")
EVIDENCE_WORD = re.compile(
    r"\b(eye test|recorded|live|docs|guide|types|schema|default)\b|\w\.(?:go|py|cpp)\b|\blitellm \d"
)
SYNONYMS = {"guide": "docs", "schema": "types"}


class MatrixRow(TypedDict):
    """Where each kind of file goes, for one family or one of its models.

    blind: by kind, why its place in a tool result is not used. unproven: kinds that may not be seen in a user message.
    known_by: a summary of the evidence, with its newest date.
    window: the context window in tokens, with evidence and date, of the example; None if it isn't known.
    cells, budget, order: the facts as JSON: verdicts, forms, limits, evidence, dates.
    verified: the reader's own cells, by their name or glob; empty for a family.
    """

    provider: str
    models: str
    api: str
    example: str
    tool_result: dict[Kind, InResult]
    user: dict[Kind, InUser]
    unproven: list[Kind]
    blind: dict[Kind, str]
    known_by: str
    cells: list[dict[str, object]]
    window: dict[str, object] | None
    budget: dict[str, object]
    order: dict[str, object]
    verified: dict[str, list[dict[str, object]]]


def matrix(overrides: Overrides = NO_OVERRIDES) -> list[MatrixRow]:
    """All rows in the table's order. Each family is followed by its models in `overrides`."""
    return [entry for family in families() for entry in (row(family), *verified_rows(family, overrides))]


def row(family: Family) -> MatrixRow:
    """The row of a family, derived from its example model."""
    return describe(resolve(f"{family.provider}:{family.example}"), name_models(family))


def verified_rows(family: Family, overrides: Overrides) -> list[MatrixRow]:
    """A row for each name or glob in `overrides` that belongs to this family."""
    names = [name for name, cells in overrides.items() if cells]
    models = [(name, model) for name in names if (model := find_model(name, family)) is not None]
    return [
        describe(resolve(model, choose_cells(name, model, overrides)), without_provider(name), {name: overrides[name]})
        for name, model in models
    ]


def choose_cells(name: str, model: str, overrides: Overrides) -> tuple[Capability, ...]:
    """The cells for a name or glob. Cells of the model that represents a glob are left out."""
    return select({glob: cells for glob, cells in overrides.items() if glob == name or glob != model}, model)


def without_provider(name: str) -> str:
    """Remove the provider from a name or glob."""
    return one_line(name.partition(":")[2] or name)


def describe(target: Target, models: str, verified: Overrides = NO_OVERRIDES) -> MatrixRow:
    """The row of a target; `models` is the name of its models."""
    return {
        "provider": target.provider,
        "models": models,
        "api": target.api,
        "example": target.model,
        "tool_result": {kind: place_result(target, kind) for kind in PROBES},
        "user": {kind: place_upload(target, kind) for kind in PROBES},
        "unproven": [kind for kind in PROBES if _verdict(target, "user", kind) == "unproven"],
        "blind": find_blind(target),
        "known_by": summarize_evidence(target),
        "cells": [msgspec.to_builtins(cell) for cell in target.cells],
        "window": msgspec.to_builtins(target.window),
        "budget": msgspec.to_builtins(target.budget),
        "order": msgspec.to_builtins(target.order),
        "verified": {name: [msgspec.to_builtins(cell) for cell in cells] for name, cells in verified.items()},
    }


def find_model(name: str, family: Family) -> str | None:
    """The model that represents a name or glob in this family: itself, or the family's example. None: no match."""
    provider, _, model = name.partition(":")
    if model.strip() and find_family(provider, model) == family:
        return name
    example = f"{family.provider}:{family.example}"
    return example if fnmatchcase(example, name) else None


def name_models(family: Family) -> str:
    """The patterns; for a provider's default "any other", or "any" if it is the provider's only row."""
    if family.patterns != ANY_MODEL:
        return ", ".join(family.patterns)
    return "any other" if sum(other.provider == family.provider for other in families()) > 1 else "any"


def place_result(target: Target, kind: Kind) -> InResult:
    """The planner's choice for a tool's file: its result, else a user message, else a conversion, else a note."""
    if _verdict(target, "tool_result", kind) == "sees":
        return "native"
    if _verdict(target, "user", kind) in USED["user"]:
        return "relocated"
    return "words" if kind == "text" else "converted" if kind in CONVERTED else "noted"


def place_upload(target: Target, kind: Kind) -> InUser:
    """The planner's choice for a user's file, which is refused if nothing takes it."""
    if _verdict(target, "user", kind) in USED["user"]:
        return "native"
    return "words" if kind == "text" else "converted" if kind in CONVERTED else "refused"


def find_blind(target: Target) -> dict[Kind, str]:
    """Evidence by kind for cells in tool results that are accepted but not seen, in any form.

    A cell that an earlier one overrides doesn't count.
    """
    return {
        cell.kind: f"{cell.form}: {one_line(cell.evidence)} ({cell.date})"
        for cell in reversed(target.cells)
        if cell.verdict == "blind"
        and cell.place == "tool_result"
        and any(target.cell(cell.place, media_type, cell.form) is cell for media_type in cell.media_types)
    }


def summarize_evidence(target: Target) -> str:
    """The kinds of evidence for the places that are used, else for all; with the newest date. Empty without cells."""
    cells = list(find_used(target)) or target.cells
    kinds = sorted({classify_evidence(cell.evidence) for cell in cells}, key=EVIDENCE_KINDS.index)
    return f"{', '.join(kinds)} {max(cell.date for cell in cells)}" if cells else ""


def find_used(target: Target) -> Iterator[Capability]:
    """The cells that a plan uses: seen tool results, user messages that may be seen, and any that were verified."""
    for media_type in PROBES.values():
        for place, verdicts in USED.items():
            cell = target.cell(place, media_type, "inline")
            if cell and (cell.verdict in verdicts or cell.evidence.startswith("eye test")):
                yield cell


def classify_evidence(evidence: str) -> str:
    """The kind of evidence, by the first word that names one; "report" if no word does."""
    match = EVIDENCE_WORD.search(evidence)
    if match is None:
        return "report"
    return SYNONYMS.get(match[1], match[1]) if match[1] else "source"


def _verdict(target: Target, place: Place, kind: Kind) -> str:
    cell = target.cell(place, PROBES[kind], "inline")
    return cell.verdict if cell else "none"


def to_json(rows: Sequence[MatrixRow]) -> str:
    """The rows as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(list(rows)), indent=2).decode()


def markdown(rows: Sequence[MatrixRow]) -> str:
    """The rows as one table grouped by provider, with a legend before it and footnotes on blind cells after it."""
    notes = list(dict.fromkeys(note for entry in rows for note in entry["blind"].values()))
    lines = [
        LEGEND,
        "",
        f"| provider | models | api | {' | '.join(PROBES)} | uploads | known by |",
        f"|{' --- |' * 10}",
    ]
    before = ""
    for entry in rows:
        lines.append(_line(entry, notes, named=entry["provider"] != before))
        before = entry["provider"]
    lines += list_verified(rows)
    if notes:
        lines += ["", "Taken by the API but not seen by the model, so never used:", ""]
        lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def list_verified(rows: Sequence[MatrixRow]) -> list[str]:
    """A line for each of the reader's own cells, below a heading; empty without such cells."""
    lines = {
        f"- `{name}`: {cell['kind']} in {PLACES[str(cell['place'])]} ({cell['form']}): **{cell['verdict']}**, "
        f"verified {cell['date']}: {one_line(cell['evidence'])}": None
        for entry in rows
        for name, cells in entry["verified"].items()
        for cell in cells
    }
    return ["", "Verified here, and used instead of the table:", "", *lines] if lines else []


def _line(entry: MatrixRow, notes: Sequence[str], *, named: bool) -> str:
    models = entry["models"] if entry["models"].startswith("any") else f"`{entry['models'].replace(', ', '`, `')}`"
    if entry["verified"]:
        models = f"`{entry['models']}` (verified {max(str(cell['date']) for cell in _verified_cells(entry))})"
    cells = [_symbol(entry, kind, notes) for kind in entry["tool_result"]]
    accepted = [kind for kind, delivery in entry["user"].items() if delivery in {"native", "words"}]
    uploads = [f"({kind})" if kind in entry["unproven"] else kind for kind in accepted]
    head = [f"**{entry['provider']}**" if named else "", models, entry["api"]]
    return f"| {' | '.join([*head, *cells, ', '.join(uploads), entry['known_by']])} |"


def _symbol(entry: MatrixRow, kind: Kind, notes: Sequence[str]) -> str:
    delivery = entry["tool_result"][kind]
    symbol = UNPROVEN if delivery == "relocated" and kind in entry["unproven"] else SYMBOLS[delivery]
    return symbol + (f" ({notes.index(entry['blind'][kind]) + 1})" if kind in entry["blind"] else "")


def _verified_cells(entry: MatrixRow) -> list[dict[str, object]]:
    return [cell for cells in entry["verified"].values() for cell in cells]
