"""Limit the size and time of request bodies. Most are read in full before the route runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.server.middleware.origin_guard import IMPORT_PATH, SAFE_METHODS, UPLOADS_PATH
from showandtell.server.middleware.refusals import Refusal

#: Maximum bytes of a chat request, in which clients send the full history and may send files as base64. Above the first
#: limit it waits for its turn among the uploads.
SMALL_CHAT_BODY: Final = 8 * 1024 * 1024
MAX_CHAT_BODY: Final = 32 * 1024 * 1024
#: Maximum bytes of settings: 20,000 escaped characters of instructions.
MAX_SETTINGS_BODY: Final = 128 * 1024
#: Maximum bytes of a pending message: 100,000 escaped characters.
MAX_PENDING_BODY: Final = 1024 * 1024
#: Maximum bytes of any other body, such as a title.
MAX_BODY: Final = 16 * 1024
#: Those of all paths that begin like this.
LIMITS: Final[Mapping[str, int]] = {"/api/settings": MAX_SETTINGS_BODY, "/api/pending": MAX_PENDING_BODY}
#: Other paths of settings with instructions: those of one conversation, and presets.
SETTINGS_PATHS: Final = re.compile(r"/api/conversations/[^/]+/settings|/api/presets(/[^/]+)?")
#: Their routes limit bodies, and read them when it is the user's turn.
OWN_LIMITS: Final = frozenset({UPLOADS_PATH, IMPORT_PATH, "/api/chat", "/ag-ui"})
#: Seconds until a body has to be complete.
BODY_TIMEOUT: Final = 60.0


def limit_of(path: str, limits: Mapping[str, int] = LIMITS, max_body: int = MAX_BODY) -> int:
    """Maximum bytes of a body that is sent to a path."""
    return limits.get("/".join(path.split("/")[:3]), MAX_SETTINGS_BODY if SETTINGS_PATHS.fullmatch(path) else max_body)


class BodyLimits:
    """Innermost ASGI middleware: 413 for bodies over the limit, 408 for bodies that arrive too slowly.

    Uploads, imports and chat requests pass.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Mapping[str, int] = LIMITS,
        max_body: int = MAX_BODY,
        timeout: float = BODY_TIMEOUT,
    ) -> None:
        self._app, self._limits, self._max_body, self._timeout = app, limits, max_body, timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body and pass the request on, or send an error."""
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS or scope["path"] in OWN_LIMITS:
            await self._app(scope, receive, send)
            return
        limit = limit_of(scope["path"], self._limits, self._max_body)
        body = await receive_limited(scope, receive, limit, self._timeout)
        if isinstance(body, Refusal):
            await body(scope, receive, send)
        elif body is not None:
            await self._app(scope, _replay(body, receive), send)


async def receive_limited(
    scope: Scope, receive: Receive, limit: int, seconds: float = BODY_TIMEOUT
) -> bytes | Refusal | None:
    """Return the body, the refusal of one that is too large or too slow, or None if the client disconnected."""
    try:
        async with asyncio.timeout(seconds):
            return await read_body(Headers(scope=scope), receive, limit)
    except OverflowError:
        text = f"the body has more than {limit:,} bytes: send less, and upload files separately"
        return Refusal(413, "TooLarge", text)
    except TimeoutError:
        return Refusal(408, "TooSlow", f"the body did not arrive within {seconds:g} s: send it again")


async def read_body(headers: Headers, receive: Receive, max_bytes: int) -> bytes | None:
    """Return the body, or None if the client disconnected.

    Raises `OverflowError` as soon as the length, declared or received, exceeds `max_bytes`.
    """
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > max_bytes:
        raise OverflowError
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > max_bytes:
            raise OverflowError
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body first, then later messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
