"""Bodies that aren't files: read whole before anybody works with them, no more than is allowed, and no longer."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.server.middleware.origin_guard import READING, UPLOADS
from showandtell.server.middleware.refusals import Refusal

#: Bytes of a chat's JSON body, which a client fills with all that was said, and of others: 20,000 letters, spelt out.
#: A body that isn't what its route takes is told field by field: 7 MB of such fields take 5 s of the event loop.
MOST: Final = 8 * 1024 * 1024
SMALL: Final = 256 * 1024
CHAT: Final = "/api/chat"
#: Seconds in which a body has to be there.
PATIENCE: Final = 60.0


class BodyLimits:
    """ASGI middleware, the innermost: 413 for what is too long, 408 for what isn't there in time.

    Uploads pass: their route bounds them while it stores them.
    """

    def __init__(self, app: ASGIApp, most: int = MOST, small: int = SMALL, patience: float = PATIENCE) -> None:
        self._app, self._most, self._small, self._patience = app, most, small, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through with its body, or answer it."""
        if scope["type"] != "http" or scope["method"] in READING or scope["path"] == UPLOADS:
            await self._app(scope, receive, send)
            return
        most = self._most if scope["path"] == CHAT else min(self._small, self._most)
        try:
            async with asyncio.timeout(self._patience):
                body = await read_body(Headers(scope=scope), receive, most)
        except OverflowError:
            await Refusal(413, "TooLarge", f"more than {most:,} bytes: upload files on their own")(scope, receive, send)
        except TimeoutError:
            await Refusal(408, "TooSlow", f"the body was not there within {self._patience:g} s: send it again")(
                scope, receive, send
            )
        else:
            if body is not None:
                await self._app(scope, _replay(body, receive), send)


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The body; None where the reader left. Raises `OverflowError` as soon as it is too long, or says so."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > most:
        raise OverflowError
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise OverflowError
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """What receives the body that was read, and then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
