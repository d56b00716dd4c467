"""What a team has learnt with its own keys: cells that stand before the table's, read from JSON.

The JSON is an object from globs on `provider:model` to lists of cells, each with its evidence and date.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from showandtell.capabilities.cells import Cell
from showandtell.errors import BadInput


def read_overrides(text: str | bytes, model: str) -> tuple[Cell, ...]:
    """The cells for `provider:model`, in the file's order. Raises `BadInput` where the text isn't such JSON."""
    try:
        found = msgspec.json.decode(text, type=dict[str, tuple[Cell, ...]])
    except msgspec.DecodeError as error:
        raise BadInput(f"overrides: {error}") from error
    for cells in found.values():
        check_cells(cells)
    return tuple(cell for glob, cells in found.items() if fnmatchcase(model, glob) for cell in cells)


def write_overrides(cells: Iterable[Cell], model: str) -> str:
    """The JSON that `read_overrides` reads, for one model or glob."""
    return msgspec.json.format(msgspec.json.encode({model: tuple(cells)}), indent=2).decode()


def check_cells(cells: Iterable[Cell]) -> None:
    """Refuse a cell without media types, evidence or an ISO day: nobody could tell later why it is there."""
    for cell in cells:
        if not cell.media_types or not cell.evidence.strip():
            raise BadInput(f"overrides: {cell.name} needs media_types and evidence")
        try:
            date.fromisoformat(cell.date)
        except ValueError as error:
            raise BadInput(f"overrides: {cell.name} has the date {cell.date!r}, write it as 2026-11-21") from error
