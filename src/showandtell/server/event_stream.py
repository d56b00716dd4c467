"""The response of a stream of events. If the stream breaks off, so does the connection: it must not look complete.

The stock client takes a body that ends for the whole answer, and one that breaks off for a lost connection.
"""

from __future__ import annotations

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from showandtell.server.middleware.h11_timeouts import CUT
from showandtell.server.runs.stream_buffer import StreamInterrupted


class EventStream(StreamingResponse):
    """Streams events; `StreamInterrupted` cuts the connection in the middle of the body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        except StreamInterrupted:
            extension = scope.get("extensions", {}).get(CUT)
            if extension is not None:  # any other server cuts a body that is never completed
                extension["cut"]()
                while (await receive())["type"] != "http.disconnect":
                    pass
