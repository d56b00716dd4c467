"""The parts of a multipart/form-data body as they stream in: heads and pieces of data, none held longer than a read."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final, TypeAlias

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from showandtell.errors import BadInput

#: Fields and files of one body. A part is 80 bytes at least, so many of them are many for what they bring.
MOST_PARTS: Final = 64
#: One line of a part's head, and all of it.
MOST_HEADERS: Final = 8
MOST_LINE: Final = 8192
FORM: Final = b"multipart/form-data"
HOW: Final = "send multipart/form-data with a boundary, as browsers and curl -F do"
CUT: Final = "the body ended in the middle of a file: nothing was stored, send it again"

#: The parser tells its log of every body that it can't read: whoever sent it is told, and nobody else need know.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


class Head(Struct, frozen=True):
    """How a part begins: the field's name, and a file's name and what it claims to be, where it has them."""

    field: str
    filename: str | None
    media_type: str | None


class End(Struct, frozen=True):
    """A part is whole."""


Event: TypeAlias = Head | bytes | End


async def read_parts(chunks: AsyncIterable[bytes], content_type: str | None) -> AsyncIterator[Event]:
    """Each part as its `Head`, its data in pieces, and `End`. Raises `BadInput` for a body that isn't so, or cut."""
    reader = PartReader(find_boundary(content_type))
    async for chunk in chunks:
        for event in reader.take(chunk):
            yield event
    reader.finish()


def find_boundary(content_type: str | None) -> bytes:
    """What stands between the parts."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != FORM or not boundary:
        raise BadInput(HOW)
    return boundary


class PartReader:
    """The parser's callbacks, gathered: what one read gave."""

    def __init__(self, boundary: bytes) -> None:
        self._events: list[Event] = []
        self._headers: dict[str, bytes] = {}
        self._name, self._value = bytearray(), bytearray()
        self._parts, self._has_begun, self._is_whole = 0, False, False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": adder(self._name),
                    "on_header_value": adder(self._value),
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_head,
                    "on_part_data": self._add_data,
                    "on_part_end": lambda: self._events.append(End()),
                    "on_end": self._end,
                },
                max_header_count=MOST_HEADERS,
                max_header_size=MOST_LINE,
            )
        except FormParserError as error:
            raise BadInput(f"{error}: {HOW}") from None

    def take(self, chunk: bytes) -> list[Event]:
        """What a read gave."""
        self._events = []
        if not self._has_begun:
            # The parser skips more than line ends behind these, up to where a read ends.
            chunk = chunk.lstrip(b"\r\n")
            self._has_begun = bool(chunk)
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise BadInput(f"the body can't be read ({error}): {HOW}") from None
        return self._events

    def finish(self) -> None:
        """Raise `BadInput` where the last boundary is missing."""
        if not self._is_whole:
            raise BadInput(CUT)

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise BadInput(f"the body has more than {MOST_PARTS} parts: send fewer files at once")
        self._headers.clear()

    def _end_header(self) -> None:
        self._headers[self._name.decode("latin-1").strip().lower()] = bytes(self._value.strip())
        self._name.clear()
        self._value.clear()

    def _end_head(self) -> None:
        self._events.append(read_head(self._headers))

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(data[start:end])

    def _end(self) -> None:
        self._is_whole = True


def adder(buffer: bytearray) -> Callable[[bytes, int, int], None]:
    """A callback that adds to a buffer."""

    def add(data: bytes, start: int, end: int) -> None:
        buffer.extend(memoryview(data)[start:end])

    return add


def read_head(headers: dict[str, bytes]) -> Head:
    """What a part's headers say."""
    options = parse_options_header(headers.get("content-disposition"))[1]
    if b"name" not in options:
        raise BadInput(f"a part has no name: {HOW}")
    named, claimed = options.get(b"filename"), headers.get("content-type")
    return Head(
        options[b"name"].decode(errors="replace"),
        None if named is None else unescape(named.decode(errors="replace")),
        None if claimed is None else claimed.decode(errors="replace"),
    )


def unescape(name: str) -> str:
    """A file's name as its user knows it: browsers write quotes and line ends in their own way, and nothing else."""
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
