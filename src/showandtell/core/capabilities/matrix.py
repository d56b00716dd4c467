"""The table as people read it: a row for each family, and one for each model that its reader knows more about.

What becomes of each kind of file is derived from the cells alone.
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
from showandtell.core.capabilities.resolve import families, find_family, resolve
from showandtell.core.media_types.kinds import Kind

InResult: TypeAlias = Literal["native", "relocated", "converted", "noted", "words"]
InUser: TypeAlias = Literal["native", "converted", "refused", "words"]
#: A reader's own cells, by globs on `provider:model`; `settings.all_overrides` reads them.
Overrides: TypeAlias = Mapping[str, Sequence[Capability]]
NOTHING: Overrides = {}
PLACES = {"tool_result": "tool results", "user": "user messages"}
#: The verdicts with which a place is used.
USED: dict[Place, tuple[Verdict, ...]] = {"tool_result": ("sees",), "user": ("sees", "unproven")}

START, END = "<!-- matrix -->", "<!-- /matrix -->"

#: One representative type for each kind.
PROBES: dict[Kind, str] = {
    "image": "image/png",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
    "text": "text/plain",
}
SYMBOLS: dict[InResult, str] = {"native": "●", "relocated": "◐", "converted": "◇", "noted": "○", "words": "T"}
#: Kinds that have another form for every model: pages or text, frames, what is said.
CONVERTED = frozenset[Kind]({"document", "audio", "video"})
LEGEND = (
    "What becomes of a file that a tool returns: ● it stands in the tool result · ◐ it follows in a labelled user "
    "message · ◌ the same, but nobody has proved that the model sees it · T its text is given as words · ◇ it is "
    "given in another form: pages or text of a document, frames of a film, what is said in a sound · ○ the model is "
    "told its name, and why it wasn't sent. Probed with PNG, PDF, WAV, MP4 and plain text. *Uploads* are the kinds "
    "that a user may send, in parentheses where nobody has proved that they are seen. *Known by* is the evidence of "
    "the places that are used, with its newest day: recorded or live answers, docs, types of an SDK, source code, "
    "reports of others, our default for models that nobody knows, or an eye test of yours."
)
#: An unproven place that is used all the same, for there is no better one.
UNPROVEN = "◌"
#: What evidence is called in short, by the first of these words in it, the firmest first.
PROOFS = ("eye test", "recorded", "live", "docs", "types", "source", "report", "default")
PROOF = re.compile(r"\b(eye test|recorded|live|docs|guide|types|schema|default)\b|\w\.(?:go|py|cpp)\b|\blitellm \d")
OTHER_WORDS = {"guide": "docs", "schema": "types"}


class MatrixRow(TypedDict):
    """One family, or one model of it: where each kind goes.

    `blind` holds, for a kind, why its place in a tool result is not used. `unproven` are the kinds of which nobody
    knows whether a user message shows them. `known_by` is the evidence in short, with its newest day.
    `cells`, `budget` and `order` are the facts behind it, as JSON has them: verdicts, forms, limits, evidence, dates.
    `verified` are the reader's own cells, by the name or glob that they were given; a family's row has none.
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
    budget: dict[str, object]
    order: dict[str, object]
    verified: dict[str, list[dict[str, object]]]


def matrix(overrides: Overrides = NOTHING) -> list[MatrixRow]:
    """The whole table, in its own order, and behind each family those of its models that `overrides` speak of."""
    return [entry for family in families() for entry in (row(family), *rows_verified(family, overrides))]


def row(family: Family) -> MatrixRow:
    """One family's row, by way of its example model."""
    return describe(resolve(f"{family.provider}:{family.example}"), name_models(family))


def rows_verified(family: Family, overrides: Overrides) -> list[MatrixRow]:
    """A row for each name or glob of this family, as it is planned with the reader's own cells."""
    names = [name for name, cells in overrides.items() if cells]
    found = [(name, model) for name in names if (model := find_model(name, family)) is not None]
    return [
        describe(resolve(model, choose_cells(name, model, overrides)), bare_model(name), {name: overrides[name]})
        for name, model in found
    ]


def choose_cells(name: str, model: str, overrides: Overrides) -> tuple[Capability, ...]:
    """The cells that a name or glob is planned with; of the model that stands for a glob, its own don't count."""
    return select({one: cells for one, cells in overrides.items() if one == name or one != model}, model)


def bare_model(name: str) -> str:
    """A name or glob without its provider."""
    return one_line(name.partition(":")[2] or name)


def describe(target: Target, models: str, verified: Overrides = NOTHING) -> MatrixRow:
    """A row about a target, under the name that its models have."""
    return {
        "provider": target.provider,
        "models": models,
        "api": target.api,
        "example": target.model,
        "tool_result": {kind: place_result(target, kind) for kind in PROBES},
        "user": {kind: place_upload(target, kind) for kind in PROBES},
        "unproven": [kind for kind in PROBES if _verdict(target, "user", kind) == "unproven"],
        "blind": find_blind(target),
        "known_by": tell_proof(target),
        "cells": [msgspec.to_builtins(cell) for cell in target.cells],
        "budget": msgspec.to_builtins(target.budget),
        "order": msgspec.to_builtins(target.order),
        "verified": {name: [msgspec.to_builtins(cell) for cell in cells] for name, cells in verified.items()},
    }


def find_model(name: str, family: Family) -> str | None:
    """The model that stands for a name or glob in this family: itself, else the family's example; None: not of it."""
    provider, _, model = name.partition(":")
    if model.strip() and find_family(provider, model) == family:
        return name
    example = f"{family.provider}:{family.example}"
    return example if fnmatchcase(example, name) else None


def name_models(family: Family) -> str:
    """The patterns; for a provider's default "any other", or "any" where it has no other row."""
    if family.patterns != ANY_MODEL:
        return ", ".join(family.patterns)
    return "any other" if sum(other.provider == family.provider for other in families()) > 1 else "any"


def place_result(target: Target, kind: Kind) -> InResult:
    """The planner's rungs for a tool's file: its result, else a user message, else another form, else a note."""
    if _verdict(target, "tool_result", kind) == "sees":
        return "native"
    if _verdict(target, "user", kind) in USED["user"]:
        return "relocated"
    return "words" if kind == "text" else "converted" if kind in CONVERTED else "noted"


def place_upload(target: Target, kind: Kind) -> InUser:
    """The planner's rungs for a user's file, which is refused where nothing takes it."""
    if _verdict(target, "user", kind) in USED["user"]:
        return "native"
    return "words" if kind == "text" else "converted" if kind in CONVERTED else "refused"


def find_blind(target: Target) -> dict[Kind, str]:
    """The kinds whose cell in a tool result is accepted but not seen, in any form, with the evidence.

    A cell that another one stands before says nothing any more.
    """
    return {
        cell.kind: f"{cell.form}: {one_line(cell.evidence)} ({cell.date})"
        for cell in reversed(target.cells)
        if cell.verdict == "blind"
        and cell.place == "tool_result"
        and any(target.cell(cell.place, one, cell.form) is cell for one in cell.media_types)
    }


def tell_proof(target: Target) -> str:
    """How the places that are used are known, and since when; empty where none is."""
    used = list(find_used(target))
    proofs = sorted({name_proof(cell.evidence) for cell in used}, key=PROOFS.index)
    return f"{', '.join(proofs)} {max(cell.date for cell in used)}" if used else ""


def find_used(target: Target) -> Iterator[Capability]:
    """The cells that a plan builds on: a tool result that is seen, a user message that may be, and what was tried."""
    for media_type in PROBES.values():
        for place, verdicts in USED.items():
            cell = target.cell(place, media_type, "inline")
            if cell and (cell.verdict in verdicts or cell.evidence.startswith("eye test")):
                yield cell


def name_proof(evidence: str) -> str:
    """The kind of evidence, by its own first word that names one; else it is what others report."""
    found = PROOF.search(evidence)
    if found is None:
        return "report"
    return OTHER_WORDS.get(found[1], found[1]) if found[1] else "source"


def _verdict(target: Target, place: Place, kind: Kind) -> str:
    cell = target.cell(place, PROBES[kind], "inline")
    return cell.verdict if cell else "none"


def to_json(rows: Sequence[MatrixRow]) -> str:
    """The rows as JSON, for programs."""
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


def _line(entry: MatrixRow, notes: Sequence[str], *, named: bool) -> str:
    models = entry["models"] if entry["models"].startswith("any") else f"`{entry['models'].replace(', ', '`, `')}`"
    if entry["verified"]:
        models = f"`{entry['models']}` (verified {max(str(one['date']) for one in _own(entry))})"
    cells = [_symbol(entry, kind, notes) for kind in entry["tool_result"]]
    taken = [kind for kind, rung in entry["user"].items() if rung in {"native", "words"}]
    uploads = [f"({kind})" if kind in entry["unproven"] else kind for kind in taken]
    head = [f"**{entry['provider']}**" if named else "", models, entry["api"]]
    return f"| {' | '.join([*head, *cells, ', '.join(uploads), entry['known_by']])} |"


def _symbol(entry: MatrixRow, kind: Kind, notes: Sequence[str]) -> str:
    rung = entry["tool_result"][kind]
    symbol = UNPROVEN if rung == "relocated" and kind in entry["unproven"] else SYMBOLS[rung]
    return symbol + (f" ({notes.index(entry['blind'][kind]) + 1})" if kind in entry["blind"] else "")


def _own(entry: MatrixRow) -> list[dict[str, object]]:
    return [cell for cells in entry["verified"].values() for cell in cells]


def matrix_block() -> str:
    """The table between the markers that README keeps it in."""
    return f"{START}\n{markdown(matrix())}{END}"
