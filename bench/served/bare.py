"""The floor: Starlette and uvicorn that stream ready bytes, in pieces as large as a read of 16 KiB gives."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

CHUNK = b'data: {"type":"text-delta","id":"1.t0","delta":" quarterly"}\n\n'
#: Events of the provider in one read of 16 KiB.
AT_ONCE = 120


async def chat(request: Request) -> StreamingResponse:
    """As many events as are asked for."""
    asked = await request.json()
    words = int(asked["words"])

    async def events() -> AsyncIterator[bytes]:
        for at in range(0, words, AT_ONCE):
            yield CHUNK * min(AT_ONCE, words - at)

    return StreamingResponse(events(), media_type="text/event-stream")


def main() -> None:
    """Listen at any port, and say which."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    app = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[listening])


if __name__ == "__main__":
    main()
