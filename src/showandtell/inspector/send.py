"""The embedded model as a `Send`: a strict server in this process that reads a body, thinks, and streams its answer.

It needs no key and opens no connection.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import cycle
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.inspector.answering.answer import answer
from showandtell.inspector.answering.report import look_at
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import Host, IncomingRequest, ModelRequest, Refusal, Reply

#: Bytes a read: none of them ends where an event ends, as on a real network.
READS = (313, 7, 1500, 64)

#: What thinks about a request: the inspector's own mind, or one that is blind on purpose.
Answerer: TypeAlias = Callable[[ModelRequest], Reply]


def think(asked: ModelRequest) -> Reply:
    """The inspector's own mind. It opens files, so it blocks."""
    return answer(asked, look_at)


@asynccontextmanager
async def send(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
    """Answer one request: status, headers, and bytes in several reads. Never raises for what a request says."""
    parts = urlsplit(request.url)
    headers = {name.lower(): value for name, value in request.headers.items()}
    house, _ = find_host(parts.path)
    try:
        body = await _gather(request, headers, house)
    except Refusal as refusal:
        yield refused(refusal, house)
        return
    yield await serve(IncomingRequest(parts.path, parts.query, headers, body))


async def serve(incoming: IncomingRequest, mind: Answerer = think) -> HttpResponse:
    """Answer a POST whose path begins with a house's base. Never raises for what a request says."""
    house, groups = find_host(incoming.path)
    try:
        whole = _admit(incoming, house, groups)
        asked, reply = await asyncio.to_thread(_think, house, whole, mind)
    except Refusal as refusal:
        return refused(refusal, house)
    pieces = house.spell(reply, asked, hashlib.sha256(incoming.body).hexdigest()[:24])
    kind = house.stream_type if asked.stream else "application/json"
    return HttpResponse(200, _headers(kind, incoming.body), _read_out(pieces))


def _admit(incoming: IncomingRequest, house: Host, groups: Mapping[str, str | None] | None) -> IncomingRequest:
    """What arrived, with the words of its path; a `Refusal` where nobody serves the path, or the body is too large."""
    if groups is None:
        raise Refusal(f"Invalid URL (POST {incoming.path})", status=404, kind=house.unknown)
    if len(incoming.body) > house.largest:
        raise house.too_large()
    found = {name: unquote(value) for name, value in groups.items() if value is not None}
    return replace(incoming, groups=found)


def refused(refusal: Refusal, house: Host) -> HttpResponse:
    """A refusal in the house's own form."""
    headers = {**_headers("application/json", b""), **house.error_headers(refusal)}
    return HttpResponse(refusal.status, headers, _read_out([house.refuse(refusal)]))


def _think(house: Host, incoming: IncomingRequest, mind: Answerer) -> tuple[ModelRequest, Reply]:
    try:
        asked = house.read(incoming)
        return asked, mind(asked)
    except RecursionError:
        raise Refusal("The request body is nested too deeply.") from None


async def _gather(request: HttpRequest, headers: dict[str, str], house: Host) -> bytes:
    """The whole body, never more than the limit; its length must be what the request says."""
    gathered = bytearray()
    async for piece in request.body():
        gathered += piece
        if len(gathered) > house.largest:
            raise house.too_large()
    declared = {str(request.size), headers.get("content-length", str(request.size))}
    if declared != {str(len(gathered))}:
        said = max(declared - {str(len(gathered))})
        raise Refusal(f"content-length says {said} bytes, {len(gathered)} came")
    return bytes(gathered)


def _headers(kind: str, body: bytes) -> dict[str, str]:
    return {"content-type": kind, "request-id": f"req_{hashlib.sha256(body).hexdigest()[:24]}"}


async def _read_out(pieces: Iterator[bytes] | list[bytes]) -> AsyncIterator[bytes]:
    """Bytes as a network gives them: cut anywhere, with room for others between two reads."""
    waiting = b"".join(pieces)
    at = 0
    for size in cycle(READS):
        if at >= len(waiting):
            return
        yield waiting[at : at + size]
        at += size
        await asyncio.sleep(0)
