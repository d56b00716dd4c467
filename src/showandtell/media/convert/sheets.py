"""Workbooks made into text, for the child only: each sheet's values as CSV, under its name."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from showandtell.errors import BadFile
from showandtell.media.convert.extras import missing
from showandtell.media.convert.zipped import AGAIN, copy_markup, open_archive, parse, refuse_large

try:
    import python_calamine as found_calamine
except ImportError:
    found_calamine = None

calamine: Any = found_calamine

#: Of one sheet's markup so much is read: 200,000 cells and more.
SHEET_LIMIT = 12 << 20
#: Rows times columns; the reader lays out every cell between the first and the last. Measured: 10 million take 330 MiB.
MOST_CELLS = 10_000_000
MOST_SHEETS = 200
#: Parts that hold no cell of a sheet; the caches of pivot tables are larger than all else.
IDLE = ("pivotcache", "drawings/", "theme/", "externallinks/", "printersettings/", "customxml/", "comments")
REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})", re.ASCII)
SHEET = re.compile(rb"<([A-Za-z0-9]+:)?sheetData[\s/>]")
#: OpenDocument's names as expat gives them, and what makes a cell one that is laid out.
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 "
FILLED = {OFFICE + "value-type", OFFICE + "value", TABLE + "formula"}
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"


def write_sheets(path: str, media_type: str, most: int) -> tuple[str, bool]:
    """All sheets as text of about `most` characters, and whether rows or sheets are missing. Raises `BadFile`."""
    if calamine is None:
        raise missing("office")
    was_cut: list[str] = []
    try:
        with calamine.load_workbook(prepare_workbook(path, media_type, was_cut)) as book:
            text, cut = write_book(book, most)
    except calamine.PasswordError:
        raise BadFile("", "is locked with a password", "save it without one") from None
    except BadFile:
        raise
    except (calamine.CalamineError, ValueError, OSError) as error:
        raise BadFile("", f"can't be read as a workbook ({str(error)[:120]})", AGAIN) from None
    return text, cut or bool(was_cut)


def prepare_workbook(path: str, media_type: str, was_cut: list[str]) -> Any:
    """What the reader is given: an old workbook as it is, of a packed one a copy without pictures, its sheets cut."""
    if media_type == "application/vnd.ms-excel":
        return path

    def prepare(name: str, data: bytes) -> bytes:
        if any(idle in name.lower() for idle in IDLE):
            return b""
        if media_type == SPREADSHEET:
            return check_runs(refuse_large(name, data))
        # Not by the name: what is a sheet, a relation says.
        if not SHEET.search(data):
            return refuse_large(name, data)
        if len(data) > SHEET_LIMIT:
            was_cut.append(name)
        return check_spread(cut_rows(data))

    with open_archive(path) as archive:
        return copy_markup(archive, prepare)


def cut_rows(data: bytes) -> bytes:
    """A sheet's markup up to the last row that ends within the limit."""
    if len(data) <= SHEET_LIMIT:
        return data
    *_, last = [None, *re.finditer(rb"</([A-Za-z0-9]+:)?row>", data[:SHEET_LIMIT])]
    if last is None:
        raise BadFile("", "has a row of more than 12 MiB", "save a part of it alone")
    prefix = last[1] or b""
    return data[: last.end()] + b"</%ssheetData></%sworksheet>" % (prefix, prefix)


def check_spread(data: bytes) -> bytes:
    """The same bytes; raises `BadFile` where far-off cells make a sheet too large to be laid out."""
    reach, parser = Reach(), expat.ParserCreate()
    parser.StartElementHandler = reach.start
    parse(parser, data)
    return refuse_spread(reach.rows, reach.columns, data)


@dataclass
class Reach:
    """How far the cells of a sheet reach; those that don't say where they are follow the one before."""

    rows: int = 1
    columns: int = 1
    row: int = 0
    column: int = 0
    counted: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Count a row or a cell."""
        told, name = attributes.get("r"), name.rpartition(":")[2]
        if name == "row":
            self.counted += 1
            self.row = int(told) if told and told.isdigit() and len(told) < 8 else self.row + 1
            self.column = 0
        elif name == "c":
            self.row, self.column = read_place(told) if told is not None else (self.row, self.column + 1)
            self.rows = max(self.rows, self.row, self.counted)
            self.columns = max(self.columns, self.column)


def read_place(told: str) -> tuple[int, int]:
    """Row and column of a cell by its name, from 1; raises `BadFile` where it names none."""
    found = REFERENCE.fullmatch(told)
    if found is None:
        raise BadFile("", f"is torn: it has a cell at {told[:20]!r}, which is no place", AGAIN)
    return int(found[2]), count_letters(found[1])


def check_runs(data: bytes) -> bytes:
    """The same for OpenDocument, by its runs of equal rows and cells."""
    if b"spreadsheet" not in data[:65536]:
        return data
    area, parser = Area(), expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = area.start, area.end
    parse(parser, data)
    return refuse_spread(area.rows, area.columns, data)


@dataclass
class Area:
    """How far the filled cells of OpenDocument's sheets reach; empty runs behind them, however long, don't count."""

    rows: int = 1
    columns: int = 1
    row: int = 0
    column: int = 0
    run: int = 1

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Count a cell where it begins."""
        if name == TABLE + "table":
            self.row = 0
        elif name == TABLE + "table-row":
            self.run, self.column = read_run(attributes, "rows"), 0
        elif name in {TABLE + "table-cell", TABLE + "covered-table-cell"}:
            self.column += read_run(attributes, "columns")
            if FILLED & attributes.keys():
                self.rows, self.columns = max(self.rows, self.row + self.run), max(self.columns, self.column)

    def end(self, name: str) -> None:
        """Count a row where it ends."""
        if name == TABLE + "table-row":
            self.row += self.run


def read_run(attributes: dict[str, str], axis: str) -> int:
    """How often a row or a cell is there."""
    told = attributes.get(f"{TABLE}number-{axis}-repeated", "1")
    return int(told) if told.isdigit() and len(told) < 10 else 1


def refuse_spread(rows: int, columns: int, data: bytes) -> bytes:
    """The same bytes, unless there are too many cells."""
    if rows * columns > MOST_CELLS:
        words = f"has a sheet that spreads over {rows} rows and {columns} columns"
        raise BadFile("", words, "delete what stands far from the rest, or save it as CSV")
    return data


def count_letters(letters: str) -> int:
    """A column's number: A is 1, XFD 16384."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def write_book(book: Any, most: int) -> tuple[str, bool]:
    """Every sheet that has cells, up to so many characters."""
    parts: list[str] = []
    left, cut = most, False
    for index, about in enumerate(book.sheets_metadata):
        if about.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        if left <= 0 or index >= MOST_SHEETS:
            cut = True
            break
        sheet = book.get_sheet_by_index(index)
        hidden = "" if about.visible == calamine.SheetVisibleEnum.Visible else " (hidden)"
        rows, was_cut = write_rows(sheet.iter_rows() if sheet.height else (), left)
        parts.append(f"## Sheet {index + 1}: {about.name}{hidden}\n\n{rows or '(empty)'}")
        left, cut = left - len(parts[-1]), cut or was_cut
    return "\n\n".join(parts), cut


def write_rows(rows: Iterable[list[Any]], most: int) -> tuple[str, bool]:
    """Rows as CSV without what is empty at their ends, up to so many characters; empty rows are left out."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        values = [spell_value(value) for value in row]
        while values and not values[-1]:
            values.pop()
        if values:
            writer.writerow(values)
        if buffer.tell() > most:
            return buffer.getvalue().rstrip("\n"), True
    return buffer.getvalue().rstrip("\n"), False


def spell_value(value: Any) -> str:
    """A value as a spreadsheet shows it without a format: 15 digits, ISO dates, TRUE and FALSE."""
    match value:
        case bool():
            return str(value).upper()
        case float():
            return format(value, ".15g")
        case dt.datetime() if not (value.hour or value.minute or value.second or value.microsecond):
            return value.date().isoformat()
        case dt.datetime():
            return value.isoformat(" ", "seconds")
        case _:
            return str(value)
