"""Errors as everybody gets them: JSON with a kind and words. And what becomes of a body that nobody wants."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

#: Bytes that are dropped, and seconds, before a connection is closed.
LINGER_BYTES: Final = 32 * 1024 * 1024
LINGER: Final = 5.0


class Problem(JSONResponse):
    """An error; nobody keeps a copy of it."""

    def __init__(self, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> None:
        kept = {"cache-control": "no-store", **(headers or {})}
        super().__init__({"error": {"kind": kind, "text": text}}, status, kept)


class Refusal(Problem):
    """An error for a request whose body wasn't read to its end.

    Of what still comes some is read and dropped, for who is cut off while sending never reads why; then the connection
    is closed.
    """

    def __init__(self, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, kind, text, {**(headers or {}), "connection": "close"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        del scope
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
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
