"""A provider for the bench: anthropic-messages over HTTP, which says as many words as it is asked for, and how fast.

The request's last text says it: "words=2000 every=0" (seconds between words; 0: as fast as they are taken). Words that
come slowly are the time at which each was sent, so that a reader knows how long it was on its way.
"""

from __future__ import annotations

import asyncio
import re
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from aiohttp import web

sys.path.insert(0, str(Path(__file__).parent.parent))
from faults import Turn, Turns, call_tools

from answers import speak_anthropic

ASKED = re.compile(rb"words=(\d+) every=([\d.]+)(?: turn=(\d+) tool=(\w+) fault=(\w+)@(\d))?")
CALLED = re.compile(rb"calls=(\d+) steps=(\d+)")
TURNS = Turns()
RECEIVED: list[int] = []


async def speak(request: web.Request) -> web.StreamResponse:
    """One answer."""
    body = await request.read()
    RECEIVED.append(len(body))
    if calls := list(CALLED.finditer(body)):
        return await call(body, calls[-1])
    *_, asked = ASKED.finditer(body)
    words, every, *rest = asked.groups()
    if rest[0]:
        number, tool, fault, at = (item.decode() for item in rest)
        turn = Turn(number, int(words), float(every), tool, fault, int(at))
        has_result = tool == "none" or body.find(b'"tool_result"', asked.end()) >= 0
        return await TURNS.answer(request, turn, has_result=has_result)
    frames: Sequence[bytes] = [*speak_anthropic([" quarterly"] * int(words))]
    answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
    with suppress(ConnectionError):  # who asked may hang up
        await answer.prepare(request)
        if float(every) == 0:
            for at in range(0, len(frames), 100):
                await answer.write(b"".join(frames[at : at + 100]))
        else:
            for at, frame in enumerate(frames):
                await asyncio.sleep(float(every) if at else 0)  # not behind the last: who has it all hangs up
                await answer.write(frame.replace(b" quarterly", b" %.6f" % time.time()))
        await answer.write_eof()
    return answer


async def call(body: bytes, asked: re.Match[bytes]) -> web.Response:
    """One answer of an agent's run with tools."""
    calls, steps = (int(one) for one in asked.groups())
    results = body.count(b'"tool_result"', asked.end())
    ids = [f"toolu_{results + at}" for at in range(calls)] if results < calls * steps else []
    frames = call_tools(ids, "draw", "{}") if ids else speak_anthropic([" quarterly"])
    return web.Response(body=b"".join(frames), content_type="text/event-stream")


async def tell_received(_: web.Request) -> web.Response:
    """How many bytes of requests came."""
    return web.Response(text=str(sum(RECEIVED)))


async def tell_open(_: web.Request) -> web.Response:
    """How many requests of turns are being answered."""
    return web.Response(text=str(TURNS.open))


def main() -> None:
    """Listen at any port, and say which."""
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/messages", speak)
    app.router.add_get("/open", tell_open)
    app.router.add_get("/received", tell_received)
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    web.run_app(app, sock=listening, print=None, access_log=None)


if __name__ == "__main__":
    main()
