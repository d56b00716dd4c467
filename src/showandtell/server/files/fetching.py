"""The route that attaches the file at an address. `network.fetch` alone opens it, and it is stored like an upload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from fastapi import APIRouter, Depends
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.core.planning.labels import format_size
from showandtell.errors import BadInput, ShowAndTellError
from showandtell.network.attach import fetch_attachment
from showandtell.network.fetch import OnProgress, TooLargeToFetch
from showandtell.server import openapi_examples
from showandtell.server.answers import known_error_response, unexpected_error_response
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.files.attachments import file_json
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.files.receiving import FileTooLarge
from showandtell.server.files.serving_files import body_message, wait_for_disconnect
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.schemas import AttachmentShape, errors, json_response
from showandtell.server.state import CurrentServer, Server
from showandtell.server.temporary_files import storage_errors, temporary_folder
from showandtell.storage.conversations.uploads import Upload, Uploads
from showandtell.storage.uncancelled import run_to_completion, shielded

router = APIRouter(prefix="/api/attachments", tags=["attachments"])

#: Maximum bytes of a file at an address, if that of any file is higher: it is in a temporary folder until it is stored.
MAX_BYTES: Final = 256 << 20
#: Seconds for which a download waits for its turn.
TURN_SECONDS: Final = 30.0
#: Seconds between two reports of progress.
REPORT_SECONDS: Final = 0.25
LINES: Final = "application/x-ndjson"
ASK: Final = "ask who runs this server to allow it, or download the file and attach it"
PROGRESS: Final[dict[str, Any]] = {"received": 65_536, "size": 131_072}
STREAM: Final[dict[str, Any]] = {
    "description": "lines of JSON, if the client accepts them",
    "content": {LINES: {"schema": {"type": "string"}, "example": msgspec.json.encode(PROGRESS).decode() + "\n"}},
}

Attach: TypeAlias = Callable[[OnProgress], Awaitable[dict[str, Any]]]


class NotAllowed(BadInput):
    """This server attaches no addresses."""

    status: Final = 403


class FileAddress(Struct, forbid_unknown_fields=True):
    """The address of a file."""

    url: Annotated[str, Meta(min_length=1, max_length=8192)]


@router.post(
    "/fetch",
    operation_id="attach_address",
    summary="Attach the file at an address",
    status_code=201,
    response_model=AttachmentShape,
    responses={200: STREAM, **errors(413, 422, 507)},
    openapi_extra=describe_body(FileAddress, {"url": openapi_examples.FILE_ADDRESS}),
)
async def attach_address(
    request: Request,
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
    body: Annotated[FileAddress, Depends(json_body(FileAddress))],
) -> Response:
    """The server fetches the file, from public hosts by https alone, and stores it like an upload.

    A client that accepts `application/x-ndjson` gets lines with `received` and `size` (null if unknown) while the file
    arrives, and one with `attachment`, or with `error` and `status`, at the end. Disconnecting cancels it.
    """
    if not server.config.may_attach_addresses:
        raise NotAllowed("this server fetches no addresses: download the file and attach it")
    uploads = server.store.uploads(user.name)

    async def attach(on_progress: OnProgress) -> dict[str, Any]:
        async with server.fetches.awaited(user.name, TURN_SECONDS):
            return file_json(await fetch_upload(server, uploads, body.url, on_progress), link)

    if LINES in request.headers.get("accept", ""):
        return ProgressLines(request, attach)
    async with while_connected(attach(Progress().report), request.receive) as (work, gone):
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Response(status_code=499)  # the client is gone: only metrics and logs see this
        return json_response(work.result(), 201)


async def fetch_upload(server: Server, uploads: Uploads, url: str, on_progress: OnProgress) -> Upload:
    """Fetch a file and store it as an upload. Raises `BadFile` or `FileTooLarge` in words for people."""
    limit = min(server.store.max_file_bytes, MAX_BYTES)
    async with temporary_folder() as folder:
        try:
            with storage_errors():
                file = await fetch_attachment(
                    url,
                    folder,
                    max_bytes=limit,
                    policy=server.config.file_policy.fetch,
                    dialer=server.config.dialer,
                    on_progress=on_progress,
                    ask=ASK,
                )
        except TooLargeToFetch as error:
            text = f"{error.name} sends more than {format_size(limit)}, the limit for a file: attach a smaller one"
            raise FileTooLarge(text) from None
        cancelled, upload = await run_to_completion(uploads.add(file))
    if cancelled is not None:
        await shielded(uploads.delete(upload.id))
        raise cancelled
    return upload


class Progress:
    """How much of a file has arrived, and its size if the host announced it."""

    def __init__(self) -> None:
        self.received, self.size = 0, None

    def report(self, received: int, size: int | None) -> None:
        """Remember the latest progress."""
        self.received, self.size = received, size


@asynccontextmanager
async def while_connected(
    work: Awaitable[dict[str, Any]], receive: Receive
) -> AsyncGenerator[tuple[asyncio.Future[dict[str, Any]], asyncio.Future[None]]]:
    """Start work, and yield it with what ends once the client is gone. Both are cancelled and over at the end."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect(receive))
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class ProgressLines(Response):
    """Lines of JSON: the progress of work, and its result or error at the end."""

    media_type = LINES

    def __init__(self, request: Request, attach: Attach) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._request, self._attach = request, attach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do the work, and report it until the client is gone."""
        del scope
        progress = Progress()
        async with while_connected(self._attach(progress.report), receive) as (work, gone):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while not (work.done() or gone.done()):
                await send(line({"received": progress.received, "size": progress.size}))
                await asyncio.wait({work, gone}, timeout=REPORT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await send(line(await outcome(self._request, work), more=False))


def line(value: dict[str, Any], *, more: bool = True) -> dict[str, Any]:
    """The ASGI message with one line."""
    return body_message(msgspec.json.encode(value) + b"\n", more=more)


async def outcome(request: Request, work: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
    """The last line: the file, or the status and the body of the error's own response."""
    try:
        return {"attachment": work.result()}
    except ShowAndTellError as error:
        problem = await known_error_response(request, error)
    except Exception as error:  # noqa: BLE001 - the response has begun
        problem = await unexpected_error_response(request, error)
    return {"status": problem.status_code, **msgspec.json.decode(problem.body)}
