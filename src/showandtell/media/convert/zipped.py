"""What an office file is packed in, for the child only: a zip, of which no more is unpacked than is needed and bounded.

Its markup is checked before any library reads it: office files have no document type definition (ECMA-376, part 2,
8.2.5), so one that has is refused, and with it every entity.
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

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MOST_ENTRIES = 4096
#: Unpacked markup: of one part, and of all.
PART_LIMIT, WHOLE_LIMIT = 48 << 20, 96 << 20
#: Markup, and OpenDocument's word for what it is.
MARKUP = (".xml", ".rels", "mimetype")
SMALLEST_SHARE = 1000
AGAIN = "open it in its program and save it anew"


@contextlib.contextmanager
def open_archive(path: str) -> Generator[zipfile.ZipFile]:
    """The zip of an office file; raises `BadFile` where it is locked, torn, or has too many parts."""
    with Path(path).open("rb") as stream:
        if stream.read(8) == OLE:
            raise BadFile("", "is locked with a password", "save it without one")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(one.flag_bits & 1 for one in entries):
                raise BadFile("", "is locked with a password", "save it without one")
            if len(entries) > MOST_ENTRIES:
                raise BadFile("", f"has {len(entries)} parts, over the limit of {MOST_ENTRIES}", AGAIN)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last: packed in an unknown way
        raise BadFile("", f"is torn ({error})", "save or download it anew") from None


def copy_markup(archive: zipfile.ZipFile, prepare: Callable[[str, bytes], bytes]) -> io.BytesIO:
    """A copy in memory with the markup alone, each part as `prepare` leaves it; pictures and films become empty."""
    copy, whole = io.BytesIO(), 0
    with zipfile.ZipFile(copy, "w") as lean:
        for entry in archive.infolist():
            data = read_part(archive, entry) if entry.filename.lower().endswith(MARKUP) else b""
            data = prepare(entry.filename, data) if data and entry.filename != "mimetype" else data
            whole += len(data)
            if whole > WHOLE_LIMIT:
                raise BadFile("", f"unpacks to more than {WHOLE_LIMIT >> 20} MiB of text", "save a part of it alone")
            lean.writestr(entry.filename, data)
    copy.seek(0)
    return copy


def read_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """One part, unpacked up to one byte more than the limit: whoever prepares it cuts or refuses it."""
    with archive.open(entry) as part:
        return part.read(PART_LIMIT + 1)


def refuse_large(name: str, data: bytes) -> bytes:
    """The same bytes, unless they are too many."""
    if len(data) > PART_LIMIT:
        raise BadFile("", f"unpacks to more than {PART_LIMIT >> 20} MiB ({name[:80]})", "save a part of it alone")
    return data


@dataclass
class Shortener:
    """Cuts markup behind so many elements, counted over all parts; `cut` tells whether it had to."""

    left: int
    cut: bool = False

    def shorten(self, name: str, data: bytes) -> bytes:
        """Well-formed markup, at most as long as it was; raises `BadFile` where it is torn or defines entities."""
        most = max(self.left, SMALLEST_SHARE)
        count, at, still_open = measure(refuse_large(name, data), most)
        self.left -= count
        if at is None:
            return data
        self.cut = True
        return data[:at] + b"".join(b"</%s>" % tag.encode() for tag in reversed(still_open))


def refuse_entities(*_: object) -> None:
    """Raise `BadFile`: called where a document type definition begins."""
    raise BadFile("", "defines entities, which office files never do", "it may be hostile; save it anew")


def parse(parser: expat.XMLParserType, data: bytes) -> None:
    """Let the parser's handlers see some markup; raises `BadFile` where it is torn or defines entities."""
    parser.StartDoctypeDeclHandler = refuse_entities
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadFile("", f"is torn: its markup can't be read ({error})", AGAIN) from None


class Enough(Exception):
    """So many elements were read."""


def measure(data: bytes, most: int) -> tuple[int, int | None, list[str]]:
    """How many elements there are; where there are more than `most`, at which byte the next begins, and inside what."""
    parser, tags, count, at = expat.ParserCreate(), list[str](), 0, 0

    def start(name: str, _attributes: dict[str, str]) -> None:
        nonlocal count, at
        if count >= most:
            at = parser.CurrentByteIndex
            raise Enough
        count += 1
        tags.append(name)

    def end(_name: str) -> None:
        tags.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parse(parser, data)
    except Enough:
        return count, at, tags
    return count, None, []
