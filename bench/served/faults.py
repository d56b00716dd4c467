"""What the bench's provider does when a turn of the soak asks it: it numbers its words, calls a tool, or goes wrong.

The request's last text says it: "words=40 every=0.05 turn=17 tool=chart fault=cut@1". The answer to the turn's second
request, counted from 0, is cut in the middle. `down` is every request of a turn.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from aiohttp import web
from msgspec import Struct

from answers import line, speak_anthropic

#: What each tool is called with.
CALLS: Final = {
    "chart": {"title": "Soak", "values": [3, 1, 2]},
    "list_files": {},
    "view_file": {"number": 1},
}
#: Faults that are an answer: status, and what else its head says.
REFUSALS: Final[dict[str, tuple[int, dict[str, str]]]] = {
    "broken": (500, {}),
    "limited": (429, {"retry-after": "1"}),
    "overloaded": (529, {}),
    "down": (529, {}),
}
#: Faults before the answer, and in its midst.
EARLY: Final = (*REFUSALS, "closed", "mute", "page")
LATE: Final = ("cut", "error", "garbage", "hang")
#: After these the request is sent again, and the client gets a complete answer.
PASSING: Final = ("broken", "limited", "overloaded", "closed")
#: These end only when the client hangs up.
ENDLESS: Final = ("mute", "hang")
ERROR = b'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Internal server error"}}\n\n'
LOOK = 0.2


class Turn(Struct, frozen=True):
    """What one turn asks for; `at` is the request at which the fault comes."""

    number: str
    words: int
    every: float
    tool: str
    fault: str
    at: int


class Turns:
    """All turns that were asked for, and how many requests are being answered."""

    def __init__(self) -> None:
        self._asked = Counter[str]()
        self.open = 0

    async def answer(self, request: web.Request, turn: Turn, *, has_result: bool) -> web.StreamResponse:
        """Answer a request of a turn: with the call of its tool at first, and then with words."""
        asked = self._asked[turn.number]
        self._asked[turn.number] += 1
        fault = turn.fault if turn.fault == "down" or asked == turn.at else "none"
        frames = [*(speak_anthropic([f" {turn.number}"] * turn.words) if has_result else call_anthropic(turn, asked))]
        self.open += 1
        try:
            return (
                await spoil(request, fault)
                if fault in EARLY
                else await stream_frames(request, frames, turn.every, fault)
            )
        finally:
            self.open -= 1


def call_anthropic(turn: Turn, asked: int) -> Iterator[bytes]:
    """The frames of an answer that calls a turn's tool."""
    return call_tools([f"toolu_{turn.number}_{asked}"], turn.tool, json.dumps(CALLS[turn.tool]))


def call_tools(ids: Sequence[str], tool: str, arguments: str) -> Iterator[bytes]:
    """The frames of an answer that calls a tool, once for each id."""
    begin, *_, delta, stop = speak_anthropic([])
    yield begin
    for at, call_id in enumerate(ids):
        call = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
        yield line({"type": "content_block_start", "index": at, "content_block": call}, named=True)
        output = {"type": "input_json_delta", "partial_json": arguments}
        yield line({"type": "content_block_delta", "index": at, "delta": output}, named=True)
        yield line({"type": "content_block_stop", "index": at}, named=True)
    yield delta.replace(b"end_turn", b"tool_use")
    yield stop


async def spoil(request: web.Request, fault: str) -> web.StreamResponse:
    """An invalid response."""
    match fault:
        case "closed":
            hang_up(request)
            return web.Response()
        case "mute":
            await wait_gone(request)
            return web.Response()
        case "page":
            return web.Response(text="<html><h1>It works!</h1></html>", content_type="text/html")
        case _:
            status, head = REFUSALS[fault]
            error = {"type": "error", "error": {"type": "api_error", "message": fault}}
            return web.json_response(error, status=status, headers=head)


async def stream_frames(request: web.Request, frames: Sequence[bytes], every: float, fault: str) -> web.StreamResponse:
    """Say frames one by one; a fault comes in the middle of them."""
    answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
    with suppress(ConnectionError):  # who asked may hang up
        await answer.prepare(request)
        for at, frame in enumerate(frames):
            if fault in LATE and at == len(frames) // 2:
                await break_off(request, answer, fault, frame)
                return answer
            await asyncio.sleep(every if at else 0)  # not behind the last: who has it all hangs up
            await answer.write(frame)
        await answer.write_eof()
    return answer


async def break_off(request: web.Request, answer: web.StreamResponse, fault: str, frame: bytes) -> None:
    """Go wrong where a frame would be next."""
    match fault:
        case "cut":
            await answer.write(frame[: len(frame) // 2])
            hang_up(request)
        case "error":
            await answer.write(ERROR)
        case "garbage":
            await answer.write(b"\x00\xff: \r\r\ndata: {not json\n\n")
        case _:
            await wait_gone(request)


def hang_up(request: web.Request) -> None:
    """Cut the connection."""
    if request.transport is not None:
        request.transport.abort()


async def wait_gone(request: web.Request) -> None:
    """Say nothing until the client hangs up."""
    while request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(LOOK)
