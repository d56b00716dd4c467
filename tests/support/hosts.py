"""Programs with a chat of ours in them, one for each framework; users are named by a header."""

from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from fastapi import FastAPI, Header, HTTPException
from starlette.applications import Starlette
from starlette.routing import Mount

from showandtell import Agent, Store
from showandtell.asgi import chat_app, chat_router
from support.postgres import copy_tables
from support.serving import chat_body, chunks_of, running

PREFIX = "/assistant"
SECRET = b"s" * 32


def header_user(request):
    """The user by a header, as a proxy that signs people in names them."""
    return request.headers.get("x-user")


def in_fastapi(*arguments, **options):
    app = FastAPI()
    app.mount(PREFIX, chat_app(*arguments, **options))
    return app


def in_starlette(*arguments, **options):
    return Starlette(routes=[Mount(PREFIX, chat_app(*arguments, **options))])


def as_router(*arguments, **options):
    """A router, whose user is a dependency that raises as most do."""

    def current_user(x_user: str = Header("")):
        if not x_user:
            raise HTTPException(401, "who are you?")
        return x_user

    app = FastAPI()
    app.include_router(chat_router(*arguments, **{**options, "user": current_user}), prefix=PREFIX)
    return app


def in_litestar(*arguments, **options):
    from litestar import Litestar, asgi

    chat = chat_app(*arguments, **options)

    @asgi(PREFIX, is_mount=True, copy_scope=True)
    async def assistant(scope: Any, receive: Any, send: Any) -> None:
        await chat(scope, receive, send)

    return Litestar([assistant])


def in_quart(*arguments, **options):
    from hypercorn.middleware import DispatcherMiddleware
    from quart import Quart

    return DispatcherMiddleware({PREFIX: chat_app(*arguments, **options), "": Quart(__name__)})


def in_django(*arguments, **options):
    import django
    from django.conf import settings
    from django.core.asgi import get_asgi_application

    if not settings.configured:
        settings.configure(ROOT_URLCONF="support.hosts", SECRET_KEY="test", ALLOWED_HOSTS=["*"])  # noqa: S106
        django.setup()
    site, chat = get_asgi_application(), chat_app(*arguments, **options)

    async def application(scope, receive, send):
        if scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/"):
            await chat({**scope, "root_path": PREFIX}, receive, send)
        elif scope["type"] == "http":
            await site(scope, receive, send)

    return application


urlpatterns = []
FRAMEWORKS = {
    "FastAPI": in_fastapi,
    "a router of FastAPI": as_router,
    "Starlette": in_starlette,
    "Litestar": in_litestar,
    "Quart": in_quart,
    "Django": in_django,
}


@asynccontextmanager
async def hosted(framework, folder, agents=None, *, user=header_user, wrap=lambda app: app, **options):
    """A program with a chat on a server: a client of it, with paths below the mount, as a user."""
    copy_tables(folder / "showandtell.db")
    store = options.pop("store", None) or Store.at(folder)
    app = framework(store, agents or Agent("inspector"), user=user, **{"secret": SECRET, **options})
    lifespan = "off" if framework in (in_django, in_quart) else "on"
    async with running(wrap(app), lifespan=lifespan) as url, aiohttp.ClientSession(url) as session:
        session.headers["x-user"] = "ann"
        yield session


async def fetch(session, path, method="GET", **settings):
    """The status, and the JSON or bytes of an answer."""
    async with session.request(method, path, **settings) as answer:
        body = await answer.read()
        return answer.status, await answer.json() if answer.content_type == "application/json" else body


async def ask(session, words, chat="chat", prefix=PREFIX, **settings):
    """Say something, and read the whole answer."""
    async with session.post(f"{prefix}/api/chat", json=chat_body(words, chat), **settings) as answer:
        return answer.status, await chunks_of(answer)
