"""Sends HTTP requests. One `Transport` is shared by many runs and pools connections while any of them is open.

The HTTP client is imported with the first request, so that rendering and the inspector don't pay for it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from showandtell.checking.checked import checked, settings_of
from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.network.timeouts import Timeouts

if TYPE_CHECKING:
    from showandtell.network.address_guard import AddressGuard
    from showandtell.network.http_session import Session


@dataclass(slots=True)
class _Opened:
    """The number of open contexts in one event loop, and its session once a request was sent."""

    holders: int = 0
    session: Session | None = None


@checked
class Transport:
    """Sends requests over HTTP. `async with transport:` keeps connections open until the last context exits.

    Proxies and certificates come from the usual variables of `environ`. Redirects are not followed, cookies are not
    stored, and requests are not retried. With a `guard`, no proxy is used, and only allowed hosts are reached.

    >>> from showandtell import Agent, Connection, Transport
    >>> transport = Transport()
    >>> agents = [Agent("inspector", connection=Connection(transport=transport)) for _ in range(2)]
    >>> agents[0].transport is agents[1].transport
    True
    """

    def __init__(
        self,
        timeouts: Timeouts | Mapping[str, Any] | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        guard: AddressGuard | None = None,
    ) -> None:
        self.timeouts = settings_of(Timeouts, timeouts)
        self.environ, self._guard = environ, guard
        # Connections belong to the event loop that opened them, and end with it.
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, _Opened] = WeakKeyDictionary()

    async def __aenter__(self) -> Self:
        self._opened.setdefault(asyncio.get_running_loop(), _Opened()).holders += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        opened = self._opened[loop]
        opened.holders -= 1
        if not opened.holders:
            del self._opened[loop]
            if opened.session is not None:
                await opened.session.close()

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """Send a request, as `http.Send` describes. Without an open transport it uses a connection of its own.

        Raises `OSError` with a plain message if the host can't be reached, `ProviderError` for a redirect, `BadAnswer`
        if the response is not HTTP, and `BadInput` if the environment names an invalid proxy or certificates. The
        response body raises `OSError` if the connection breaks. Errors of the request body propagate.
        """
        async with self, self._session().send(request) as response:
            yield response

    @staticmethod
    async def load_client() -> None:
        """Import the HTTP client in a thread: the first request would hold the event loop for 0.2 s with it."""
        await asyncio.to_thread(import_module, "showandtell.network.http_session")

    def _session(self) -> Session:
        opened = self._opened[asyncio.get_running_loop()]
        if opened.session is None:
            from showandtell.network.http_session import Session  # noqa: PLC0415 - slow to import, and only needed to send

            opened.session = Session(self.timeouts, self.environ, self._guard)
        return opened.session
