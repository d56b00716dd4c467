"""The embedded model as a `Send`: an in-process server that validates a request and streams a response.

It needs no API key and opens no connection.
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

from showandtell.core.wire.http import KEYS_HEADER, HttpRequest, HttpResponse
from showandtell.inspector.answering.answer import answer
from showandtell.inspector.answering.ocr import answer_in_turn
from showandtell.inspector.answering.report import examine
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import ApiError, Host, IncomingRequest, ModelRequest, Reply

#: Sizes of reads in bytes. They don't align with events, as on a real network.
READ_SIZES = (313, 7, 1500, 64)

#: Seconds that a request waits for OCR while other requests use it.
OCR_WAIT = 2.5

#: Computes the reply to a request.
Answerer: TypeAlias = Callable[[ModelRequest], Reply]


def default_answerer(request: ModelRequest) -> Reply:
    """The inspector's reply. Opens files, so it blocks."""
    return answer(request, examine)


@asynccontextmanager
async def send(request: HttpRequest) -> AsyncGenerator[HttpResponse]:
    """Send a request to the inspector. Invalid requests give an error response, never an exception."""
    parts = urlsplit(request.url)
    headers = {name.lower(): value for name, value in request.headers.items()}
    host, _ = find_host(parts.path)
    try:
        body = await _read_body(request, headers, host)
    except ApiError as error:
        yield error_response(error, host)
        return
    yield await serve(IncomingRequest(parts.path, parts.query, headers, body))


async def serve(incoming: IncomingRequest, answerer: Answerer = default_answerer) -> HttpResponse:
    """Respond to a POST request. Invalid requests give an error response, never an exception."""
    host, groups = find_host(incoming.path)
    try:
        incoming = _admit(incoming, host, groups)
        model_request = replace(await asyncio.to_thread(host.read, incoming), has_keys=KEYS_HEADER in incoming.headers)
        if answerer is default_answerer:
            reply = await answer_in_turn(model_request, OCR_WAIT)
        else:
            reply = await asyncio.to_thread(answerer, model_request)
    except ApiError as error:
        return error_response(error, host)
    except RecursionError:
        return error_response(ApiError("The request body is nested too deeply."), host)
    chunks = host.serialize(reply, model_request, hashlib.sha256(incoming.body).hexdigest()[:24])
    kind = host.stream_type if model_request.stream else "application/json"
    return HttpResponse(200, _headers(kind, incoming.body), _stream(chunks))


def _admit(incoming: IncomingRequest, host: Host, groups: Mapping[str, str | None] | None) -> IncomingRequest:
    """Add the groups of the path. Raises `ApiError` if the path is unknown or the body too large."""
    if groups is None:
        raise ApiError(f"Invalid URL (POST {incoming.path})", status=404, kind=host.unknown_path_kind)
    if len(incoming.body) > host.max_body:
        raise host.too_large()
    path_groups = {name: unquote(value) for name, value in groups.items() if value is not None}
    return replace(incoming, groups=path_groups)


def error_response(error: ApiError, host: Host) -> HttpResponse:
    """The error in the format of its host."""
    headers = {**_headers("application/json", b""), **host.error_headers(error)}
    return HttpResponse(error.status, headers, _stream([host.format_error(error)]))


async def _read_body(request: HttpRequest, headers: dict[str, str], host: Host) -> bytes:
    """Read the body. Raises `ApiError` if it exceeds the limit or differs from the declared length."""
    body = bytearray()
    async for chunk in request.body():
        body += chunk
        if len(body) > host.max_body:
            raise host.too_large()
    declared = {str(request.size), headers.get("content-length", str(request.size))}
    if declared != {str(len(body))}:
        length = max(declared - {str(len(body))})
        raise ApiError(f"content-length says {length} bytes, {len(body)} came")
    return bytes(body)


def _headers(content_type: str, body: bytes) -> dict[str, str]:
    return {"content-type": content_type, "request-id": f"req_{hashlib.sha256(body).hexdigest()[:24]}"}


async def _stream(chunks: Iterator[bytes] | list[bytes]) -> AsyncIterator[bytes]:
    """Yield bytes as a network does: split anywhere, with control given back between two reads."""
    data = b"".join(chunks)
    at = 0
    for size in cycle(READ_SIZES):
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size
        await asyncio.sleep(0)
