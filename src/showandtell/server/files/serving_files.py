"""The one way by which bytes of files leave: what their headers say, which part of them, in pieces from a thread.

A file of a stranger may be anything: it is shown by the browser only where its proved type is harmless there, and as
a document of its own it may do nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.errors import FileChanged, NotFound
from showandtell.server.files.moving import move
from showandtell.server.files.ranges import Unsatisfiable, choose_span, has_it
from showandtell.server.middleware.origin_guard import UPLOADS, guards_of
from showandtell.server.middleware.refusals import Problem
from showandtell.storage.uncancelled import run_to_completion, shielded

#: So much is read and sent at a time.
PIECE: Final = 256 * 1024
#: What leaves under its own type, and as what.
SHOWN: Final = {
    one: one
    for one in (
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/avif",
        "application/pdf",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "audio/webm",
        "video/mp4",
        "video/ogg",
        "video/quicktime",
        "video/webm",
        "video/x-matroska",
    )
} | {"text/plain": "text/plain; charset=utf-8"}
#: What keeps its type and is never shown: a browser's viewer runs the scripts of a PDF, whatever our policy says.
SAVED: Final = frozenset({"application/pdf"})
UNKNOWN: Final = "application/octet-stream"
#: The bytes of an id never change, but it may be deleted: so it isn't kept for ever. Another user's cookie asks anew.
KEPT: Final = {"cache-control": "private, max-age=3600, immutable", "vary": "cookie, authorization"}
#: What stands in a quoted name as it is, in every client's reading.
PLAIN: Final = re.compile(r"[^ !#$&'()+,.0-9=@A-Z\[\]^_`a-z{}~-]", re.ASCII)


class Served(Struct, frozen=True):
    """Bytes that may leave: how they are opened, how many, what they are called and are, and a tag that names them."""

    open: Callable[[], BinaryIO]
    size: int
    name: str
    media_type: str
    tag: str
    extra: Mapping[str, str] = {}

    @property
    def etag(self) -> str:
        """The tag as HTTP writes it."""
        return f'"{self.tag}"'


def disposition(name: str, *, inline: bool) -> str:
    """The Content-Disposition of a name, as RFC 6266 and RFC 8187 spell it: one line, in ASCII."""
    plain = PLAIN.sub("_", name) or "file"
    kind = "inline" if inline else "attachment"
    if plain == name:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


def headers_of(file: Served, *, download: bool) -> dict[str, str]:
    """What a file's own answers say."""
    shown = SHOWN.get(file.media_type)
    inline = shown is not None and file.media_type not in SAVED and not download
    return {
        **guards_of(UPLOADS),
        **KEPT,
        "etag": file.etag,
        "accept-ranges": "bytes",
        "content-type": shown or UNKNOWN,
        "content-disposition": disposition(file.name, inline=inline),
        **file.extra,
    }


def answer_file(request: Request, file: Served, *, download: bool = False) -> Response:
    """A file, a part of it, or the news that the client has it. It is opened when it is sent."""
    headers = headers_of(file, download=download)
    if has_it(request.headers, file.etag):
        headers.pop("content-type")
        return Response(status_code=304, headers=headers)
    try:
        span = choose_span(request.method, request.headers, file.etag, file.size)
    except Unsatisfiable:
        told = {"accept-ranges": "bytes", "content-range": f"bytes */{file.size}"}
        return Problem(416, "BadInput", f"the file ends at byte {file.size}: ask for a part before that", told)
    if span is None:
        return Sending(file, (0, file.size), 200, headers)
    headers["content-range"] = f"bytes {span[0]}-{span[1] - 1}/{file.size}"
    return Sending(file, span, 206, headers)


def refuse(error: FileChanged) -> Response:
    """Why there are no bytes: those that changed are as good as none."""
    return Problem(404, NotFound.__name__, str(error))


class Sending(Response):
    """Bytes on their way out: no more of them is held than a piece."""

    def __init__(self, file: Served, span: tuple[int, int], status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status_code=status, headers={**headers, "content-length": str(span[1] - span[0])})
        self._file, self._start, self._left = file, span[0], span[1] - span[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open, and send. Where the bytes are no longer what they were, nothing of them leaves."""
        try:
            cancelled, source = await run_to_completion(move(self._open))
        except FileChanged as error:
            return await refuse(error)(scope, receive, send)
        try:
            if cancelled is not None:
                raise cancelled
            await self._send(source, scope, receive, send)
        finally:
            await shielded(move(source.close))

    def _open(self) -> BinaryIO:
        source = self._file.open()
        if self._start:
            source.seek(self._start)
        return source

    async def _send(self, source: BinaryIO, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD" or not self._left:
            return await send(piece_of(b"", more=False))
        gone = asyncio.create_task(wait_gone(receive))
        try:
            while self._left and not gone.done():
                piece = await shielded(move(source.read, min(PIECE, self._left)))
                if not piece:
                    raise FileChanged(f"{self._file.name} ended early: its stored bytes have changed")
                self._left -= len(piece)
                await send(piece_of(piece, more=self._left > 0))
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone


def piece_of(data: bytes, *, more: bool) -> dict[str, Any]:
    """A piece as ASGI has it."""
    return {"type": "http.response.body", "body": data, "more_body": more}


async def wait_gone(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
