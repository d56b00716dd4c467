"""The response of a stream of events. If the stream breaks off, so does the connection: it must not look complete.

The stock client takes a body that ends for the whole answer, and one that breaks off for a lost connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from showandtell.server.middleware.h11_writes import CONNECTION, direct_body
from showandtell.server.runs.stream_buffer import StreamInterrupted


class EventStream(StreamingResponse):
    """Streams events; `StreamInterrupted` cuts the connection in the middle of the body."""

    def __init__(self, events: AsyncGenerator[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(events, headers=headers)
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        body = direct_body(scope)
        try:
            if body is None:
                await super().__call__(scope, receive, send)
            else:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await body.pour(self._events)
                await send({"type": "http.response.body"})
        except StreamInterrupted:
            extension = scope.get("extensions", {}).get(CONNECTION)
            if extension is not None:  # any other server cuts a body that is never completed
                extension["cut"]()
                while (await receive())["type"] != "http.disconnect":
                    pass
