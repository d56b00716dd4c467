"""An error that is answered before any route, in the same JSON as all others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from starlette.types import Receive, Send

#: Bytes that are dropped, and seconds, before a connection is closed.
LINGER_BYTES: Final = 32 * 1024 * 1024
LINGER: Final = 5.0


class Refusal:
    """An answer in our own words, for a request whose body nobody wants.

    Of what still comes some is read and dropped, for who is cut off while sending never reads why; then the connection
    is closed.
    """

    def __init__(self, status: int, kind: str, text: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.status, self.kind, self.text, self.headers = status, kind, text, [*headers]

    async def __call__(self, receive: Receive, send: Send) -> None:
        """Send it."""
        body = json.dumps({"error": {"kind": self.kind, "text": self.text}}).encode()
        named = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
        ]
        headers = [*named, *self.headers, ("connection", "close")]
        raw = [(name.encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await _drop(receive)
        await send({"type": "http.response.body"})


async def _drop(receive: Receive) -> None:
    left, more = LINGER_BYTES, True
    while more and left > 0:
        message = await receive()
        more = message["type"] == "http.request" and message.get("more_body", False)
        left -= len(message.get("body", b""))
