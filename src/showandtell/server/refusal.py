"""An error that is answered before any route, in the same JSON as all others."""

from __future__ import annotations

import json
from collections.abc import Iterable

from starlette.types import Send


class Refusal:
    """An answer in our own words. It closes the connection: a body that nobody wants may still be coming."""

    def __init__(self, status: int, kind: str, text: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.status, self.kind, self.text, self.headers = status, kind, text, [*headers]

    async def __call__(self, send: Send) -> None:
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
        await send({"type": "http.response.body", "body": body})
