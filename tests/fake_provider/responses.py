"""Write responses to the socket, with the changes that faults and blindness make to their bytes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from struct import pack

import msgspec
from aiohttp import web

from showandtell.core.wire.http import HttpResponse
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import ApiError, Host, ModelRequest

from .blindness import recount
from .editors import RESPONSE_EDITORS, STREAM_EDITORS, ResponseEditor, StreamEditor
from .faults import At, Fault, error_event
from .frames import Event, Form, find_form, read_events, write_event, write_events
from .urls import find_api

#: Headers with credentials.
SECRET = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token")
#: Bytes per write of a response that a fault has changed.
CHUNK = 64 * 1024


async def read_body(request: web.Request, host: Host) -> bytes:
    """Read the body. Raises `ApiError` without a declared length, and before reading if it is too large."""
    if request.content_length is None and request.body_exists:
        raise ApiError("A request with a body must say its Content-Length.", status=411)
    if (request.content_length or 0) > host.max_body:
        raise host.too_large()
    return b"".join([chunk async for chunk in request.content.iter_any()])


async def iterate(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def read_all(body: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in body])


async def rewrite_body(
    response: HttpResponse, host: Host, path: str, fault: Fault | None, visible: ModelRequest | None
) -> HttpResponse:
    """Apply the fault to a response, and correct its token counts if the model saw only `visible`."""
    is_rewritten = fault is not None and (fault.rewrite is not None or fault.at == "arguments")
    if response.status != 200 or not (is_rewritten or visible is not None):
        return response
    body = await read_all(response.body)
    form = find_form(host.base, response.headers["content-type"])
    if form is None:
        return HttpResponse(
            200, response.headers, iterate(rewrite_response(body, RESPONSE_EDITORS[find_api(path)], fault, visible))
        )
    events = read_events(body, form)
    if visible is not None:
        events = [recount(event, visible) for event in events]
    return HttpResponse(
        200, response.headers, iterate(rewrite_stream(events, STREAM_EDITORS[find_api(path)], form, fault))
    )


def rewrite_response(body: bytes, editor: ResponseEditor, fault: Fault | None, visible: ModelRequest | None) -> bytes:
    """Apply the fault to a JSON response. Gemini's array of chunks, which no SDK requests, stays unchanged."""
    data = msgspec.json.decode(body)
    if not isinstance(data, dict):
        return body
    if visible is not None:
        data = recount(Event(data), visible).data or {}
    if fault is not None and fault.rewrite_response is not None:
        return fault.rewrite_response(data, editor)
    if fault is not None and fault.at == "arguments":
        return editor.split(data, editor.arguments)[0]
    return msgspec.json.encode(data)


def rewrite_stream(events: list[Event], editor: StreamEditor, form: Form, fault: Fault | None) -> bytes:
    """Apply the fault to a stream, which it may cut off in the middle of a call's arguments."""
    if fault is not None and fault.rewrite is not None:
        events = fault.rewrite(events, editor, form)
    if fault is None or fault.at != "arguments":
        return write_events(events, form)
    index = next(at for at, event in enumerate(events) if editor.is_arguments(event))
    cut_event = write_event(events[index], form)
    return write_events(events[:index], form) + cut_event[: len(cut_event) * 2 // 3]


async def write(request: web.Request, source: HttpResponse, fault: Fault | None) -> web.StreamResponse:
    """Write a response, with what a fault does to its bytes."""
    if fault is not None and fault.hangs_up:
        return break_off(request, web.StreamResponse())
    if fault is not None and fault.echoes:
        source = await echo(request, source)
    changed = {"content-type": fault.media_type} if fault is not None and fault.media_type else {}
    response = web.StreamResponse(status=source.status, headers={**source.headers, **changed})
    await response.prepare(request)
    if fault is None:
        async for chunk in source.body:
            await response.write(chunk)
    else:
        body = cut_off(await read_all(source.body), fault.at)
        size = 1 if fault.slow else CHUNK
        for at in range(0, len(body), size):
            await response.write(body[at : at + size])
        if fault.ending == "reset":
            return break_off(request, response)
        if fault.ending == "stall":
            await asyncio.Event().wait()  # until the client disconnects, which cancels this task
    await response.write_eof()
    return response


async def echo(request: web.Request, response: HttpResponse) -> HttpResponse:
    """A response that repeats the credentials of the request: in the title of a page, or in an error of the host."""
    path = request.raw_path.partition("?")[0]
    host, _ = find_host(path)
    text = f"You sent {' '.join(request.headers[name] for name in SECRET if name in request.headers)}"
    if response.headers["content-type"] == "text/html":
        return HttpResponse(response.status, response.headers, iterate(f"<html><title>{text}</title></html>".encode()))
    if response.status == 200:
        return await rewrite_body(response, host, path, error_event(text), None)
    return HttpResponse(
        response.status, response.headers, iterate(host.format_error(ApiError(text, status=response.status)))
    )


def cut_off(body: bytes, at: At | None) -> bytes:
    match at:
        case int():
            return body[:at]
        case "half":
            return body[: len(body) // 2]
        case _:
            return body


def break_off(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Reset the connection: without lingering, the system sends RST on close."""
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
        transport.abort()
    return response
