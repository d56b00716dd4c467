"""AWS's binary event stream in both directions: `Splitter` finds the JSON of each frame, `encode` writes a frame.

A frame is a prelude (frame length, header length, CRC-32 of both), headers, a payload, and a CRC-32 of everything
before it. Layout and limits are those of botocore 1.44.5 (botocore/eventstream.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct as Layout
from struct import error as StructError  # noqa: N812 - a bare `error` would say nothing
from typing import Literal
from zlib import crc32

import msgspec
from msgspec import Struct

from showandtell.core.collect.surrogates import replace_lone_escapes
from showandtell.errors import BadAnswer

MAX_HEADERS = 128 * 1024
MAX_PAYLOAD = 24 * 1024 * 1024
PRELUDE = Layout(">III")
#: A length or a checksum.
UINT32 = Layout(">I")
#: The type of a string header, and the length prefix of strings and bytes.
STRING_TYPE, LENGTH = 7, Layout(">H")
#: Size in bytes of a header value, by header type; -1 if a length prefix gives it.
VALUE_SIZES = (0, 0, 1, 2, 4, 8, -1, -1, 8, 16)
JSON = "application/json"
#: Errors of decoding untrusted bytes: not JSON, not UTF-8, wrong types, nested too deep.
DECODE_ERRORS = (msgspec.MsgspecError, RecursionError, ValueError)


class _Head(Struct, frozen=True):
    """A frame's headers. `prefix` goes before the payload's JSON; `message` is the error message."""

    kind: Literal["json", "chunk", "exception", "other"]
    name: str = ""
    message: str = ""
    prefix: bytes = b""


class _ExceptionBody(Struct, gc=False):
    """An exception's payload. AWS uses both `message` and `Message`."""

    message: str = ""
    capitalized: str = msgspec.field(default="", name="Message")


class _ChunkBody(Struct, gc=False):
    data: bytes = msgspec.field(default=b"", name="bytes")


_exception_decoder = msgspec.json.Decoder(_ExceptionBody)
_chunk_decoder = msgspec.json.Decoder(_ChunkBody)


class Splitter:
    """Buffers bytes until a frame is complete."""

    __slots__ = ("_buffer", "_failed", "_needed")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = PRELUDE.size
        self._failed: BadAnswer | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Feed the bytes of one read, of any length, and return the JSON of every frame that they complete.

        An event becomes `{"<its type>": <payload>}`; a chunk of InvokeModelWithResponseStream becomes its decoded
        bytes. An exception or an error becomes `{"type": "error", "error": {"type": …, "message": …}}`, as in
        Anthropic's streams, so that every API's parser can read it. Raises `BadAnswer` for broken frames, but only
        after the frames before them have been returned: then the next call raises, even without bytes.
        """
        if self._failed is not None:
            raise self._failed
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._needed:
                return []
            data = bytes(self._buffer)
            self._buffer.clear()
        return self._split(data)

    def flush(self) -> list[bytes]:
        """Return nothing: a frame knows its length, so an incomplete one is cut off."""
        return []

    @property
    def pending(self) -> int:
        """Bytes buffered for an incomplete frame."""
        return len(self._buffer)

    def _split(self, data: bytes) -> list[bytes]:
        """Return every complete frame and buffer the rest."""
        texts: list[bytes] = []
        start, self._needed = 0, PRELUDE.size
        try:
            while len(data) - start >= PRELUDE.size:
                size, headers = _check_prelude(data, start)
                if len(data) - start < size:
                    self._needed = size
                    break
                if text := _read_frame(data, start, start + size, headers):
                    texts.append(text)
                start += size
        except BadAnswer as error:
            self._failed = error
            if not texts:
                raise
        self._buffer += data[start:]
        return texts


def _check_prelude(data: bytes, start: int) -> tuple[int, int]:
    """Return the lengths of a frame and of its headers. They count only if their checksum matches."""
    size, headers, checksum = PRELUDE.unpack_from(data, start)
    if crc32(data[start : start + 8]) != checksum:
        raise BadAnswer("a frame of the event stream has a wrong prelude checksum")
    payload = size - headers - PRELUDE.size - UINT32.size
    if headers > MAX_HEADERS or not 0 <= payload <= MAX_PAYLOAD:
        raise BadAnswer(f"a frame of the event stream can't have {size} bytes, {headers} of them headers")
    return size, headers


def _read_frame(data: bytes, start: int, end: int, headers: int) -> bytes:
    """Return the JSON of one complete frame, or b"" if it has none."""
    end -= UINT32.size
    if crc32(data[start:end]) != UINT32.unpack_from(data, end)[0]:
        raise BadAnswer("a frame of the event stream has a wrong checksum")
    start += PRELUDE.size
    head = _parse_headers(data[start : start + headers])
    payload = data[start + headers : end]
    match head.kind:
        case "json":
            return head.prefix + (payload or b"{}") + b"}"
        case "chunk":
            return _read_chunk(payload)
        case "exception":
            return _serialize_error(head.name, head.message or _exception_message(payload))
        case "other":
            return b""


# Every frame of a stream repeats the same few headers.
@lru_cache(maxsize=32)
def _parse_headers(block: bytes) -> _Head:
    headers = dict(read_headers(block))
    match headers.get(":message-type", "event"):
        case "exception":
            return _Head("exception", headers.get(":exception-type", "exception"))
        case "error":
            return _Head("exception", headers.get(":error-code", "error"), headers.get(":error-message", ""))
        case "event" if headers.get(":event-type") == "chunk":
            return _Head("chunk")
        case "event" if headers.get(":content-type", JSON) == JSON:
            return _Head("json", prefix=b"{%b:" % msgspec.json.encode(headers.get(":event-type", "")))
        case _:
            return _Head("other")


def _serialize_error(kind: str, message: str) -> bytes:
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def _exception_message(payload: bytes) -> str:
    """Return an exception's message, or the start of its payload if that isn't the expected JSON."""
    try:
        body = _exception_decoder.decode(replace_lone_escapes(payload))
    except DECODE_ERRORS:
        return payload.decode(errors="replace")[:500]
    return body.message or body.capitalized


def _read_chunk(payload: bytes) -> bytes:
    try:
        return _chunk_decoder.decode(payload).data
    except DECODE_ERRORS as error:
        raise BadAnswer(f"can't decode a chunk of the event stream: {error}") from error


def read_headers(block: bytes) -> Iterator[tuple[str, str]]:
    """Yield names and values of a frame's string headers and skip the others. Raises `BadAnswer` if one is cut off."""
    position = 0
    try:
        while position < len(block):
            name = block[position + 1 : (position := position + 1 + block[position])]
            kind, position = block[position], position + 1
            size = VALUE_SIZES[kind]
            if size < 0:
                (size,), position = LENGTH.unpack_from(block, position), position + LENGTH.size
            value = block[position : (position := position + size)]
            if kind == STRING_TYPE:
                yield name.decode(), value.decode()
    except (IndexError, StructError, UnicodeDecodeError) as error:
        raise BadAnswer("a frame of the event stream has unreadable headers") from error
    if position > len(block):
        raise BadAnswer("a frame of the event stream has headers that run past its end")


def encode(event_type: str, payload: bytes, *, message_type: str = "event") -> bytes:
    """Encode one frame with a JSON payload. If `message_type` is "exception", `event_type` is the exception's type."""
    fields = {f":{message_type}-type": event_type, ":content-type": JSON, ":message-type": message_type}
    headers = b"".join(_serialize_header(name, value) for name, value in fields.items())
    size = PRELUDE.size + len(headers) + len(payload) + UINT32.size
    lengths = UINT32.pack(size) + UINT32.pack(len(headers))
    frame = b"".join((lengths, UINT32.pack(crc32(lengths)), headers, payload))
    return frame + UINT32.pack(crc32(frame))


def _serialize_header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return b"".join((bytes((len(key),)), key, bytes((STRING_TYPE,)), LENGTH.pack(len(text)), text))
