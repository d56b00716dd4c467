"""Record each request until the last byte of its response, for logs, metrics and traces."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final, TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.core.messages.ids import new_id
from showandtell.server.auth.authenticate import BACKCHANNEL_PATH, USER_KEY, User, has_query_token
from showandtell.server.middleware.h11_writes import direct_body

#: Paths that are requested too often for a log line or a span.
PROBE_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
REQUEST_ID_HEADER: Final = "x-request-id"
#: Accepted ids from a proxy: nothing that could be more than an id.
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)
#: Status of a request whose client disconnected before the response started, as in nginx. Not an error of the server.
STATUS_CLIENT_CLOSED: Final = 499
#: Statuses of refused attempts to sign in.
REFUSED: Final = frozenset({400, 401, 403, 429})


class RequestRecord:
    """One request. The response has its `id` as `x-request-id`. `status` is 0 until the response starts or fails."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.id = scope, id_of(Headers(scope=scope))
        self.status = self.received = self.sent = 0
        self.seconds, self.disconnected = 0.0, False
        self._receive, self._send = receive, send

    @property
    def route(self) -> str:
        """The template of the matched route, such as `/api/conversations/{id}`, or "none". Never the client's path."""
        return getattr(self.scope.get("route"), "path", None) or "none"

    @property
    def client(self) -> str | None:
        """The client's address; behind a trusted proxy the one that the proxy reports."""
        client: tuple[str, int] | None = self.scope.get("client")
        return client[0] if client else None

    @property
    def user(self) -> str | None:
        """The name of the user, if one was identified."""
        user: User | None = self.scope.get(USER_KEY)
        return user.name if user else None

    @property
    def is_refused_sign_in(self) -> bool:
        """Whether the client tried to sign in, by a token, a code or at /login, and was refused.

        The accounts' issuer never counts: an address that is blocked couldn't report sign-outs.
        """
        path: str = self.scope["path"]
        if self.status not in REFUSED or self.user is not None or path == BACKCHANNEL_PATH:
            return False
        has_token = "authorization" in Headers(scope=self.scope) or has_query_token(self.scope)
        return has_token or path.startswith("/login")

    @property
    def is_probe(self) -> bool:
        """Whether this is a health check or a scrape of metrics."""
        return self.scope["path"] in PROBE_PATHS

    async def receive(self) -> Message:
        """Receive the next ASGI message and count its bytes."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.disconnected = True
        else:
            self.received += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """Send an ASGI message: adds the request id, and counts bytes."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [item for item in message.get("headers", ()) if item[0] != REQUEST_ID_HEADER.encode()]
            message = {**message, "headers": [*headers, (REQUEST_ID_HEADER.encode(), self.id.encode())]}
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    def end(self, seconds: float) -> None:
        """Set the duration, and the status if no response has started: 499 after a disconnect, else 500."""
        if (body := direct_body(self.scope)) is not None:
            self.sent += body.sent
        self.seconds, self.status = seconds, self.status or (STATUS_CLIENT_CLOSED if self.disconnected else 500)


#: Returns a context manager for a request, entered when it starts and exited when its record is complete.
Observer: TypeAlias = Callable[[RequestRecord], AbstractContextManager[None]]


class RequestLog:
    """Outermost ASGI middleware, so that it also records requests that other middleware rejects.

    The context manager of the last observer is the innermost. `clock` returns seconds.
    """

    def __init__(
        self, app: ASGIApp, observers: Sequence[Observer], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app, self._observers, self._clock = app, observers, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on inside the context managers of the observers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record, started = RequestRecord(scope, receive, send), self._clock()
        with ExitStack() as stack:
            for observer in self._observers:
                stack.enter_context(observer(record))
            try:
                await self._app(scope, record.receive, record.send)
            except Exception:
                record.status = record.status or 500  # even if the client has disconnected
                raise
            finally:
                record.end(self._clock() - started)


def id_of(headers: Headers) -> str:
    """Return the proxy's request id if it is valid, else a new one."""
    ids = headers.getlist(REQUEST_ID_HEADER)
    return ids[0] if len(ids) == 1 and REQUEST_ID.fullmatch(ids[0]) else new_id("req")
