"""The least that a chat server does for an answer: a route, a request to the provider, and two durable commits.

It relays the provider's bytes as they come, without reading them, and stores the question before and the answer after.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
from asyncio import get_running_loop
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

THREAD = ThreadPoolExecutor(1)
DATABASE = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False)
for statement in ("journal_mode=WAL", "synchronous=FULL"):
    DATABASE.execute(f"PRAGMA {statement}")
DATABASE.execute("CREATE TABLE messages (chat TEXT, record BLOB)")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep one client for all requests."""
    async with aiohttp.ClientSession(os.environ["ANTHROPIC_BASE_URL"]) as app.state.session:
        yield


app = FastAPI(lifespan=lifespan)


async def store(chat: str, record: bytes) -> None:
    """Store a message in a transaction of its own."""
    await get_running_loop().run_in_executor(
        THREAD, DATABASE.execute, "INSERT INTO messages VALUES (?, ?)", (chat, record)
    )


@app.post("/api/chat")
async def answer(request: Request) -> StreamingResponse:
    """Relay an answer."""
    asked = await request.json()
    text = asked["messages"][-1]["parts"][0]["text"]
    await store(asked["id"], text.encode())
    messages = [{"role": "user", "content": text}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 1024, "stream": True, "messages": messages}

    async def relay() -> AsyncIterator[bytes]:
        pieces: list[bytes] = []
        async with app.state.session.post("/v1/messages", json=body) as response:
            async for piece in response.content.iter_any():
                pieces.append(piece)
                yield piece
        await store(asked["id"], b"".join(pieces))

    return StreamingResponse(relay(), media_type="text/event-stream")


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[listening])
