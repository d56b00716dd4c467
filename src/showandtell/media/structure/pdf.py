"""PDF: its end, its cross-references, and the number of pages in the tree that they lead to (ISO 32000-2, 7.5, 7.7).

It reads what programs usually write. Whatever else there may be (encryption, errors that a decoder repairs) is left to
the decoder: nothing is accepted here that isn't where the cross-references say.
"""

from __future__ import annotations

import re
import zlib
from itertools import accumulate
from typing import Final

from showandtell.media.structure.measured import Measured
from showandtell.media.structure.scan import WINDOW, EndMissing, Scan, Unusual

PADDING: Final = b"\0\t\n\r\x1a "
#: Bytes that are read of a table of cross-references, and of a stream; bytes that are inflated in all.
READ_LIMIT: Final = 4 << 20
#: Versions of a document in one file, cross-references in all, levels of its tree of pages, and objects whose place is
#: checked.
MAX_VERSIONS, MAX_OBJECTS, MAX_DEPTH, MAX_CHECKED = 50, 100_000, 32, 500
START: Final = re.compile(rb"startxref\s+(\d{1,10})\s+$")
SECTION: Final = re.compile(rb"\s*(\d{1,8}) (\d{1,8})[ ]*(?:\r\n|\r|\n)")
ENTRY: Final = re.compile(rb"(\d{10}) (\d{5}) ([nf])(?: \r| \n|\r\n)")
OBJECT: Final = re.compile(rb"\s*(\d{1,10})\s+(\d{1,5})\s+obj\b")
STREAM: Final = re.compile(rb"\bstream\r?\n")
ROOT, PAGES = re.compile(rb"/Root\s+(\d{1,10})\s+\d+\s+R\b"), re.compile(rb"/Pages\s+(\d{1,10})\s+\d+\s+R\b")
KIDS, COUNT = re.compile(rb"/Kids\s*\[\s*(\d{1,10})\s+\d+\s+R\b"), re.compile(rb"/Count\s+(\d{1,9})(?!\d|\s+\d+\s+R)")
PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
PREVIOUS: Final = re.compile(rb"/Prev\s+(\d{1,10})(?!\d|\s+\d+\s+R)")
WIDTHS, INDEX = re.compile(rb"/W\s*\[\s*(\d)\s+(\d)\s+(\d)\s*\]"), re.compile(rb"/Index\s*\[([\d\s]*)\]")
SIZE, FIRST = re.compile(rb"/Size\s+(\d{1,8})\b"), re.compile(rb"/First\s+(\d{1,8})\b")
LENGTH: Final = re.compile(rb"/Length\s+(\d{1,10})(?!\d|\s+\d+\s+R)")
COLUMNS, PREDICTOR = re.compile(rb"/Columns\s+(\d{1,2})\b"), re.compile(rb"/Predictor\s+(\d{1,2})\b")
#: What an object is written with (7.2, 7.3): what opens, what closes, names, strings, numbers, references, comments.
TOKEN: Final = re.compile(
    rb"""\s*(?:(<<|\[)|(>>|\])|/[^\x00-\x20()<>\[\]{}/%]*|\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]*>"""
    rb"""|[+-]?(?:\d+\.?\d*|\.\d+)(?![\w.])|(?:true|false|null|R)\b|%[^\r\n]*)\s*""",
    re.DOTALL,
)
#: The only filter that is applied here.
FLATE: Final = re.compile(rb"/Filter\s*(?:/FlateDecode|\[\s*/FlateDecode\s*\])")


def measure_pdf(scan: Scan) -> Measured:
    """The number of pages."""
    document = Document(scan, find_end(scan))
    document.check_places()
    catalog = document.read(document.root)
    node = document.read(number(PAGES, catalog))
    count = number(COUNT, node)
    for _ in range(MAX_DEPTH):
        if (kids := KIDS.search(node)) is None:
            break
        node = document.read(int(kids[1]))
    if not count or not PAGE.search(node):
        raise Unusual
    return Measured(pages=count)


def find_end(scan: Scan) -> int:
    """Where the mark of the end is, after all objects. Each version of a file ends with one. Raises `EndMissing`."""
    end, after = scan.size, b""
    while end > 0:
        start = max(0, end - WINDOW)
        tail = scan.read_at(start, end - start) + after[:8]
        mark = tail.rfind(b"%%EOF")
        if mark >= 0 and b" obj" not in tail[mark:]:
            return start + mark
        if mark >= 0 or tail.strip(PADDING):
            break
        end, after = start, tail
    raise EndMissing


def number(pattern: re.Pattern[bytes], data: bytes) -> int:
    """The number that a pattern finds. Raises `Unusual`."""
    found = pattern.search(data)
    if found is None:
        raise Unusual
    return int(found[1])


def numbers(data: bytes) -> list[int]:
    """The numbers of up to ten digits in a text of nothing else. Raises `Unusual`."""
    words = data.split()
    if not all(word.isdigit() and len(word) <= 10 for word in words):
        raise Unusual
    return [int(word) for word in words]


def check_dictionary(data: bytes) -> bytes:
    """The text of a dictionary. Raises `Unusual` if it is anything else, or is written in an unusual way."""
    at, depth = 0, 0
    while at < len(data):
        token = TOKEN.match(data, at)
        if token is None:
            raise Unusual
        depth += bool(token[1]) - bool(token[2])
        at = token.end()
    if depth or not data.rstrip().endswith(b">>"):
        raise Unusual
    return data


class Document:
    """Where the objects of a document are: at an offset of the file, or in a stream of objects."""

    def __init__(self, scan: Scan, end: int) -> None:
        self.scan = scan
        self.offsets: dict[int, int] = {}
        self.packed: dict[int, tuple[int, int]] = {}
        self.root = 0
        self._unpacked: dict[int, tuple[list[int], bytes]] = {}
        self._references = self._inflated = 0
        start = max(0, end - 64)
        at: int | None = number(START, scan.read_at(start, end - start))
        for _ in range(MAX_VERSIONS):
            trailer = self._read_version(at)
            if b"/Encrypt" in trailer or b"/XRefStm" in trailer:
                raise Unusual
            self.root = self.root or number(ROOT, trailer)
            previous = PREVIOUS.search(trailer)
            if previous is None:
                return
            at = int(previous[1])
        raise Unusual

    def check_places(self) -> None:
        """Raise `Unusual` if an object isn't at its offset. Of many, those at equal distances are checked."""
        places = sorted((offset, name) for name, offset in self.offsets.items())
        for offset, name in places[:: len(places) // MAX_CHECKED + 1]:
            if int(self._head(offset)[1]) != name:
                raise Unusual

    def read(self, name: int) -> bytes:
        """The text of an object, which must be a dictionary without a stream."""
        if name in self.packed:
            return self._read_packed(*self.packed[name])
        if name not in self.offsets:
            raise Unusual
        data = self._read_at(self.offsets[name], WINDOW)
        head, end = OBJECT.match(data), data.find(b"endobj")
        if head is None or end < 0:
            raise Unusual
        return check_dictionary(data[head.end() : end])

    def _read_at(self, at: int, count: int) -> bytes:
        if not 0 <= at < self.scan.size:
            raise Unusual
        return self.scan.read_at(at, min(count, self.scan.size - at))

    def _head(self, offset: int) -> re.Match[bytes]:
        head = OBJECT.match(self._read_at(offset, 32))
        if head is None:
            raise Unusual
        return head

    def _read_version(self, at: int) -> bytes:
        """Read the cross-references of one version; those of later ones, read before, have precedence."""
        if self._read_at(at, 4) != b"xref":
            return self._read_stream_of_references(at)
        data = self._read_at(at, READ_LIMIT)
        position = 4
        while section := SECTION.match(data, position):
            first, count = int(section[1]), int(section[2])
            self._count(count)
            position = section.end() + 20 * count
            entries = ENTRY.findall(data, section.end(), position)
            if len(entries) != count:
                raise Unusual
            for name, (offset, _, state) in enumerate(entries, first):
                if state == b"n" and name not in self.packed:
                    self.offsets.setdefault(name, int(offset))
        trailer, _, rest = data[position:].partition(b"startxref")
        if not rest or not trailer.lstrip().startswith(b"trailer"):
            raise Unusual
        return check_dictionary(trailer.lstrip().removeprefix(b"trailer"))

    def _read_stream_of_references(self, at: int) -> bytes:
        head, data = self._inflate(at)
        widths = WIDTHS.search(head)
        if widths is None:
            raise Unusual
        kind, second, third = map(int, widths.groups())
        width = kind + second + third
        index = INDEX.search(head)
        spans = numbers(index[1]) if index else [0, number(SIZE, head)]
        self._count(sum(spans[1::2]))
        pairs = zip(spans[::2], spans[1::2], strict=False)
        names = [name for first, count in pairs for name in range(first, first + count)]
        if not width or len(names) * width > len(data):
            raise Unusual
        for row, name in enumerate(names):
            entry = data[row * width : (row + 1) * width]
            form = int.from_bytes(entry[:kind], "big") if kind else 1
            place = int.from_bytes(entry[kind : kind + second], "big")
            if name in self.offsets or name in self.packed:
                continue
            if form == 1:
                self.offsets[name] = place
            elif form == 2:
                self.packed[name] = place, int.from_bytes(entry[kind + second :], "big")
        return head

    def _count(self, references: int) -> None:
        self._references += references
        if self._references > MAX_OBJECTS:
            raise Unusual

    def _read_packed(self, stream: int, index: int) -> bytes:
        """The text of an object in a stream of objects (7.5.7)."""
        if stream not in self._unpacked:
            if stream not in self.offsets:
                raise Unusual
            head, data = self._inflate(self.offsets[stream])
            first = number(FIRST, head)
            starts = [first + start for start in numbers(data[:first])[1::2]]
            self._unpacked[stream] = [*starts, len(data)], data
        starts, data = self._unpacked[stream]
        if index + 1 >= len(starts):
            raise Unusual
        return check_dictionary(data[starts[index] : starts[index + 1]])

    def _inflate(self, offset: int) -> tuple[bytes, bytes]:
        """The dictionary of a stream, and its data."""
        window = self._read_at(offset, WINDOW)
        name, begin = OBJECT.match(window), STREAM.search(window)
        if name is None or begin is None:
            raise Unusual
        head = check_dictionary(window[name.end() : begin.start()])
        length = number(LENGTH, head)
        if not FLATE.search(head) or length > READ_LIMIT:
            raise Unusual
        try:
            inflater = zlib.decompressobj()
            data = inflater.decompress(self._read_at(offset + begin.end(), length), READ_LIMIT)
        except zlib.error:
            raise Unusual from None
        self._inflated += len(data)
        if not inflater.eof or self._inflated > READ_LIMIT:
            raise Unusual
        return head, undo_prediction(data, head)


def undo_prediction(data: bytes, head: bytes) -> bytes:
    """Undo PNG's prediction from the row above, with which references are usually compressed (7.4.4.4)."""
    predictor = PREDICTOR.search(head)
    if predictor is None or int(predictor[1]) == 1:
        return data
    width = number(COLUMNS, head) + 1
    rows = len(data) // width
    if int(predictor[1]) != 12 or data[::width] != b"\2" * rows:
        raise Unusual
    plain = bytearray(rows * (width - 1))
    for column in range(1, width):
        plain[column - 1 :: width - 1] = bytes(accumulate(data[column::width], add_bytes))
    return bytes(plain)


def add_bytes(above: int, difference: int) -> int:
    """A byte from that in the row above."""
    return above + difference & 0xFF
