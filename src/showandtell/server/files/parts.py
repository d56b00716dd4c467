"""Parse a multipart/form-data body as it streams in, without holding more than one read in memory."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final, TypeAlias

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from showandtell.errors import BadInput

#: Maximum number of fields and files in a body. A part has at least 80 bytes of overhead: large numbers are costly.
MAX_PARTS: Final = 64
#: Maximum number of headers of a part, and maximum bytes of one.
MAX_HEADERS: Final = 8
MAX_HEADER_LINE: Final = 8192
FORM: Final = b"multipart/form-data"
FORM_ADVICE: Final = "send multipart/form-data with a boundary, as browsers and curl -F do"
CUT_OFF: Final = "the body ended in the middle of a file, and nothing was stored: send it again"

# The parser logs every invalid body. The client gets an error, so the log doesn't need it.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


class Head(Struct, frozen=True):
    """The start of a part: field name, and file name and claimed media type if given."""

    field: str
    filename: str | None
    media_type: str | None


class End(Struct, frozen=True):
    """The end of a part."""


Event: TypeAlias = Head | bytes | End


async def read_parts(chunks: AsyncIterable[bytes], content_type: str | None) -> AsyncIterator[Event]:
    """Yield each part as its `Head`, chunks of data, and `End`. Raises `BadInput` for an invalid or truncated body."""
    reader = PartReader(find_boundary(content_type))
    async for chunk in chunks:
        for event in reader.feed(chunk):
            yield event
    reader.finish()


def find_boundary(content_type: str | None) -> bytes:
    """Return the boundary between parts. Raises `BadInput` for other content types."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != FORM or not boundary:
        raise BadInput(FORM_ADVICE)
    return boundary


class PartReader:
    """Collects the parser's callbacks as events."""

    def __init__(self, boundary: bytes) -> None:
        self._events: list[Event] = []
        self._headers: dict[str, bytes] = {}
        self._name, self._value = bytearray(), bytearray()
        self._parts, self._has_started, self._is_complete = 0, False, False
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
                max_header_count=MAX_HEADERS,
                max_header_size=MAX_HEADER_LINE,
            )
        except FormParserError as error:
            raise BadInput(f"{error}: {FORM_ADVICE}") from None

    def feed(self, chunk: bytes) -> list[Event]:
        """Parse one chunk and return its events. Raises `BadInput` for an invalid body."""
        self._events = []
        if not self._has_started:
            # After leading line ends the parser would skip all data up to the end of the chunk.
            chunk = chunk.lstrip(b"\r\n")
            self._has_started = bool(chunk)
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise BadInput(f"the body can't be read ({error}): {FORM_ADVICE}") from None
        return self._events

    def finish(self) -> None:
        """Raise `BadInput` if the last boundary is missing."""
        if not self._is_complete:
            raise BadInput(CUT_OFF)

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise BadInput(f"the body has more than {MAX_PARTS} parts: send fewer files at once")
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
        self._is_complete = True


def adder(buffer: bytearray) -> Callable[[bytes, int, int], None]:
    """Return a parser callback that appends to a buffer."""

    def add(data: bytes, start: int, end: int) -> None:
        buffer.extend(memoryview(data)[start:end])

    return add


def read_head(headers: dict[str, bytes]) -> Head:
    """Parse a part's headers. Raises `BadInput` for a part without a name."""
    options = parse_options_header(headers.get("content-disposition"))[1]
    if b"name" not in options:
        raise BadInput(f"a part has no name: {FORM_ADVICE}")
    filename, media_type = options.get(b"filename"), headers.get("content-type")
    return Head(
        options[b"name"].decode(errors="replace"),
        None if filename is None else unescape(filename.decode(errors="replace")),
        None if media_type is None else media_type.decode(errors="replace"),
    )


def unescape(name: str) -> str:
    """Undo the escapes of browsers in a file name: they encode quotes and line ends, and nothing else."""
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
