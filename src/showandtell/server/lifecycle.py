"""Open and close the server of an application: with its lifespan, or with its first request and its event loop.

Most programs that mount an application hand it no lifespan. It opens then when it is first needed, in a task of its
own, which closes it when the event loop cancels its last tasks, as `asyncio.run` does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from showandtell.errors import ShowAndTellError
from showandtell.server.answers import known_error_response
from showandtell.server.auth.authenticate import SERVER_KEY
from showandtell.server.state import Server

log = logging.getLogger(__name__)


class Lifecycle:
    """The servers of one application: one for each event loop that it is used in, which is one in most programs."""

    def __init__(self, open_server: Callable[[], AbstractAsyncContextManager[Server]]) -> None:
        self._open_server = open_server
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Future[Server]] = WeakKeyDictionary()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[Server]:
        """Open the server of this event loop, and close it at the end."""
        loop = asyncio.get_running_loop()
        async with self._open_server() as server:
            self.use(server)
            try:
                yield server
            finally:
                del self._opened[loop]

    def use(self, server: Server) -> None:
        """Use an open server in this event loop."""
        loop = asyncio.get_running_loop()
        self._opened[loop] = opened = loop.create_future()
        opened.set_result(server)

    async def server(self) -> Server:
        """Return the server of this event loop, opened if necessary. Raises what prevents that."""
        loop = asyncio.get_running_loop()
        opened = self._opened.get(loop)
        if opened is None:
            self._opened[loop] = opened = loop.create_future()
            task = loop.create_task(self._keep(opened))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return opened.result() if opened.done() else await asyncio.shield(opened)

    async def _keep(self, opened: asyncio.Future[Server]) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with self._open_server() as server:
                opened.set_result(server)
                await loop.create_future()  # cancelled at the end of the loop
        except Exception as error:
            if opened.done():
                log.exception("the server could not be closed")
            else:
                opened.set_exception(error)
                opened.exception()  # all who wait may be gone
        finally:
            opened.cancel()
            if self._opened.get(loop) is opened:  # the next request tries again
                del self._opened[loop]


class OpenServer:
    """Middleware that gives each request the server of its event loop. 503 with the reason if it can't be opened."""

    def __init__(self, app: ASGIApp, lifecycle: Lifecycle) -> None:
        self._app, self._lifecycle = app, lifecycle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its server."""
        if scope["type"] == "http":
            try:
                scope[SERVER_KEY] = await self._lifecycle.server()
            except ShowAndTellError as error:
                response = await known_error_response(Request(scope), error)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
