"""What a team has learnt with its own keys: cells that stand before the table's, read from JSON.

The JSON is an object from globs on `provider:model` to lists of cells, each with its evidence and date. `verify` writes
it, and people may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from showandtell.core.capabilities.cells import Capability
from showandtell.errors import BadInput


def read_all(text: str | bytes) -> dict[str, tuple[Capability, ...]]:
    """Every glob with its cells, in the file's order. Raises `BadInput` where the text isn't such JSON."""
    try:
        found = msgspec.json.decode(text, type=dict[str, tuple[Capability, ...]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"overrides: {error}") from error
    for cells in found.values():
        check_cells(cells)
    return found


def select(found: Mapping[str, Sequence[Capability]], model: str) -> tuple[Capability, ...]:
    """The cells for `provider:model`: those of exactly this name first, then those of globs in the file's order."""
    globs = [cells for glob, cells in found.items() if glob != model and fnmatchcase(model, glob)]
    return tuple(cell for cells in (found.get(model, ()), *globs) for cell in cells)


def read_overrides(text: str | bytes, model: str) -> tuple[Capability, ...]:
    """The cells for `provider:model` in such JSON. Raises `BadInput` where it is none."""
    return select(read_all(text), model)


def merge_overrides(text: str | bytes | None, cells: Sequence[Capability], model: str) -> str:
    """The JSON `text` with a model's new cells in it, each instead of the old one for the same files; all else stays.

    Where there is no text, the cells alone; the model may be a glob. Raises `BadInput` where the text isn't such JSON.
    """
    found = read_all(text) if text is not None else {}
    kept = [old for old in found.get(model, ()) if not any(replaces(new, old) for new in cells)]
    return spell({**found, model: (*cells, *kept)})


def replaces(new: Capability, old: Capability) -> bool:
    """Whether two cells speak of the same files at the same place."""
    same = (new.place, new.form) == (old.place, old.form)
    return same and (any(map(old.takes, new.media_types)) or any(map(new.takes, old.media_types)))


def spell(found: Mapping[str, Sequence[Capability]]) -> str:
    """Cells as JSON that people may edit."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def check_cells(cells: Iterable[Capability]) -> None:
    """Refuse a cell without media types, evidence or an ISO day: nobody could tell later why it is there."""
    for cell in cells:
        if not cell.media_types or not cell.evidence.strip():
            raise BadInput(f"overrides: {cell.name} needs media_types and evidence")
        try:
            date.fromisoformat(cell.date)
        except ValueError as error:
            raise BadInput(f"overrides: {cell.name} has the date {cell.date!r}, write it as 2026-11-21") from error
