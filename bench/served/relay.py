"""A bare relay: an ASGI application that passes on what the provider sends, as it comes, and stores nothing."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import aiohttp
import uvicorn

HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
SESSIONS: list[aiohttp.ClientSession] = []


async def app(_: Any, receive: Any, send: Any) -> None:
    """Relay an answer."""
    body = b""
    while (message := await receive()) and message.get("more_body"):
        body += message["body"]
    text = json.loads(body + message["body"])["messages"][-1]["parts"][0]["text"]
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 1024, "stream": True}
    asked |= {"messages": [{"role": "user", "content": text}]}
    if not SESSIONS:
        SESSIONS.append(aiohttp.ClientSession(os.environ["ANTHROPIC_BASE_URL"]))
    async with SESSIONS[0].post("/v1/messages", json=asked) as response:
        await send(HEAD)
        async for piece in response.content.iter_any():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")).run(sockets=[listening])
