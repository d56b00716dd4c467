"""An answer's bytes: gathered, changed as a fault or blindness wants it, cut off, and written to the socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from struct import pack

import msgspec
from aiohttp import web

from showandtell.core.wire.http import HttpResponse
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import Host, ModelRequest, Refusal

from .blindness import recount
from .faults import At, Fault, error_event
from .frames import Event, Form, find_form, read_events, write_event, write_events
from .places import find_api
from .spellings import SPELLINGS, WHOLES, Spelling, Whole

#: The headers that hold what a provider is to keep to itself.
SECRET = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token")
#: What is written at once of an answer that a fault has changed.
PIECE = 64 * 1024


async def take_body(request: web.Request, house: Host) -> bytes:
    """A request's body. Raises `Refusal` where no length is declared, and before reading one that is too large."""
    if request.content_length is None and request.body_exists:
        raise Refusal("A request with a body must say its Content-Length.", status=411)
    if (request.content_length or 0) > house.largest:
        raise house.too_large()
    return b"".join([piece async for piece in request.content.iter_any()])


async def give(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def gather(body: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in body])


async def respell(
    answer: HttpResponse, house: Host, path: str, fault: Fault | None, seen: ModelRequest | None
) -> HttpResponse:
    """An answer as the fault spells it, with the tokens of what was `seen` where that isn't what the body held."""
    is_spelled = fault is not None and (fault.rewrite is not None or fault.at == "arguments")
    if answer.status != 200 or not (is_spelled or seen is not None):
        return answer
    body = await gather(answer.body)
    form = find_form(house.base, answer.headers["content-type"])
    if form is None:
        return HttpResponse(200, answer.headers, give(spell_whole(body, WHOLES[find_api(path)], fault, seen)))
    events = read_events(body, form)
    if seen is not None:
        events = [recount(event, seen) for event in events]
    return HttpResponse(200, answer.headers, give(spell(events, SPELLINGS[find_api(path)], form, fault)))


def spell_whole(body: bytes, whole: Whole, fault: Fault | None, seen: ModelRequest | None) -> bytes:
    """A whole answer as the fault wants it; Gemini's array of chunks, which nobody asks for but by hand, stays one."""
    data = msgspec.json.decode(body)
    if not isinstance(data, dict):
        return body
    if seen is not None:
        data = recount(Event(data), seen).data or {}
    if fault is not None and fault.rewrite_whole is not None:
        return fault.rewrite_whole(data, whole)
    if fault is not None and fault.at == "arguments":
        return whole.split(data, whole.arguments)[0]
    return msgspec.json.encode(data)


def spell(events: list[Event], spelling: Spelling, form: Form, fault: Fault | None) -> bytes:
    """The events as the fault wants them, up to the middle of a call's arguments where it ends there."""
    if fault is not None and fault.rewrite is not None:
        events = fault.rewrite(events, spelling, form)
    if fault is None or fault.at != "arguments":
        return write_events(events, form)
    index = next(at for at, event in enumerate(events) if spelling.is_arguments(event))
    torn = write_event(events[index], form)
    return write_events(events[:index], form) + torn[: len(torn) * 2 // 3]


async def write(request: web.Request, answer: HttpResponse, fault: Fault | None) -> web.StreamResponse:
    """Write an answer: as the house gives it, or with what a fault does to its bytes."""
    if fault is not None and fault.hangs_up:
        return break_off(request, web.StreamResponse())
    if fault is not None and fault.echoes:
        answer = await echo(request, answer)
    changed = {"content-type": fault.media_type} if fault is not None and fault.media_type else {}
    response = web.StreamResponse(status=answer.status, headers={**answer.headers, **changed})
    await response.prepare(request)
    if fault is None:
        async for piece in answer.body:
            await response.write(piece)
    else:
        body = cut_off(await gather(answer.body), fault.at)
        size = 1 if fault.slow else PIECE
        for at in range(0, len(body), size):
            await response.write(body[at : at + size])
        if fault.ending == "reset":
            return break_off(request, response)
        if fault.ending == "stall":
            await asyncio.Event().wait()  # until the client goes, for then this task is cancelled
    await response.write_eof()
    return response


async def echo(request: web.Request, answer: HttpResponse) -> HttpResponse:
    """An answer with the credentials of its request in it: in a page's title, or in an error of the house's form."""
    path = request.raw_path.partition("?")[0]
    house, _ = find_host(path)
    words = f"You sent {' '.join(request.headers[name] for name in SECRET if name in request.headers)}"
    if answer.headers["content-type"] == "text/html":
        return HttpResponse(answer.status, answer.headers, give(f"<html><title>{words}</title></html>".encode()))
    if answer.status == 200:
        return await respell(answer, house, path, error_event(words), None)
    return HttpResponse(answer.status, answer.headers, give(house.refuse(Refusal(words, status=answer.status))))


def cut_off(body: bytes, at: At | None) -> bytes:
    match at:
        case int():
            return body[:at]
        case "half":
            return body[: len(body) // 2]
        case _:
            return body


def break_off(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Reset the connection: closed with nothing lingering, the system sends RST."""
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
        transport.abort()
    return response
