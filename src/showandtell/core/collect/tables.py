"""Tables of pandas and polars: their first rows in words, and all of it as a CSV file, written when it is read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isnan
from typing import Any, BinaryIO, TypeAlias, cast

from showandtell.core.collect.excerpts import MISSING, describe
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.messages.file import File, Reader

#: Maximum rows, columns and characters of a table in words.
MAX_ROWS, MAX_COLUMNS, MAX_TABLE = 50, 20, 8_000
#: Cells that are written to CSV at a time: a few milliseconds, during which other threads may not run.
CELLS_AT_A_TIME = 10_000

#: The rows of a table from one number up to another, as CSV; those from 0 have the header.
WriteRows: TypeAlias = Callable[[Any, int, int], str]


def read_pandas(frame: Any) -> tuple[object, ...]:
    """A DataFrame of pandas. Its index is left out if it only counts the rows."""
    head = frame.iloc[:MAX_ROWS, :MAX_COLUMNS]
    names = list(frame.index.names) if has_index(frame) else []
    rows = head.itertuples(index=bool(names), name=None)
    if len(names) > 1:
        rows = ((*row[0], *row[1:]) for row in rows)
    words = format_table([*names, *head.columns], rows, frame.shape)
    return (words, *csv_file(frame.copy(deep=False), write_pandas))


def read_polars(frame: Any) -> tuple[object, ...]:
    """A DataFrame of polars."""
    head = frame[:MAX_ROWS, :MAX_COLUMNS]
    words = format_table(head.columns, head.iter_rows(), frame.shape)
    return (words, *csv_file(frame.clone(), write_polars))


def read_lazy(frame: Any) -> tuple[object, ...]:
    """A query of polars that has not run. Raises `PointerError`, since its plan says nothing about rows."""
    raise PointerError(f"a {type(frame).__name__} holds no rows yet; return frame.collect()")


def read_series(series: Any) -> tuple[object, ...]:
    """A Series of either, as a table of one column."""
    return (series.to_frame("value" if series.name is None else series.name),)


def has_index(frame: Any) -> bool:
    """Whether the index of a pandas table is more than a count of its rows."""
    return type(frame.index).__name__ != "RangeIndex" or frame.index.name is not None


def format_table(names: Sequence[object], rows: Iterable[Sequence[object]], shape: tuple[int, int]) -> str:
    """The first rows of a table in Markdown, and how many rows and columns there are."""
    count, width = shape
    header = [format_row(map(format_name, names)), format_row("---" for _ in names)] if names else []
    head = [f"table of {format_count(count, 'row')} and {format_count(width, 'column')}", *header]
    size, lines = sum(map(len, head)), list[str]()
    for row in islice(rows, MAX_ROWS):
        line = format_row(map(format_cell, row))
        size += len(line)
        if size > MAX_TABLE:
            break
        lines.append(line)
    more = [f"… {format_count(count - len(lines), 'more row')}"] if names and count > len(lines) else []
    wider = [f"… {format_count(width - MAX_COLUMNS, 'more column')}"] if width > MAX_COLUMNS else []
    return "\n".join([*head, *lines, *more, *wider])


def format_count(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def format_row(cells: Iterable[str]) -> str:
    """Cells between bars."""
    return f"| {' | '.join(cells)} |"


def format_name(name: object) -> str:
    """The name of a column. Names of several levels are side by side; an index may have none."""
    levels: tuple[object, ...] = cast("tuple[object, ...]", name) if isinstance(name, tuple) else (name,)
    return format_cell(" ".join(describe(level) for level in levels if level is not None))


def format_cell(value: object) -> str:
    """A cell on one line, with its bars escaped. Missing values are empty."""
    return "" if is_missing(value) else describe(value).replace("|", "\\|")


def is_missing(value: object) -> bool:
    """Whether a cell holds no value: None, NaN, or what pandas puts in place of a date or a number."""
    return value is None or type(value).__name__ in MISSING or (isinstance(value, float) and isnan(value))


def csv_file(frame: Any, write: WriteRows) -> tuple[File, ...]:
    """A table as a CSV file for the user; the model has its words. No file for a table without columns."""
    source = Reader(CsvSource(frame, write), None)
    return (File(source, "text/csv", audience="user"),) if frame.shape[1] else ()


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """Opens a table as CSV. Rows are written as they are read."""

    frame: Any
    write: WriteRows

    def __call__(self) -> BinaryIO:
        """Open the CSV, at its first row."""
        return io.BufferedReader(ChunkReader(self.chunks()))

    def chunks(self) -> Iterator[bytes]:
        """The CSV in UTF-8, some rows at a time."""
        count, width = self.frame.shape
        step = max(CELLS_AT_A_TIME // width, 1)
        for start in range(0, max(count, 1), step):
            yield self.write(self.frame, start, start + step).encode(errors="replace")


class ChunkReader(io.RawIOBase):
    """Reads chunks one after the other. Only one is in memory."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__()
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read what is left of a chunk, or the next one, as far as it fits."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def write_pandas(frame: Any, start: int, stop: int) -> str:
    """Rows of a pandas table as CSV."""
    return frame.iloc[start:stop].to_csv(index=has_index(frame), header=start == 0, lineterminator="\n")


def write_polars(frame: Any, start: int, stop: int) -> str:
    """Rows of a polars table as CSV. Lists, structs, bytes and objects, which polars refuses, are written as Python."""
    rows = frame[start:stop]
    texts = [as_text(column) for column in rows.get_columns() if is_refused(column.dtype)]
    return rows.with_columns(texts).write_csv(include_header=start == 0)


def is_refused(dtype: Any) -> bool:
    """Whether polars writes no CSV for a type of columns."""
    return dtype.is_nested() or str(dtype) in {"Binary", "Object"}


def as_text(column: Any) -> Any:
    """A column of polars as text."""
    cells = [None if cell is None else str(cell) for cell in column.to_list()]
    return type(column)(column.name, cells, strict=False)
