"""uvicorn's HTTP/1.1 connection with a timeout for request heads.

uvicorn waits indefinitely for the first head, and for the rest of a partial one.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds until a head has to be complete, from the opening of the connection or the first byte of a later request.
HEAD_TIMEOUT: Final = 30.0
#: The ASGI extension by which a response cuts its connection: `{"cut": function}`.
CUT: Final = "showandtell.cut"


class Connection(H11Protocol):
    """Closes itself if no complete head arrives in time, even if bytes keep arriving. For uvicorn's option `http`.

    This includes a body that still arrives after its response was sent. No timer runs while a request is handled.
    """

    head_timeout = HEAD_TIMEOUT
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first head."""
        super().connection_made(transport)
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Process received bytes; the timer keeps running until a request is complete."""
        super().data_received(data)
        self._update_timer()

    def handle_events(self) -> None:
        """Let responses cut their connection: a body that breaks off must not look complete."""
        super().handle_events()
        if self.scope is not None:  # pyright: ignore[reportUnnecessaryComparison] - before the first request
            self.scope.setdefault("extensions", {})[CUT] = {"cut": self.transport.abort}

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _update_timer(self) -> None:
        is_idle: bool = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if not is_idle:
            self._cancel_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
