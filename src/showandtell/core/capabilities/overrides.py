"""Cells that a team has verified with its own keys, read from JSON. They take precedence over the table.

The JSON is an object from globs on `provider:model` to lists of cells, each with its evidence and date. `verify` writes
it, and users may edit it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from showandtell.core.capabilities.cells import Capability
from showandtell.errors import BadInput


def read_all(text: str | bytes) -> dict[str, tuple[Capability, ...]]:
    """Cells by glob, in the file's order. Raises `BadInput` for invalid JSON or invalid cells."""
    try:
        overrides = msgspec.json.decode(text, type=dict[str, tuple[Capability, ...]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"overrides: {error}") from error
    for cells in overrides.values():
        check_cells(cells)
    return overrides


def select(overrides: Mapping[str, Sequence[Capability]], model: str) -> tuple[Capability, ...]:
    """The cells for `provider:model`: those of exactly this name first, then those of globs in the file's order."""
    globs = [cells for glob, cells in overrides.items() if glob != model and fnmatchcase(model, glob)]
    return tuple(cell for cells in (overrides.get(model, ()), *globs) for cell in cells)


def read_overrides(text: str | bytes, model: str) -> tuple[Capability, ...]:
    """The cells for `provider:model` in the JSON of an overrides file. Raises `BadInput` for invalid JSON or cells."""
    return select(read_all(text), model)


def merge_overrides(text: str | bytes | None, cells: Sequence[Capability], model: str) -> str:
    """Add a model's cells to the JSON `text`; each replaces old cells for the same files. Returns the new JSON.

    Without text, the JSON only holds these cells. The model may be a glob. Raises `BadInput` for invalid JSON or cells.
    """
    overrides = read_all(text) if text is not None else {}
    unchanged = [old for old in overrides.get(model, ()) if not any(replaces(new, old) for new in cells)]
    return serialize({**overrides, model: (*cells, *unchanged)})


def replaces(new: Capability, old: Capability) -> bool:
    """Whether two cells are about the same files at the same place."""
    same_place = (new.place, new.form) == (old.place, old.form)
    return same_place and (any(map(old.takes, new.media_types)) or any(map(new.takes, old.media_types)))


def serialize(overrides: Mapping[str, Sequence[Capability]]) -> str:
    """Indented JSON, for users to edit."""
    return msgspec.json.format(msgspec.json.encode(overrides), indent=2).decode() + "\n"


def check_cells(cells: Iterable[Capability]) -> None:
    """Raise `BadInput` for a cell without media types, evidence or an ISO date: its origin would be unknown."""
    for cell in cells:
        if not cell.media_types or not cell.evidence.strip():
            raise BadInput(f"overrides: {cell.name} needs media_types and evidence")
        try:
            date.fromisoformat(cell.date)
        except ValueError as error:
            raise BadInput(f"overrides: {cell.name} has the date {cell.date!r}, write it as 2026-11-21") from error
