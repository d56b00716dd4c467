"""Error responses: JSON with a kind and a text. Also drains the body of a rejected request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

#: Limits on draining a body before the connection is closed: bytes and seconds.
LINGER_BYTES: Final = 32 * 1024 * 1024
LINGER_SECONDS: Final = 5.0


class Problem(JSONResponse):
    """An error response, never cached."""

    def __init__(self, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> None:
        all_headers = {"cache-control": "no-store", **(headers or {})}
        super().__init__({"error": {"kind": kind, "text": text}}, status, all_headers)


class Refusal(Problem):
    """An error response to a request whose body was not read in full.

    Discards part of the remaining body, because a client that is cut off while sending never reads the response. Then
    closes the connection.
    """

    def __init__(self, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, kind, text, {**(headers or {}), "connection": "close"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, discard the body for a while, and close."""
        del scope
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                await _discard(receive)
        await send({"type": "http.response.body"})


async def _discard(receive: Receive) -> None:
    remaining, more = LINGER_BYTES, True
    while more and remaining > 0:
        message = await receive()
        more = message["type"] == "http.request" and message.get("more_body", False)
        remaining -= len(message.get("body", b""))
