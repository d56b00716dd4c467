"""A connection as uvicorn has it, that must say what it wants: a request's head has to be whole in time.

uvicorn waits for ever for the first one, and for the rest of one that has begun.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which a head has to be there: from when the connection opens, or from the first byte of a later request.
PATIENCE: Final = 30.0


class Connection(H11Protocol):
    """Closes itself where no whole head comes in time, however many bytes of it do. uvicorn takes it as `http`.

    The same goes for a body that still comes when its answer was sent. While a request is answered, nothing is timed.
    """

    patience = PATIENCE
    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait on where nothing is to be answered yet."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._rest()
        super().connection_lost(exc)

    def _watch(self) -> None:
        is_idle: bool = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if not is_idle:
            self._rest()
        elif self._closing is None:
            self._closing = self.loop.call_later(self.patience, self.transport.close)

    def _rest(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
