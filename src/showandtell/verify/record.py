"""Records the exchanges of a vision check without keys and files, and replays them.

A recording is JSON lines: first the head (model, seed, date), then each request with its response.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from showandtell.core.wire.http import HttpRequest, HttpResponse, Send
from showandtell.errors import BadInput
from showandtell.providers.secrets import secrets_in

#: Headers that are recorded. Any other one may contain a key, or identify the user.
STORED_HEADERS = frozenset({"content-type", "content-length", "anthropic-version", "anthropic-beta", "retry-after"})
#: Base64 that is long enough to be a file.
BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{200,}={0,2}")
HIDDEN = b"<<key>>"
#: The placeholder of a file.
MEDIA_PLACEHOLDER = re.compile(rb"<<media sha256:[0-9a-f]{64} len:\d+>>")


class Head(Struct, frozen=True, tag="test"):
    """The subject of a recording. `host` is the host that answered, if it isn't the provider's own."""

    model: str
    seed: str
    date: str
    host: str = ""


class Recorded(Struct, frozen=True, tag="exchange"):
    """One request and its response: as text, or in base64 if it isn't text (Bedrock's event stream)."""

    url: str
    headers: dict[str, str]
    request: str
    status: int
    answer_headers: dict[str, str]
    answer: str
    is_base64: bool = False

    @property
    def data(self) -> bytes:
        """The bytes of the response."""
        return base64.b64decode(self.answer) if self.is_base64 else self.answer.encode()


@dataclass(frozen=True, slots=True)
class BufferedRequest:
    """A request whose body was read into memory, to record and send it."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)
    method: str = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return len(self.data)

    async def body(self) -> AsyncIterator[bytes]:
        """The complete body as one chunk."""
        yield self.data


def record(send: Send, out: BinaryIO, head: Head) -> Send:
    """Wrap a `send` function so that each exchange is written to an open file when it ends."""
    write_line(out, head)

    @asynccontextmanager
    async def send_and_keep(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        gathered = BufferedRequest(request.url, request.headers, b"".join([piece async for piece in request.body()]))
        received = bytearray()

        async def copy(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for piece in body:
                received.extend(piece)
                yield piece

        async with send(gathered) as response:
            try:
                yield HttpResponse(response.status, response.headers, copy(response.body))
            finally:
                write_line(out, redact_exchange(gathered, response, bytes(received)))

    return send_and_keep


def redact_exchange(request: BufferedRequest, response: HttpResponse, received: bytes) -> Recorded:
    """An exchange as it is recorded, without keys and files."""
    hidden = [secret.encode() for secret in secrets_in(request.headers)]
    text, is_base64 = encode_text(conceal(received, hidden))
    return Recorded(
        url=conceal(url_without_query(request.url).encode(), hidden).decode(errors="replace"),
        headers=stored_headers(request.headers),
        request=conceal(BASE64_RUN.sub(lambda match: media_placeholder(match[0]), request.data), hidden).decode(
            errors="replace"
        ),
        status=response.status,
        answer_headers=stored_headers(response.headers),
        answer=text,
        is_base64=is_base64,
    )


def encode_text(data: bytes) -> tuple[str, bool]:
    """Bytes as text, or in base64 if they aren't UTF-8; True for base64."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), True


def conceal(data: bytes, hidden: list[bytes]) -> bytes:
    """Bytes without secrets: a provider may repeat the key that it rejects."""
    for secret in hidden:
        data = data.replace(secret, HIDDEN)
    return data


def media_placeholder(text: bytes) -> bytes:
    """The placeholder for a file's base64: the sha256 and length of its bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        data = text
    return f"<<media sha256:{hashlib.sha256(data).hexdigest()} len:{len(data)}>>".encode()


def stored_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are recorded, with names in lower case."""
    return {name.lower(): value for name, value in headers.items() if name.lower() in STORED_HEADERS}


def url_without_query(url: str) -> str:
    """A URL without its query, which may contain keys; only `alt=sse` is kept."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "alt=sse" if "alt=sse" in parts.query else "", ""))


def write_line(out: BinaryIO, line: Head | Recorded) -> None:
    """Write and flush one line, so that an interrupted check keeps its exchanges."""
    out.write(msgspec.json.encode(line) + b"\n")
    out.flush()


def read_recording(path: Path) -> tuple[Head, list[Recorded]]:
    """A recording's head and exchanges. Raises `BadInput`, which names the file."""
    try:
        lines = path.read_bytes().splitlines()
        head = msgspec.json.decode(lines[0] if lines else b"", type=Head)
        return head, [msgspec.json.decode(line, type=Recorded) for line in lines[1:]]
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise BadInput(f"{path} is not a recording of a vision check: {error}") from None


def replay(path: Path) -> Send:
    """A `send` function that returns a recording's responses in order, for requests with the same files.

    It raises `BadInput` if no response is left, or if a request has other files, about which they say nothing.
    """
    _, exchanges = read_recording(path)
    remaining = iter(exchanges)

    @asynccontextmanager
    async def answer(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        exchange = next(remaining, None)
        if exchange is None:
            raise BadInput(f"{path} has {len(exchanges)} responses, and one more was requested")
        sent = b"".join([piece async for piece in request.body()])
        if [media_placeholder(file) for file in BASE64_RUN.findall(sent)] != MEDIA_PLACEHOLDER.findall(
            exchange.request.encode()
        ):
            raise BadInput(f"{path} was recorded with other files: replay it with the same kinds, on the same setup")
        yield HttpResponse(exchange.status, exchange.answer_headers, one_chunk(exchange.data))

    return answer


async def one_chunk(data: bytes) -> AsyncIterator[bytes]:
    """A body that is one chunk."""
    yield data
