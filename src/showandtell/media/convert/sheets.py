"""Converts workbooks to text, only in the child: each sheet's values as CSV, under its name."""

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
from showandtell.media.convert.zipped import SAVE_AGAIN, copy_markup, open_archive, parse, refuse_large
from showandtell.media.refusals import explain_damage

try:
    import python_calamine as imported_calamine
except ImportError:
    imported_calamine = None

calamine: Any = imported_calamine

#: Maximum bytes of a sheet's markup to read: 200,000 cells and more.
SHEET_LIMIT = 12 << 20
#: Rows times columns; the reader allocates all cells from the first to the last. Measured: 10 million take 330 MiB.
MAX_CELLS = 10_000_000
MAX_SHEETS = 200
#: Parts without cells of a sheet; the caches of pivot tables are larger than everything else.
SKIPPED_PARTS = ("pivotcache", "drawings/", "theme/", "externallinks/", "printersettings/", "customxml/", "comments")
REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})", re.ASCII)
SHEET = re.compile(rb"<([A-Za-z0-9]+:)?sheetData[\s/>]")
#: OpenDocument's names as expat reports them, and the attributes of cells that the reader allocates.
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 "
FILLED = {OFFICE + "value-type", OFFICE + "value", TABLE + "formula"}
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"


def write_sheets(path: str, media_type: str, max_characters: int) -> tuple[str, bool]:
    """All sheets as text of about `max_characters`, and whether rows or sheets are missing. Raises `BadFile`."""
    if calamine is None:
        raise missing("office")
    was_cut: list[str] = []
    try:
        with calamine.load_workbook(prepare_workbook(path, media_type, was_cut)) as book:
            text, cut = write_book(book, max_characters)
    except calamine.PasswordError:
        raise BadFile("", "is locked with a password", "save it without one") from None
    except BadFile:
        raise
    except (calamine.CalamineError, ValueError, OSError) as error:
        raise BadFile("", f"can't be read as a workbook: {explain_damage(error)}", SAVE_AGAIN) from None
    return text, cut or bool(was_cut)


def prepare_workbook(path: str, media_type: str, was_cut: list[str]) -> Any:
    """The reader's input: an .xls as it is, of other workbooks a copy without images, its sheets cut."""
    if media_type == "application/vnd.ms-excel":
        return path

    def prepare(name: str, data: bytes) -> bytes:
        if media_type == SPREADSHEET:
            return check_runs(refuse_large(name, data))
        # Not by the name: relations say which part is a sheet.
        if not SHEET.search(data):
            return refuse_large(name, data)
        if len(data) > SHEET_LIMIT:
            was_cut.append(name)
        return check_spread(cut_rows(data))

    with open_archive(path) as archive:
        return copy_markup(archive, prepare, SKIPPED_PARTS)


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
    """Return the data; raises `BadFile` if distant cells make the sheet too large to read."""
    reach, parser = Reach(), expat.ParserCreate()
    parser.StartElementHandler = reach.start
    parse(parser, data)
    return refuse_spread(reach.rows, reach.columns, data)


@dataclass
class Reach:
    """The extent of the cells in a sheet; a cell without a reference follows the one before."""

    rows: int = 1
    columns: int = 1
    row: int = 0
    column: int = 0
    counted: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Count a row or a cell."""
        reference, name = attributes.get("r"), name.rpartition(":")[2]
        if name == "row":
            self.counted += 1
            self.row = int(reference) if reference and reference.isdigit() and len(reference) < 8 else self.row + 1
            self.column = 0
        elif name == "c":
            self.row, self.column = read_reference(reference) if reference is not None else (self.row, self.column + 1)
            self.rows = max(self.rows, self.row, self.counted)
            self.columns = max(self.columns, self.column)


def read_reference(reference: str) -> tuple[int, int]:
    """Row and column of a cell, from 1, by a reference such as B7; raises `BadFile` if it is invalid."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise BadFile("", f"is torn: it has a cell at {reference[:20]!r}, which is no place", SAVE_AGAIN)
    return int(match[2]), column_number(match[1])


def check_runs(data: bytes) -> bytes:
    """Like `check_spread` for OpenDocument, by its runs of equal rows and cells."""
    if b"spreadsheet" not in data[:65536]:
        return data
    area, parser = Area(), expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = area.start, area.end
    parse(parser, data)
    return refuse_spread(area.rows, area.columns, data)


@dataclass
class Area:
    """The extent of the filled cells in OpenDocument's sheets; empty runs after them don't count, however long."""

    rows: int = 1
    columns: int = 1
    row: int = 0
    column: int = 0
    run: int = 1

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Count a cell at its start tag."""
        if name == TABLE + "table":
            self.row = 0
        elif name == TABLE + "table-row":
            self.run, self.column = read_run(attributes, "rows"), 0
        elif name in {TABLE + "table-cell", TABLE + "covered-table-cell"}:
            self.column += read_run(attributes, "columns")
            if FILLED & attributes.keys():
                self.rows, self.columns = max(self.rows, self.row + self.run), max(self.columns, self.column)

    def end(self, name: str) -> None:
        """Count a row at its end tag."""
        if name == TABLE + "table-row":
            self.row += self.run


def read_run(attributes: dict[str, str], axis: str) -> int:
    """How often a row or a cell is repeated."""
    count = attributes.get(f"{TABLE}number-{axis}-repeated", "1")
    return int(count) if count.isdigit() and len(count) < 10 else 1


def refuse_spread(rows: int, columns: int, data: bytes) -> bytes:
    """Return the data; raises `BadFile` if there are too many cells."""
    if rows * columns > MAX_CELLS:
        problem = f"has a sheet that spreads over {rows} rows and {columns} columns"
        raise BadFile("", problem, "delete what stands far from the rest, or save it as CSV")
    return data


def column_number(name: str) -> int:
    """A column's number: A is 1, XFD 16384."""
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - 64
    return number


def write_book(book: Any, max_characters: int) -> tuple[str, bool]:
    """All worksheets, up to about `max_characters`, and whether any text is missing."""
    parts: list[str] = []
    remaining, cut = max_characters, False
    for index, metadata in enumerate(book.sheets_metadata):
        if metadata.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        if remaining <= 0 or index >= MAX_SHEETS:
            cut = True
            break
        sheet = book.get_sheet_by_index(index)
        hidden = "" if metadata.visible == calamine.SheetVisibleEnum.Visible else " (hidden)"
        rows, was_cut = write_rows(sheet.iter_rows() if sheet.height else (), remaining)
        parts.append(f"## Sheet {index + 1}: {metadata.name}{hidden}\n\n{rows or '(empty)'}")
        remaining, cut = remaining - len(parts[-1]), cut or was_cut
    return "\n\n".join(parts), cut


def write_rows(rows: Iterable[list[Any]], max_characters: int) -> tuple[str, bool]:
    """Rows as CSV up to about `max_characters`, without empty cells at their ends and without empty rows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        values = [format_value(value) for value in row]
        while values and not values[-1]:
            values.pop()
        if values:
            writer.writerow(values)
        if buffer.tell() > max_characters:
            return buffer.getvalue().rstrip("\n"), True
    return buffer.getvalue().rstrip("\n"), False


def format_value(value: Any) -> str:
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
