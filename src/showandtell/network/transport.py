"""Requests over the network: one `Transport` is shared by many runs, and keeps its connections while any is open.

It loads the HTTP client with the first request, so that who only renders, or asks the inspector, never pays for it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.network.timeouts import Timeouts

if TYPE_CHECKING:
    from showandtell.network.http_session import Session


@dataclass(slots=True)
class _Opened:
    """How many hold a transport open in one event loop, and its connections, once there was a request."""

    holders: int = 0
    session: Session | None = None


class Transport:
    """Sends requests over HTTP. `async with transport:` keeps its connections; the last one to leave closes them.

    Proxies and certificates are those that the usual variables of `environ` name. Redirects aren't followed, no cookie
    is kept, and nothing is asked twice.
    """

    def __init__(self, timeouts: Timeouts | None = None, *, environ: Mapping[str, str] = os.environ) -> None:
        self.timeouts = timeouts or Timeouts()
        self.environ = environ
        # Connections belong to the event loop that made them; a loop that died takes them along.
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
        """One exchange, as `http.Send` says; without an open transport, over a connection of its own.

        Raises `OSError` in plain words where the host can't be reached, `ProviderError` for a redirect, `BadAnswer` for
        what isn't HTTP, and `BadInput` where the surroundings name proxies or certificates that are none. The answer's
        body raises `OSError` where it breaks off. What the request's own body raises comes through as it is.
        """
        async with self, self._session().send(request) as answer:
            yield answer

    def _session(self) -> Session:
        opened = self._opened[asyncio.get_running_loop()]
        if opened.session is None:
            from showandtell.network.http_session import Session  # noqa: PLC0415 - only who sends needs the HTTP client

            opened.session = Session(self.timeouts, self.environ)
        return opened.session
