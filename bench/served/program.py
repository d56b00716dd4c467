"""A program with the chat in it, whose users are named by a header: `python served/program.py FOLDER`."""

from __future__ import annotations

import socket
import sys

import uvicorn
from starlette.requests import Request

from showandtell import Agent, Store
from showandtell.asgi import chat_app

RATES = "chat=1000000/second,reads=1000000/second"


async def identify(request: Request) -> str:
    """The user that the client names."""
    return request.headers["x-user"]


if __name__ == "__main__":
    agent = Agent("anthropic:claude-sonnet-4-5")
    app = chat_app(Store.at(sys.argv[1]), agent, user=identify, secret=b"s" * 32, rates=RATES)
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
