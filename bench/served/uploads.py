"""Servers that take files: a route that hashes a body and writes it to disk, and FastAPI's own way to take a form."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import uvicorn
from anyio import to_thread
from fastapi import FastAPI, File, Request, UploadFile

FOLDER = Path(sys.argv[1])
app = FastAPI()


@app.put("/api/attachments")
async def put(request: Request) -> str:
    """Hash the body and write it as it arrives."""
    path, hashed = FOLDER / os.urandom(8).hex(), hashlib.sha256()

    def take(data: bytes) -> None:
        hashed.update(data)
        file.write(data)

    with path.open("wb", buffering=0) as file:
        async for chunk in request.stream():
            await to_thread.run_sync(take, chunk)
    return hashed.hexdigest()


@app.post("/api/attachments")
async def post(file: Annotated[UploadFile, File()]) -> str:
    """Let FastAPI receive the file, then hash it and write it to its place."""
    hashed = hashlib.sha256()
    with (FOLDER / os.urandom(8).hex()).open("wb", buffering=0) as own:
        while data := await file.read(1 << 20):
            hashed.update(data)
            own.write(data)
    return hashed.hexdigest()


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[listening])
