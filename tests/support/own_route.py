"""Programs for the page of a stock client: one with a route of its own, which stores no history, and a mounted chat."""

import asyncio
import subprocess
import tempfile
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from showandtell import Agent, File, NotFound, Store, from_ui_messages, view_file
from showandtell.asgi import chat_app, ui_stream
from support import nodejs, page_tools
from support.echo_provider import MODEL

SECRET = b"0123456789abcdef"
PAGE = '<!doctype html><meta charset="utf-8"><div id="root" data-api="{api}"></div><script type="module" src="/client.js"></script>'


def bundle(client):
    """The script of a client's page."""
    folder = nodejs.ROOT / "web" / "tests" / "clients"
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "client.js"
        subprocess.run([nodejs.node(), str(folder / "bundle.mjs"), client, str(file)], check=True)  # noqa: S603 - ours
        return file.read_bytes()


def serve_page(app, client, api):
    """Add the page of a client, whose chat is at `api`."""
    script = bundle(client)

    @app.get("/")
    def page():
        return HTMLResponse(PAGE.format(api=api))

    @app.get("/client.js")
    def client_script():
        return Response(script, media_type="text/javascript")

    @app.get("/favicon.ico")
    def icon():
        return Response(status_code=204)


def bearer_user(request):
    """The user whom the page's transport names. An `<img>` sends no header, so pictures load by their signed addresses alone."""
    return {"Bearer token-of-ann": "ann"}.get(request.headers.get("authorization"))


def make_mounted_app(client, folder):
    """A program with a chat below /assistant."""
    app = FastAPI()
    serve_page(app, client, "/assistant/api/chat")
    agent = Agent("inspector", [*page_tools.TOOLS, view_file])
    app.mount("/assistant", chat_app(Store.at(folder), agent, user=bearer_user, secret=SECRET * 2))
    return app


def make_own_app(client):
    """A program with a route of its own. The echo provider answers messages that give it the blocks of its answer."""
    app, agent = FastAPI(), Agent("inspector", page_tools.TOOLS)
    serve_page(app, client, "/chat")
    streams, conversations = {}, []

    async def find(file_id):
        for conversation in conversations:
            for file in conversation.attachments.values():
                if file.id == file_id:
                    return File.from_bytes(conversation.file(file.number).read(), file.media_type, file.name)
        raise NotFound(f"there is no file {file_id}: check the id")

    @app.post("/chat")
    async def chat(request: Request):
        body = await request.json()
        if before := streams.get(body["id"]):
            await before.stop()
        turn = await from_ui_messages(body, find, secret=SECRET)
        conversations.append(turn.conversation)
        settings = {"model": MODEL} if (turn.text or "").startswith("Blocks:") else {}
        given = {"files": turn.files, "conversation": turn.conversation, "approvals": turn.approvals}
        run = agent.run(turn.text, **given, **settings)  # pyright: ignore[reportCallIssue] - arguments by name
        base = str(request.base_url).rstrip("/")
        stream = streams[body["id"]] = ui_stream(run, lambda path: base + path, turn=turn)
        return StreamingResponse(stream, headers=stream.headers)

    @app.get("/chat/{chat_id}/stream")
    async def resume(chat_id: str):
        stream = streams.get(chat_id)
        if stream is None or stream.has_ended:
            return Response(status_code=204)
        return StreamingResponse(stream, headers=stream.headers)

    @app.get("/api/attachments/{file_id}/content/{name}")
    async def content(file_id: str, name: str):
        assert name
        file = await find(file_id)
        return Response(file.read(), media_type=file.media_type)

    return app


class Program:
    """A program on a port of its own, as an asynchronous context manager."""

    def __init__(self, app):
        self._app = app

    async def __aenter__(self):
        self._server = uvicorn.Server(uvicorn.Config(self._app, port=0, log_config=None, timeout_graceful_shutdown=1))
        self._task = asyncio.create_task(self._server.serve())
        while not self._server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.should_exit = True
        await self._task
