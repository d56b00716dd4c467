"""pydantic-ai behind its adapter for the AI SDK: it streams the same protocol as ours, and stores nothing."""

from __future__ import annotations

import socket

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

AGENT = Agent("anthropic:claude-sonnet-4-5")


async def chat(request: Request) -> Response:
    """Answer a message."""
    return await VercelAIAdapter.dispatch_request(request, agent=AGENT)


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    app = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[listening])
