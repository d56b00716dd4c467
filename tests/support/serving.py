"""A real server for tests: uvicorn on 127.0.0.1, in the test's own event loop, and clients of it."""

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec
import uvicorn

from showandtell.server.app import make_app
from showandtell.server.config import Config
from showandtell.server.middleware.h11_timeouts import Connection
from showandtell.storage.location import StorageLocation
from support.postgres import copy_tables

#: 1x1, red.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


@dataclass
class Site:
    """A server that runs, and who may talk to it."""

    url: str
    app: Any
    session: aiohttp.ClientSession
    sessions: list[aiohttp.ClientSession] = field(default_factory=list)

    @property
    def server(self):
        return self.app.state.server

    @property
    def store(self):
        return self.server.store

    def as_user(self, name=None, **headers):
        """A user's client, with the bearer token in single-user mode; without a name, an anonymous client."""
        if name is not None:
            headers["authorization"] = f"Bearer {name}"
        fresh = aiohttp.ClientSession(self.url, headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        self.sessions.append(fresh)
        return fresh

    async def post(self, words, chat="chat", *, id="m1", session=None, files=(), **more):  # noqa: A002 - it is one
        """Say something, and read the whole answer."""
        async with (session or self.session).post(
            "/api/chat", json=chat_body(words, chat, id, files, **more)
        ) as answer:
            return answer.status, await chunks_of(answer)

    async def get(self, path, session=None):
        async with (session or self.session).get(path) as answer:
            return answer.status, await answer.json()


def chat_body(words, chat="chat", id="m1", files=(), **more):  # noqa: A002 - it is one
    """The page's body: it is refused while an answer runs."""
    parts = [{"type": "data-attachment", "data": {"id": file}} for file in files]
    parts += [{"type": "text", "text": words}] if words is not None else []
    message = {"id": id, "role": "user", "parts": parts}
    return {"id": chat, "messages": [message], "trigger": "submit-message", "if_running": "error", **more}


async def chunks_of(answer) -> Any:
    """The chunks of a stream that is read to its end; an error as the one JSON value it is."""
    body = await answer.read()
    if "event-stream" not in answer.headers.get("content-type", ""):
        return msgspec.json.decode(body) if body else None
    return chunks_in(body)


def chunks_in(body):
    """The chunks of a whole stream."""
    blocks = [block.removeprefix(b"data: ") for block in body.split(b"\n\n") if block.startswith(b"data: ")]
    assert blocks[-1] == b"[DONE]"
    return [msgspec.json.decode(block) for block in blocks[:-1]]


def texts(chunks):
    """The words of an answer."""
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


def kinds(chunks):
    return [chunk["type"] for chunk in chunks]


class Server(uvicorn.Server):
    """Ends as soon as `ending` is set, where uvicorn looks ten times a second."""

    def __init__(self, config):
        super().__init__(config)
        self.ending = asyncio.Event()

    async def main_loop(self):
        """Serve until the end."""
        await self.on_tick(0)
        await self.ending.wait()


@asynccontextmanager
async def running(app, **settings):
    """Any ASGI application on a server; gives its address."""
    quiet = {"log_config": None, "access_log": False, "lifespan": "on", "timeout_graceful_shutdown": 1}
    server = Server(uvicorn.Config(app, **quiet | settings))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.ending.set()
            await task


@asynccontextmanager
async def serving(folder, **settings):
    """A server that keeps what it keeps in a folder; `database` and `blobs` name others."""
    database = settings.pop("database", None)
    if database is None:
        copy_tables(folder / "showandtell.db")
    place = StorageLocation(folder, database, settings.pop("blobs", None), **settings.pop("place", {}))
    config = Config(**{"place": place, "secret": b"s" * 32, **settings})
    app = make_app(config)
    async with AsyncExitStack() as server:
        url = await server.enter_async_context(running(app, http=Connection))
        session = aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True))
        site = Site(url, app, session)
        if app.state.server.accounts is None:
            session.headers["origin"] = url
            async with session.get("/", params={"token": app.state.server.keys.token}, allow_redirects=False) as answer:
                assert answer.status == 303
        try:
            yield site
        finally:
            for item in site.sessions:
                await item.close()
            await server.aclose()  # before its client, whose open requests learn of it
            await session.close()
