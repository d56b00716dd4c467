"""Zip archives of office files, only in the child: unpacks only the parts that are needed, within limits.

Markup is checked before any library reads it: office files have no document type definition (ECMA-376, part 2, 8.2.5),
so a file that has one is rejected, and every entity with it.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from showandtell.errors import BadFile
from showandtell.media.refusals import explain_damage

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_ENTRIES = 4096
#: Limits for unpacked markup: of one part, and of all parts.
PART_LIMIT, TOTAL_LIMIT = 48 << 20, 96 << 20
#: Names of markup, and of OpenDocument's media type.
MARKUP = (".xml", ".rels", "mimetype")
MIN_ELEMENTS = 1000
SAVE_AGAIN = "open it in its program and save it anew"


@contextlib.contextmanager
def open_archive(path: str) -> Generator[zipfile.ZipFile]:
    """The zip of an office file; raises `BadFile` if it is locked, torn, or has too many parts."""
    with Path(path).open("rb") as stream:
        if stream.read(8) == OLE:
            raise BadFile("", "is locked with a password", "save it without one")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(entry.flag_bits & 1 for entry in entries):
                raise BadFile("", "is locked with a password", "save it without one")
            if len(entries) > MAX_ENTRIES:
                raise BadFile("", f"has {len(entries)} parts, over the limit of {MAX_ENTRIES}", SAVE_AGAIN)
            yield archive
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        OSError,
    ) as error:  # RuntimeError: unknown compression
        raise BadFile("", f"is torn: {explain_damage(error)}", "save or download it anew") from None


def copy_markup(
    archive: zipfile.ZipFile, prepare: Callable[[str, bytes], bytes], skipped: tuple[str, ...] = ()
) -> io.BytesIO:
    """A copy in memory with only the markup, each part as `prepare` returns it.

    Images, videos and parts with one of `skipped` in their names become empty, without being unpacked.
    """
    copy, total = io.BytesIO(), 0
    with zipfile.ZipFile(copy, "w") as output:
        for entry in archive.infolist():
            name = entry.filename.lower()
            is_wanted = name.endswith(MARKUP) and not any(part in name for part in skipped)
            data = read_part(archive, entry) if is_wanted else b""
            data = prepare(entry.filename, data) if data and entry.filename != "mimetype" else data
            total += len(data)
            refuse_total(total)
            output.writestr(entry.filename, data)
    copy.seek(0)
    return copy


def refuse_total(total: int) -> None:
    """Raise `BadFile` if this is over the limit of all parts together, in bytes."""
    if total > TOTAL_LIMIT:
        raise BadFile("", f"unpacks to more than {TOTAL_LIMIT >> 20} MiB of text", "save a part of it alone")


def read_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """One part, unpacked up to one byte more than the limit, so that `prepare` can cut or reject it."""
    with archive.open(entry) as part:
        return part.read(PART_LIMIT + 1)


def refuse_large(name: str, data: bytes) -> bytes:
    """Return the data; raises `BadFile` if it exceeds the limit of a part."""
    if len(data) > PART_LIMIT:
        raise BadFile("", f"unpacks to more than {PART_LIMIT >> 20} MiB ({name[:80]})", "save a part of it alone")
    return data


@dataclass
class Shortener:
    """Cuts markup after a number of elements, counted over all parts; `cut` is True once it did."""

    remaining: int
    cut: bool = False

    def shorten(self, name: str, data: bytes) -> bytes:
        """Well-formed markup, not longer than before; raises `BadFile` if it is torn or defines entities."""
        max_elements = max(self.remaining, MIN_ELEMENTS)
        count, offset, still_open = measure(refuse_large(name, data), max_elements)
        self.remaining -= count
        if offset is None:
            return data
        self.cut = True
        return data[:offset] + b"".join(b"</%s>" % tag.encode() for tag in reversed(still_open))


def refuse_entities(*_: object) -> None:
    """Raise `BadFile`; called at the start of a document type definition."""
    raise BadFile("", "defines entities, which office files never do", "it may be hostile; save it anew")


def parse(parser: expat.XMLParserType, data: bytes) -> None:
    """Run the parser's handlers over markup; raises `BadFile` if it is torn or defines entities."""
    parser.StartDoctypeDeclHandler = refuse_entities
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadFile("", f"is torn: its markup can't be read: {explain_damage(error)}", SAVE_AGAIN) from None


class LimitReached(Exception):
    """The maximum number of elements was read."""


def measure(data: bytes, max_elements: int) -> tuple[int, int | None, list[str]]:
    """The number of elements; if it exceeds `max_elements`, also the offset of the next and the tags open there."""
    parser, tags, count, offset = expat.ParserCreate(), list[str](), 0, 0

    def start(name: str, _attributes: dict[str, str]) -> None:
        nonlocal count, offset
        if count >= max_elements:
            offset = parser.CurrentByteIndex
            raise LimitReached
        count += 1
        tags.append(name)

    def end(_name: str) -> None:
        tags.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parse(parser, data)
    except LimitReached:
        return count, offset, tags
    return count, None, []
