"""AWS's binary event stream in both directions: `Splitter` finds the JSON of each frame, `encode` writes a frame.

A frame is a prelude (its length, the length of its headers, their CRC-32), headers, a payload, and a CRC-32 over all
before it. Layout and limits are those that botocore 1.44.5 reads (botocore/eventstream.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct as Layout
from struct import error as OutOfBytes  # noqa: N812 - the only name that `struct` gives it says nothing
from typing import Literal
from zlib import crc32

import msgspec
from msgspec import Struct

from showandtell.errors import BadAnswer

LARGEST_HEADERS = 128 * 1024
LARGEST_PAYLOAD = 24 * 1024 * 1024
PRELUDE = Layout(">III")
#: A length, or a checksum.
WORD = Layout(">I")
#: The type of a string header, and the length before a string or before bytes.
STRING, LENGTH = 7, Layout(">H")
#: How many bytes the value of each other header type has; -1 where its length stands before it.
VALUES = (0, 0, 1, 2, 4, 8, -1, -1, 8, 16)
JSON = "application/json"
#: What decoding bytes that nobody vouches for may raise: not JSON, not UTF-8, of other types, nested too deep.
UNREADABLE = (msgspec.MsgspecError, RecursionError, ValueError)


class _Head(Struct, frozen=True):
    """What a frame's headers say: `opening` stands before JSON, `message` are an error's own words."""

    kind: Literal["json", "chunk", "exception", "other"]
    name: str = ""
    message: str = ""
    opening: bytes = b""


class _Words(Struct, gc=False):
    """What an exception says; its member is spelled both ways."""

    message: str = ""
    capital: str = msgspec.field(default="", name="Message")


class _Bytes(Struct, gc=False):
    data: bytes = msgspec.field(default=b"", name="bytes")


_words = msgspec.json.Decoder(_Words)
_bytes = msgspec.json.Decoder(_Bytes)


class Splitter:
    """Gathers bytes until a frame is whole."""

    __slots__ = ("_buffer", "_failed", "_needed")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = PRELUDE.size
        self._failed: BadAnswer | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Take the bytes of one read, of any length, and give one JSON text for every frame that they complete.

        An event is `{"<its type>": <payload>}`, but a chunk of InvokeModelWithResponseStream is what its bytes hold.
        An exception or an error is `{"type": "error", "error": {"type": …, "message": …}}`, as Anthropic's streams
        say it, so that each api's parser can read it. Raises `BadAnswer` for broken frames, but never before what
        came first is given: then the next call raises, be it with no bytes.
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

    @property
    def waiting(self) -> int:
        """How many bytes belong to a frame that isn't whole yet."""
        return len(self._buffer)

    def _split(self, data: bytes) -> list[bytes]:
        """Give every whole frame, and keep what follows the last one."""
        texts: list[bytes] = []
        start, self._needed = 0, PRELUDE.size
        try:
            while len(data) - start >= PRELUDE.size:
                size, headers = _check_prelude(data, start)
                if len(data) - start < size:
                    self._needed = size
                    break
                if text := _read(data, start, start + size, headers):
                    texts.append(text)
                start += size
        except BadAnswer as error:
            self._failed = error
            if not texts:
                raise
        self._buffer += data[start:]
        return texts


def _check_prelude(data: bytes, start: int) -> tuple[int, int]:
    """The lengths of a frame and of its headers, which are believed only where their checksum holds."""
    size, headers, checksum = PRELUDE.unpack_from(data, start)
    if crc32(data[start : start + 8]) != checksum:
        raise BadAnswer("a frame of the event stream begins with a wrong checksum")
    payload = size - headers - PRELUDE.size - WORD.size
    if headers > LARGEST_HEADERS or not 0 <= payload <= LARGEST_PAYLOAD:
        raise BadAnswer(f"a frame of the event stream can't have {size} bytes, {headers} of them headers")
    return size, headers


def _read(data: bytes, start: int, end: int, headers: int) -> bytes:
    """The JSON text of one whole frame, or b"" where it holds none."""
    end -= WORD.size
    if crc32(data[start:end]) != WORD.unpack_from(data, end)[0]:
        raise BadAnswer("a frame of the event stream has a wrong checksum")
    start += PRELUDE.size
    head = _describe(data[start : start + headers])
    payload = data[start + headers : end]
    match head.kind:
        case "json":
            return head.opening + (payload or b"{}") + b"}"
        case "chunk":
            return _unwrap(payload)
        case "exception":
            return _error(head.name, head.message or _message(payload))
        case "other":
            return b""


# A stream repeats a handful of headers in every frame.
@lru_cache(maxsize=32)
def _describe(block: bytes) -> _Head:
    headers = dict(read_headers(block))
    match headers.get(":message-type", "event"):
        case "exception":
            return _Head("exception", headers.get(":exception-type", "exception"))
        case "error":
            return _Head("exception", headers.get(":error-code", "error"), headers.get(":error-message", ""))
        case "event" if headers.get(":event-type") == "chunk":
            return _Head("chunk")
        case "event" if headers.get(":content-type", JSON) == JSON:
            return _Head("json", opening=b"{%b:" % msgspec.json.encode(headers.get(":event-type", "")))
        case _:
            return _Head("other")


def _error(kind: str, message: str) -> bytes:
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def _message(payload: bytes) -> str:
    """An exception's own words; where it isn't the JSON that it should be, the beginning of its text."""
    try:
        words = _words.decode(payload)
    except UNREADABLE:
        return payload.decode(errors="replace")[:500]
    return words.message or words.capital


def _unwrap(payload: bytes) -> bytes:
    try:
        return _bytes.decode(payload).data
    except UNREADABLE as error:
        raise BadAnswer(f"a chunk of the event stream is not what it should be: {error}") from error


def read_headers(block: bytes) -> Iterator[tuple[str, str]]:
    """Names and values of a frame's string headers; the others are skipped. Raises `BadAnswer` where one is torn."""
    at = 0
    try:
        while at < len(block):
            name = block[at + 1 : (at := at + 1 + block[at])]
            kind, at = block[at], at + 1
            size = VALUES[kind]
            if size < 0:
                (size,), at = LENGTH.unpack_from(block, at), at + LENGTH.size
            value = block[at : (at := at + size)]
            if kind == STRING:
                yield name.decode(), value.decode()
    except (IndexError, OutOfBytes, UnicodeDecodeError) as error:
        raise BadAnswer("a frame of the event stream has headers that can't be read") from error
    if at > len(block):
        raise BadAnswer("a frame of the event stream has headers that run over its end")


def encode(event_type: str, payload: bytes, *, message_type: str = "event") -> bytes:
    """Write one frame with a JSON payload. With `message_type` "exception" the type is the exception's."""
    names = {":content-type": JSON, ":message-type": message_type}
    headers = b"".join(_header(*each) for each in ({f":{message_type}-type": event_type} | names).items())
    size = PRELUDE.size + len(headers) + len(payload) + WORD.size
    lengths = WORD.pack(size) + WORD.pack(len(headers))
    frame = b"".join((lengths, WORD.pack(crc32(lengths)), headers, payload))
    return frame + WORD.pack(crc32(frame))


def _header(name: str, value: str) -> bytes:
    key, words = name.encode(), value.encode()
    return b"".join((bytes((len(key),)), key, bytes((STRING,)), LENGTH.pack(len(words)), words))
