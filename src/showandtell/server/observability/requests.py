"""Each request from its first byte to its last: what went in and out, how it ended, and who is told of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final, TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.core.messages.ids import new_id

#: Who is asked too often to be worth a line or a span.
PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
HEADER: Final = "x-request-id"
#: What of a proxy's own id is taken: nothing that could be anything but an id.
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)
#: The status of a request whose client left before any answer began; nginx calls it so. It is nobody's fault here.
LEFT: Final = 499


class RequestRecord:
    """One request. Its `id` is answered as `x-request-id`; `status` is 0 until an answer begins, or none will."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.id = scope, id_of(Headers(scope=scope))
        self.status = self.received = self.sent = 0
        self.seconds, self.left = 0.0, False
        self._receive, self._send = receive, send

    @property
    def route(self) -> str:
        """The template of the route that it found, as `/api/conversations/{id}`, never what somebody wrote."""
        return getattr(self.scope.get("route"), "path", None) or "none"

    @property
    def is_probe(self) -> bool:
        """Whether a machine asks how this one is."""
        return self.scope["path"] in PROBES

    async def receive(self) -> Message:
        """The next message of the server."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.left = True
        else:
            self.received += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """A message to the server."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=[*message.get("headers", ())])
            headers[HEADER] = self.id
            message = {**message, "headers": headers.raw}
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    def end(self, seconds: float) -> None:
        """Nothing more comes; where no answer has begun, its client has left, or something is wrong here."""
        self.seconds, self.status = seconds, self.status or (LEFT if self.left else 500)


#: Is told of each visit: what it gives is entered when the visit begins, and left when all is known of it.
Observer: TypeAlias = Callable[[RequestRecord], AbstractContextManager[None]]


class RequestLog:
    """ASGI middleware, the outermost: what all others refuse is told, too. The last witness is nearest to the request.

    `clock` gives seconds.
    """

    def __init__(
        self, app: ASGIApp, witnesses: Sequence[Observer], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app, self._witnesses, self._clock = app, witnesses, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, and tell the witnesses."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visit, since = RequestRecord(scope, receive, send), self._clock()
        with ExitStack() as telling:
            for witness in self._witnesses:
                telling.enter_context(witness(visit))
            try:
                await self._app(scope, visit.receive, visit.send)
            except Exception:
                visit.status = visit.status or 500  # whoever has left besides
                raise
            finally:
                visit.end(self._clock() - since)


def id_of(headers: Headers) -> str:
    """The request's id: that of a proxy where it is one, else a new one."""
    said = headers.getlist(HEADER)
    return said[0] if len(said) == 1 and REQUEST_ID.fullmatch(said[0]) else new_id("req")
