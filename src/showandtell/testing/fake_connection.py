"""A connection to a function in place of a provider."""

from __future__ import annotations

from dataclasses import dataclass

from showandtell.agent.settings import Connection
from showandtell.checking.checked import checked
from showandtell.core.capabilities.cells import Target
from showandtell.core.wire.http import Send
from showandtell.network.transport import Transport
from showandtell.providers.connect import inspector_base
from showandtell.providers.exchange import Exchange


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FakeConnection(Connection):
    """A connection that calls `send` instead of a provider. It needs no key.

    `send` takes an `HttpRequest` and returns an async context manager of an `HttpResponse`: a complete JSON body, or
    server-sent events with the content type `text/event-stream`.

    >>> from collections.abc import AsyncIterator
    >>> from contextlib import asynccontextmanager
    >>> from showandtell import Agent
    >>> from showandtell.testing import FakeConnection, HttpRequest, HttpResponse
    >>> async def hello() -> AsyncIterator[bytes]:
    ...     yield b'{"type": "message", "content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}'
    >>> @asynccontextmanager
    ... async def send(request: HttpRequest) -> AsyncIterator[HttpResponse]:
    ...     yield HttpResponse(200, {"content-type": "application/json"}, hello())
    >>> run = Agent("anthropic:claude-sonnet-5", connection=FakeConnection(send=send)).run_sync("hi")
    >>> run.status, run.text
    ('complete', 'Hello.')
    """

    send: Send

    def open(self, target: Target, transport: Transport) -> Exchange:  # noqa: ARG002 - nothing is sent over a network
        """Return an exchange that calls `send`."""
        return Exchange(self.send, inspector_base(target.api), {})
