"""The chat in another program: one ASGI application that is mounted below any prefix, with that program's users."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TypedDict, Unpack

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.agent.agent import Agent
from showandtell.checking.checked import checked
from showandtell.checking.shown import Wanted
from showandtell.core.messages.file_json import Link
from showandtell.errors import BadInput
from showandtell.server.addresses import split_public_url
from showandtell.server.app import make_app
from showandtell.server.auth.authenticate import SIGNED_PREFIX
from showandtell.server.auth.host_user import IdentifyUser
from showandtell.server.auth.keys import SIGNED_METHODS
from showandtell.server.config import Audience, Config
from showandtell.server.files.file_addresses import signed_link
from showandtell.server.lifecycle import Lifecycle
from showandtell.storage.conversations.store import Store

#: The name of an agent that is the only one.
ONLY: Final = "default"


class ChatOptions(TypedDict, total=False):
    """Options of `chat_app`, as in `Config`."""

    secret: bytes
    public_url: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    max_message_files: int
    lift_audience: bool
    attach_addresses: Audience
    rates: str
    log_clients: bool
    page: Path


class ChatApp:
    """An ASGI application with the API and the page of the chat; `chat_app` makes it."""

    def __init__(self, config: Config) -> None:
        self._app = make_app(config)
        self._lifecycle: Lifecycle = self._app.state.lifecycle
        self._public_url = config.public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a lifespan."""
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncGenerator[None]:
        """Open the chat, and close it at the end: for the lifespan of a program that hands none to what it mounts.

        Without it, the chat opens with the first request, and closes with the event loop.
        """
        del app
        async with self._lifecycle.lifespan():
            yield

    async def link_for(self, user: str, url: str | None = None) -> Link:
        """Return the function that makes the addresses of a user's files, for streams of routes of your own.

        They open files of conversations in the chat's store, as `ui_stream(run, link=...)` needs them. They are signed
        for the user and expire after 14 minutes: make them again for each stream.

        Args:
            user (str): the id that your `user` returns.
            url (str | None): the address of the chat for its clients, such as "https://example.com/assistant";
                default: `public_url`.

        Raises:
            BadInput: neither is known.
        """
        if not (base := url or self._public_url):
            raise BadInput("the address of the chat is unknown: pass `url`, or set `public_url`")
        return signed_link(await self._lifecycle.server(), "".join(split_public_url(base)), user)


@checked
def chat_app(
    store: Store,
    agents: Agent | Mapping[str, Agent],
    *,
    user: Annotated[IdentifyUser, Wanted("a function that returns the id of a request's user, or None")],
    **options: Unpack[ChatOptions],
) -> ChatApp:
    """Make the chat as one ASGI application, to mount in a program below any prefix.

    Below its prefix it answers as `showandtell serve` does at the root: with the page, and with the API below `/api`.
    Users are those of the program. It opens with the lifespan that its host hands it, or else with its first request.

    Args:
        store (Store): where conversations are stored. It is opened, unless the program has done so.
        agents (Agent | Mapping[str, Agent]): the agent that answers, or several by the names that users choose from;
            the first one is the default. A user's own instructions are added to those of the agent.
        user (Callable): gets the request (a `starlette.requests.HTTPConnection`) and returns the id of its user, or
            None for nobody: 401. May be async; a function that isn't runs in a thread. It is asked for each request,
            except for those to signed addresses of files.
        options (ChatOptions): `public_url` is the address of the application for its clients, if a proxy adds a prefix
            that the requests don't show. `secret` signs addresses (default: `$SHOWANDTELL_SECRET`, or a file in the
            data folder); `hosts` are its only host names; `origins` are other sites whose pages may use the API;
            `max_message_files` and `rates` limit its users, who may attach files by their addresses with
            `attach_addresses="everyone"`; `page` is a folder with another page.

    Raises:
        BadInput: there is no agent, `user` can't be called, or an option is invalid.
    """
    if not agents:
        raise BadInput("there is no agent: give one, or several by name")
    named = {ONLY: agents} if isinstance(agents, Agent) else dict(agents)
    return ChatApp(Config(store=store, agents=named, user=user, **options))


#: Keys of the ASGI scope: the user whom a dependency of FastAPI has found, and the prefix of the router.
FOUND_KEY: Final = "showandtell.found"
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Forwarded(Response):
    """A response that another ASGI application makes."""

    def __init__(self, app: ChatApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, below the prefix of the router."""
        rest: str = scope["path_params"]["path"]
        prefix = scope["path"].removesuffix(rest).rstrip("/")
        await self._app({**scope, "root_path": prefix}, receive, send)


@checked
def chat_router(
    store: Store,
    agents: Agent | Mapping[str, Agent],
    *,
    user: Callable[..., Any],
    **options: Unpack[ChatOptions],
) -> APIRouter:
    """Make the chat as a router of FastAPI: `app.include_router(chat_router(...), prefix="/assistant")`.

    As `chat_app`, but `user` is a dependency of FastAPI that returns the id of a user or None, or raises an
    `HTTPException`. It and the dependencies of the router run before each request, but not before one to a signed
    address of a file, which is a credential itself. The chat opens and closes with the lifespan of the program.
    """

    async def found_user(request: HTTPConnection) -> str | None:
        return request.scope.get(FOUND_KEY)

    chat = chat_app(store, agents, user=found_user, **options)

    class ChatRoute(APIRoute):
        """A route that needs no user for signed addresses."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def forward(request: Request) -> Response:
                return Forwarded(chat) if is_signed_address(request) else await handle(request)

            return forward

    router = APIRouter(route_class=ChatRoute, lifespan=chat.lifespan)

    async def forward(request: Request, found: str | None = Depends(user)) -> Response:
        request.scope[FOUND_KEY] = found
        return Forwarded(chat)

    router.add_api_route("/{path:path}", forward, methods=list(METHODS), include_in_schema=False)
    return router


def is_signed_address(request: Request) -> bool:
    """Whether a request shows a signature for the address of a file. Whether it is valid is checked later."""
    path: str = request.scope["path_params"]["path"]
    is_file = f"/{path}".startswith(SIGNED_PREFIX) and request.method in SIGNED_METHODS
    return is_file and "sig" in request.query_params
