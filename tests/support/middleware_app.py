"""A small app with the real middleware, and in-process requests to it, for tests of authentication and limits."""

import asyncio
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

from showandtell.server.auth.authenticate import SERVER_KEY, CurrentUser, require_login
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.server.auth.keys import Keys
from showandtell.server.auth.sessions import Sessions
from showandtell.server.middleware.body_limits import BodyLimits
from showandtell.server.middleware.origin_guard import LOOPBACK, OriginGuard
from showandtell.server.middleware.rate_limits import RateLimits, read_rates
from showandtell.storage.database.database import Database
from support.postgres import copy_tables
from support.run_cleanup import RUN, at_end

SECRET = bytes(range(32))
NOON = 1_800_000_000.0
HOST = "127.0.0.1:8000"
OWN = f"http://{HOST}"


@dataclass
class AppResponse:
    status: int = 0
    headers: list = field(default_factory=list)
    body: bytes = b""

    def all(self, name):
        return [value for key, value in self.headers if key == name]

    def __getitem__(self, name):
        return ", ".join(self.all(name)) or None

    @property
    def cookie(self):
        return self["set-cookie"].partition(";")[0]


async def send(
    app, method, address, headers=(), pieces=(b"",), *, scheme="http", client=("127.0.0.1", 4000), on_start=None
):
    """Send one request to an ASGI app, with the body in pieces from any iterable."""
    parts = urlsplit(address)
    named = [*headers.items()] if isinstance(headers, dict) else [*headers]
    if not any(name == "host" for name, _ in named):
        named.append(("host", HOST))
    pending, response = iter(pieces), AppResponse()
    scope = {
        "type": "http",
        "method": method,
        "scheme": scheme,
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in named],
        "client": client,
        "server": ("127.0.0.1", 8000),
    }

    async def receive():
        piece = next(pending, None)
        if piece is None:
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": piece, "more_body": True}

    async def handle(message):
        if message["type"] == "http.response.start":
            response.status = message["status"]
            if on_start:
                on_start()
            response.headers = [(name.decode(), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            response.body += message.get("body", b"")

    await app(scope, receive, handle)
    return response


def ask(app, method, address, headers=(), body=None, **more):
    """Like `send`, for synchronous tests. The body is JSON unless the headers have another content type."""
    named = [*headers.items()] if isinstance(headers, dict) else [*headers]  # pairs, as a header may come twice
    if body is not None:
        usual = [("content-type", "application/json"), ("content-length", str(len(body)))]
        named = [*(pair for pair in usual if pair[0] not in dict(named)), *named]
    return asyncio.run(send(app, method, address, named, () if body is None else (body,), **more))


class AnyLoopDatabase(Database):
    """A database for tests that run each request in an event loop of its own."""

    def _check_open(self):
        self._loop = asyncio.get_running_loop()


@cache
def shared_database():
    """One database for all servers of this module: ids of sessions are random, so that they don't meet."""
    path = f"{tempfile.mkdtemp(dir=os.environ[RUN])}/test.db"
    copy_tables(path)
    database = AnyLoopDatabase(f"sqlite:///{path}")
    with ThreadPoolExecutor(1) as apart:  # the caller may be in an event loop
        apart.submit(lambda: asyncio.run(database.open())).result()
    at_end.callback(lambda: asyncio.run(database.close()))
    return database


def fake_server(*, token=None, accounts=None, now=NOON, database=None, confirmer=None):
    """The state that authentication reads. Tests set its clock by `now`."""
    server = SimpleNamespace(keys=Keys(SECRET, token), accounts=accounts, host_users=None, now=now)
    server.clock = lambda: server.now
    server.sessions = Sessions(database or shared_database(), server.clock, confirmer)
    return server


class GivenServer:
    """Middleware that gives each request the fake server."""

    def __init__(self, app, state):
        self.app, self.state = app, state

    async def __call__(self, scope, receive, send):
        await self.app({**scope, SERVER_KEY: self.state.server}, receive, send)


def guarded_app(server=None, hosts=LOOPBACK, origins=(), rates="", **bodies):
    """An app with a page, a file and a route that changes something; its state lists the `changes`."""
    app = FastAPI(openapi_url=None)
    app.state.server = server or fake_server()
    app.state.changes = changes = []
    app.add_middleware(BodyLimits, **bodies)
    app.add_middleware(RateLimits, rates=read_rates(rates), clock=app.state.server.clock)
    app.add_middleware(OriginGuard, hosts=hosts, origins=origins)
    app.add_middleware(GivenServer, state=app.state)

    @app.exception_handler(Unauthorised)
    async def unauthorised(_: Request, error: Unauthorised) -> Response:
        return JSONResponse({"text": str(error)}, 401, {"www-authenticate": error.challenge})

    @app.exception_handler(LoginUnavailable)
    async def unavailable(_: Request, error: LoginUnavailable) -> Response:
        return JSONResponse({"text": str(error)}, 503)

    @app.api_route("/api/me", methods=["GET", "HEAD"])
    async def me(user: CurrentUser):
        return {"user": user.name, "how": user.method}

    @app.get("/api/attachments/{which}/content/{name}")
    async def content(which: str, name: str, user: CurrentUser):
        return {"id": which, "name": name, "user": user.name, "how": user.method}

    @app.api_route("/api/change", methods=["POST", "PUT", "PATCH", "DELETE"])
    async def change(request: Request, user: CurrentUser):
        changes.append((user.name, await request.body()))
        return {"length": len(changes[-1][1])}

    @app.api_route("/api/attachments", methods=["POST", "PUT"])
    async def upload(request: Request, user: CurrentUser):
        changes.append((user.name, await request.body()))
        return {"length": len(changes[-1][1])}

    @app.get("/healthz")
    async def health():
        return "ok"

    @app.get("/{path:path}")
    async def page(request: Request, path: str):  # noqa: ARG001 - all paths have one page
        return await require_login(request) or Response("<html>the page", media_type="text/html")

    return app


def is_login_cookie(cookie):
    """Whether a Set-Cookie header logs a user in, rather than out."""
    return re.match(r"(__Host-)?showandtell-[0-9a-f]{8}=[^;]", cookie) is not None


def login_cookie(server, user="local"):
    """The header of a browser that has just signed in."""
    return cookie_header(server, asyncio.run(server.sessions.start(user)))


def cookie_header(server, session):
    """The header of a browser with a cookie for a session."""
    return {"cookie": f"showandtell-{server.keys.cookie_suffix}={server.keys.sign_cookie(session, server.now)}"}
