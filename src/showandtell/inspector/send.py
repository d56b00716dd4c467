"""The embedded model as a `Send`: a strict server in this process that reads a body, thinks, and streams its answer."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import NoReturn
from urllib.parse import urlsplit

from msgspec import Struct

from showandtell.inspector import anthropic_messages, openai_chat, stream_anthropic, stream_openai
from showandtell.inspector.mind import answer
from showandtell.inspector.report import look_at
from showandtell.inspector.seen import Asked, Refusal, Reply
from showandtell.providers.http import Answer, HttpRequest, Send

LARGEST = 64 * 1024 * 1024
#: Bytes a read: none of them ends where an event ends, as on a real network.
READS = (313, 7, 1500, 64)


class House(Struct, frozen=True):
    """One api: how it reads, answers and refuses, bodies over the limit and unknown paths (by kind of error) too."""

    read: Callable[[bytes], Asked]
    spell: Callable[[Reply, Asked, str], Iterator[bytes]]
    refuse: Callable[[Refusal], bytes]
    too_large: Refusal
    unknown: str


def _spell_anthropic(reply: Reply, asked: Asked, name: str) -> Iterator[bytes]:
    if asked.stream:
        return stream_anthropic.spell_stream(reply, asked.model, name)
    return iter((stream_anthropic.spell_message(reply, asked.model, name),))


def _spell_openai(reply: Reply, asked: Asked, name: str) -> Iterator[bytes]:
    if asked.stream:
        return stream_openai.spell_stream(reply, asked.model, name, usage=asked.stream_usage)
    return iter((stream_openai.spell_completion(reply, asked.model, name),))


ANTHROPIC = House(
    anthropic_messages.read_body,
    _spell_anthropic,
    anthropic_messages.spell_refusal,
    Refusal("Request exceeds the maximum size", status=413, kind="request_too_large"),
    "not_found_error",
)
OPENAI = House(
    openai_chat.read_body,
    _spell_openai,
    openai_chat.spell_refusal,
    Refusal("The data you are trying to upload is too large.", status=413),
    "invalid_request_error",
)


def inspector() -> Send:
    """The embedded model, to be used wherever a request is sent. It needs no key and opens no connection."""
    return send


@asynccontextmanager
async def send(request: HttpRequest) -> AsyncGenerator[Answer]:
    """Answer one request: status, headers, and bytes in several reads. Never raises for what a request says."""
    path = urlsplit(request.url).path
    house = ANTHROPIC if "/messages" in path else OPENAI
    try:
        if not path.endswith(("/v1/messages", "/v1/chat/completions")):
            _refuse_path(path, house)
        body = await _gather(request, house)
        asked, reply = await asyncio.to_thread(_think, house, body)
    except Refusal as refusal:
        yield Answer(refusal.status, _headers("application/json", b""), _read_out([house.refuse(refusal)]))
        return
    pieces = house.spell(reply, asked, hashlib.sha256(body).hexdigest()[:24])
    kind = "text/event-stream; charset=utf-8" if asked.stream else "application/json"
    yield Answer(200, _headers(kind, body), _read_out(pieces))


def _refuse_path(path: str, house: House) -> NoReturn:
    raise Refusal(f"Invalid URL (POST {path})", status=404, kind=house.unknown)


def _think(house: House, body: bytes) -> tuple[Asked, Reply]:
    try:
        asked = house.read(body)
        return asked, answer(asked, look_at)
    except RecursionError:
        raise Refusal("The request body is nested too deeply.") from None


async def _gather(request: HttpRequest, house: House) -> bytes:
    """The whole body, never more than the limit; its length must be what the request says."""
    gathered = bytearray()
    async for piece in request.body():
        gathered += piece
        if len(gathered) > LARGEST:
            raise house.too_large
    headers = {name.lower(): value for name, value in request.headers.items()}
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
