"""JSON responses, compressed for clients that accept it, but never with a signed address inside.

Who can put words of their own beside a secret and see the length of the compressed response finds the secret out,
letter by letter (BREACH). A response whose addresses are signed is therefore sent as it is.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.server.auth.keys import SIGNED_QUERY
from showandtell.server.content_codings import choose_coding
from showandtell.storage.blobs.zstd import zstd_module

#: Bytes below which a response gains too little.
MIN_BYTES: Final = 1024
#: Bytes above which a response is compressed in a thread: about a millisecond of work.
MAX_BYTES_AT_ONCE: Final = 128 * 1024
#: Fast: zlib's default takes more than twice as long, and saves a sixth.
GZIP_LEVEL: Final = 1
#: Makes zlib write gzip's header and checksum.
GZIP_WINDOW: Final = zlib.MAX_WBITS | 16


class JsonResponse(Response):
    """A JSON response that isn't cached."""

    media_type = "application/json"

    def __init__(self, body: bytes, status: int = 200) -> None:
        super().__init__(body, status, {"cache-control": "no-store"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, in the coding that the client prefers."""
        if len(self.body) >= MIN_BYTES and not SIGNED_QUERY.search(self.body):
            self.headers.add_vary_header("accept-encoding")
            coding = choose_coding(Headers(scope=scope), ("gzip",) if zstd_module() is None else ("zstd", "gzip"))
            if coding is not None:
                await self._compress(coding)
        await super().__call__(scope, receive, send)

    async def _compress(self, coding: str) -> None:
        body = bytes(self.body)
        is_long = len(body) > MAX_BYTES_AT_ONCE
        self.body = await asyncio.to_thread(compress, body, coding) if is_long else compress(body, coding)
        self.headers.update({"content-encoding": coding, "content-length": str(len(self.body))})


def compress(body: bytes, coding: str) -> bytes:
    """Compress a body with zstd, at its default level, or with gzip."""
    module = zstd_module() if coding == "zstd" else None
    return zlib.compress(body, GZIP_LEVEL, GZIP_WINDOW) if module is None else module.compress(body)
