"""Serve the bytes of files: headers, ranges, and chunks read in a thread. No other module sends file bytes.

Files are untrusted. Browsers display a file only if its detected type is harmless, and a sandbox disables its scripts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.errors import FileChanged, NotFound
from showandtell.server.files.ranges import Unsatisfiable, choose_span, matches_etag
from showandtell.server.middleware.origin_guard import UPLOADS_PATH, security_headers
from showandtell.server.middleware.refusals import Problem
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.uncancelled import run_to_completion, shielded

#: Bytes to read and send at a time.
CHUNK: Final = 256 * 1024
#: Media types that are served as such, and their Content-Type.
CONTENT_TYPES: Final = {
    media_type: media_type
    for media_type in (
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
#: Never displayed: PDF viewers of browsers run the scripts of a PDF regardless of our policy.
DOWNLOAD_ONLY: Final = frozenset({"application/pdf"})
OCTET_STREAM: Final = "application/octet-stream"
#: The bytes of an id never change, but the file may be deleted, so caches expire. `vary` separates users.
CACHE_HEADERS: Final = {"cache-control": "private, max-age=3600, immutable", "vary": "cookie, authorization"}
#: Characters that not every client reads unchanged in a quoted file name.
UNQUOTABLE: Final = re.compile(r"[^ !#$&'()+,.0-9=@A-Z\[\]^_`a-z{}~-]", re.ASCII)


class ServedFile(Struct, frozen=True):
    """Bytes to serve: a function that opens them, their size, name and media type, and a tag of the version.

    `encoding` is that of text. `when_changed` is called if the stored bytes turn out to be missing or damaged.
    """

    open: Callable[[], BinaryIO]
    size: int
    name: str
    media_type: str
    tag: str
    extra: Mapping[str, str] = {}
    encoding: str = "utf-8"
    when_changed: Callable[[], Awaitable[None]] | None = None

    @property
    def etag(self) -> str:
        """The value of the ETag header."""
        return f'"{self.tag}"'


def disposition(name: str, *, inline: bool) -> str:
    """Return the Content-Disposition for a file name: one line of ASCII (RFC 6266, RFC 8187)."""
    ascii_name = UNQUOTABLE.sub("_", name) or "file"
    kind = "inline" if inline else "attachment"
    if ascii_name == name:
        return f'{kind}; filename="{ascii_name}"'
    return f"{kind}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


def headers_of(file: ServedFile, *, download: bool) -> dict[str, str]:
    """Return the headers of a response with the file."""
    content_type = CONTENT_TYPES.get(file.media_type)
    inline = content_type is not None and file.media_type not in DOWNLOAD_ONLY and not download
    return {
        **security_headers(UPLOADS_PATH),
        **CACHE_HEADERS,
        "etag": file.etag,
        "accept-ranges": "bytes",
        "content-type": (content_type or OCTET_STREAM).replace("charset=utf-8", f"charset={file.encoding}"),
        "content-disposition": disposition(file.name, inline=inline),
        **file.extra,
    }


def file_response(request: Request, file: ServedFile, *, download: bool = False) -> Response:
    """Return the response with a file or a range of it, or a 304. The file is opened when the response is sent."""
    headers = headers_of(file, download=download)
    if matches_etag(request.headers, file.etag):
        headers.pop("content-type")
        return Response(status_code=304, headers=headers)
    try:
        span = choose_span(request.method, request.headers, file.etag, file.size)
    except Unsatisfiable:
        range_headers = {"accept-ranges": "bytes", "content-range": f"bytes */{file.size}"}
        return Problem(416, "BadInput", f"the file has {file.size} bytes: request a range within them", range_headers)
    if span is None:
        return StreamedFile(file, (0, file.size), 200, headers)
    headers["content-range"] = f"bytes {span[0]}-{span[1] - 1}/{file.size}"
    return StreamedFile(file, span, 206, headers)


def changed_response(error: FileChanged) -> Response:
    """Return the 404 response for stored bytes that have changed."""
    return Problem(404, NotFound.__name__, str(error))


class StreamedFile(Response):
    """Streams a span of a file, one chunk in memory at a time."""

    def __init__(self, file: ServedFile, span: tuple[int, int], status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status_code=status, headers={**headers, "content-length": str(span[1] - span[0])})
        self._file, self._start, self._remaining = file, span[0], span[1] - span[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open the file and send it. If the stored bytes have changed, send a 404 instead."""
        try:
            cancelled, source = await run_to_completion(run_in_thread(self._open))
        except FileChanged as error:
            if self._file.when_changed is not None:
                await self._file.when_changed()
            return await changed_response(error)(scope, receive, send)
        try:
            if cancelled is not None:
                raise cancelled
            await self._send(source, scope, receive, send)
        finally:
            await shielded(run_in_thread(source.close))

    def _open(self) -> BinaryIO:
        source = self._file.open()
        if self._start:
            source.seek(self._start)
        return source

    async def _send(self, source: BinaryIO, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD" or not self._remaining:
            return await send(body_message(b"", more=False))
        disconnected = asyncio.create_task(wait_for_disconnect(receive))
        try:
            while self._remaining and not disconnected.done():
                chunk = await shielded(run_in_thread(source.read, min(CHUNK, self._remaining)))
                if not chunk:
                    raise FileChanged(f"{self._file.name} ended early: the stored bytes have changed")
                self._remaining -= len(chunk)
                await send(body_message(chunk, more=self._remaining > 0))
        finally:
            disconnected.cancel()
            with suppress(asyncio.CancelledError):
                await disconnected


def body_message(data: bytes, *, more: bool) -> dict[str, Any]:
    """Return the ASGI message for a chunk."""
    return {"type": "http.response.body", "body": data, "more_body": more}


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
