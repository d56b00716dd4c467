"""Find a table among files that came as text, and the numbers in it that a tool may draw."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from showandtell.inspector.answering.arguments import Series
from showandtell.inspector.answering.words import find_inlined, stems
from showandtell.inspector.request import RequestTurn, files_of

NAMES_TABLE = re.compile(r"\b(tables?|csv|tsv|spreadsheets?|columns?|rows)\b", re.IGNORECASE)
DELIMITERS = ",\t;"
#: Maximum number of rows, and of characters in which to look for a table.
MAX_ROWS, MAX_CHARACTERS = 1000, 200_000


class Table(Struct, frozen=True):
    """A table: its column titles, and rows of as many cells."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def find_series(turns: Sequence[RequestTurn], text: str) -> Series | None:
    """The numbers of the newest table, if the text speaks of one: of the column that it names, else of the last one."""
    if not NAMES_TABLE.search(text):
        return None
    texts = (
        text for turn in reversed(turns) for text in (*_read_files(turn), *(file.text for file in find_inlined(turn)))
    )
    table = next(filter(None, map(read_table, texts)), None)
    return None if table is None else choose_series(table, text)


def _read_files(turn: RequestTurn) -> Iterator[str]:
    """The texts of the files of a turn that came as bytes."""
    for file in files_of(turn):
        if file.media_type.startswith("text/") and file.data is not None:
            yield file.data[: 4 * MAX_CHARACTERS].decode(errors="replace")


def read_table(text: str) -> Table | None:
    """The table that a text is. None without two rows of equal width with titles first."""
    lines = text[:MAX_CHARACTERS].splitlines()[: MAX_ROWS + 1]
    first = lines[0] if lines else ""
    delimiter = max(DELIMITERS, key=first.count)
    try:
        titles, *rows = [tuple(map(str.strip, row)) for row in csv.reader(lines, delimiter=delimiter) if row]
    except (csv.Error, ValueError):  # not a table, or empty
        return None
    if len(titles) < 2 or not rows or any(len(row) != len(titles) for row in rows):
        return None
    return Table(titles, tuple(rows))


def choose_series(table: Table, text: str) -> Series | None:
    """The numbers of a column, labelled by the first of the other columns. None without a column of numbers."""
    columns = {at: read_numbers([row[at] for row in table.rows]) for at in range(len(table.titles))}
    numeric = [at for at, numbers in columns.items() if numbers is not None]
    if not numeric:
        return None
    query = set(stems(text))
    chosen = max(numeric, key=lambda at: (len(query & set(stems(table.titles[at]))), at))
    labels = next(at for at in columns if at != chosen)
    return Series(columns[chosen] or [], [row[labels] for row in table.rows])


def read_numbers(cells: Sequence[str]) -> list[int | float] | None:
    """The cells as numbers. None if a cell is not a finite number."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return None
    return [int(n) if n.is_integer() else n for n in numbers] if all(map(math.isfinite, numbers)) else None
