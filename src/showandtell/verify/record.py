"""Keeps the exchanges of a test without keys and files, and plays them again.

A recording is JSON lines: first what was tested (model, seed, date), then each request with its answer.
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

#: Headers that are kept; every other one may hold a key, or say who asked.
KEPT = frozenset({"content-type", "content-length", "anthropic-version", "anthropic-beta", "retry-after"})
#: Base64 of so many letters is a file.
MEDIA = re.compile(rb"[A-Za-z0-9+/]{200,}={0,2}")
HIDDEN = b"<<key>>"
#: What stands for a file.
NAMED = re.compile(rb"<<media sha256:[0-9a-f]{64} len:\d+>>")


class Head(Struct, frozen=True, tag="test"):
    """What a recording is of. `host` is who answered, where that isn't the provider's own address."""

    model: str
    seed: str
    date: str
    host: str = ""


class Recorded(Struct, frozen=True, tag="exchange"):
    """One request and its answer: as text where it is any, else (Bedrock's event stream) in base64."""

    url: str
    headers: dict[str, str]
    request: str
    status: int
    answer_headers: dict[str, str]
    answer: str
    is_base64: bool = False

    @property
    def data(self) -> bytes:
        """The answer's bytes."""
        return base64.b64decode(self.answer) if self.is_base64 else self.answer.encode()


@dataclass(frozen=True, slots=True)
class Gathered:
    """A request whose body was read, to be kept and sent."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)
    method: str = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return len(self.data)

    async def body(self) -> AsyncIterator[bytes]:
        """The bytes."""
        yield self.data


def record(send: Send, out: BinaryIO, head: Head) -> Send:
    """The same way to send, which writes every exchange to an open file as it ends."""
    write_line(out, head)

    @asynccontextmanager
    async def send_and_keep(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        gathered = Gathered(request.url, request.headers, b"".join([piece async for piece in request.body()]))
        read = bytearray()

        async def tee(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for piece in body:
                read.extend(piece)
                yield piece

        async with send(gathered) as answer:
            try:
                yield HttpResponse(answer.status, answer.headers, tee(answer.body))
            finally:
                write_line(out, keep(gathered, answer, bytes(read)))

    return send_and_keep


def keep(request: Gathered, answer: HttpResponse, read: bytes) -> Recorded:
    """An exchange without its keys and files."""
    hidden = [one.encode() for one in secrets_in(request.headers)]
    text, is_base64 = spell(conceal(read, hidden))
    return Recorded(
        url=conceal(bare_url(request.url).encode(), hidden).decode(errors="replace"),
        headers=bare_headers(request.headers),
        request=conceal(MEDIA.sub(lambda found: name_media(found[0]), request.data), hidden).decode(errors="replace"),
        status=answer.status,
        answer_headers=bare_headers(answer.headers),
        answer=text,
        is_base64=is_base64,
    )


def spell(data: bytes) -> tuple[str, bool]:
    """Bytes as text, and whether that is base64, for they are none by themselves."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), True


def conceal(data: bytes, hidden: list[bytes]) -> bytes:
    """Bytes without what must not be told: a provider may repeat the key that it refuses."""
    for one in hidden:
        data = data.replace(one, HIDDEN)
    return data


def name_media(text: bytes) -> bytes:
    """What stands for a file's base64: the hash and length of its bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        data = text
    return f"<<media sha256:{hashlib.sha256(data).hexdigest()} len:{len(data)}>>".encode()


def bare_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are kept."""
    return {name.lower(): value for name, value in headers.items() if name.lower() in KEPT}


def bare_url(url: str) -> str:
    """An address without its query, but for how a stream is asked for: keys have been put there."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "alt=sse" if "alt=sse" in parts.query else "", ""))


def write_line(out: BinaryIO, line: Head | Recorded) -> None:
    """One line, at once: a test that is interrupted keeps what it has."""
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
        raise BadInput(f"{path} is no recording of an eye test: {error}") from None


def replay(path: Path) -> Send:
    """A way to send that gives a recording's answers in order, to requests with the same files.

    Raises `BadInput` where it has no more, or a request has other files: its answer would be no verdict on them.
    """
    _, exchanges = read_recording(path)
    left = iter(exchanges)

    @asynccontextmanager
    async def answer(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        found = next(left, None)
        if found is None:
            raise BadInput(f"{path} has {len(exchanges)} answers, and one more was asked for")
        sent = b"".join([piece async for piece in request.body()])
        if [name_media(file) for file in MEDIA.findall(sent)] != NAMED.findall(found.request.encode()):
            raise BadInput(f"{path} was recorded with other files than these: replay the same kinds, made the same way")
        yield HttpResponse(found.status, found.answer_headers, read_out(found.data))

    return answer


async def read_out(data: bytes) -> AsyncIterator[bytes]:
    """An answer's bytes in one read."""
    yield data
