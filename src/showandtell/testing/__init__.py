"""What tests of your own tools, providers and stores need: models that answer without a network.

connection = FakeConnection(send=answer)  # answer(request) is an async context manager of an HttpResponse
agent = Agent("anthropic:claude-sonnet-5", [photo], connection=connection)
"""

from __future__ import annotations

from dataclasses import dataclass

from showandtell.agent.settings import Connection
from showandtell.core.capabilities.cells import Target
from showandtell.core.wire.http import HttpRequest, HttpResponse, Send
from showandtell.network.transport import Transport
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import BASES

__all__ = ["FakeConnection", "HttpRequest", "HttpResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeConnection(Connection):
    """A connection whose requests go to `send` instead of a provider; no key is needed.

    `send` takes an `HttpRequest` and returns an async context manager of an `HttpResponse`.
    """

    send: Send

    def open(self, target: Target, transport: Transport) -> Exchange:  # noqa: ARG002 - nothing goes over a network
        """The way to the function."""
        return Exchange(self.send, BASES[target.api], {})
