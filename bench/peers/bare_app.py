"""A FastAPI application with one route, on uvicorn: the floor of a server's start. Prints a line when it is ready."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.get("/")
def index() -> dict[str, str]:
    return {"status": "ready"}


async def main() -> None:
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    task = asyncio.create_task(server.serve(sockets=[socket.create_server(("127.0.0.1", 0))]))
    while not server.started:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.005)
    print("ready", flush=True)
    await task


asyncio.run(main())
