"""Routes for a file's contents: bytes, thumbnail, pages, text, and the derivatives made for a model."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from showandtell.core.media_types.claims import suffix_of
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.conversion import (
    MAX_CHARACTERS,
    Conversion,
    serialize_conversion,
    text_conversion,
)
from showandtell.core.messages.derivations import Failed
from showandtell.core.messages.file_json import is_visual
from showandtell.errors import BadFile, DecoderBusy, FileChanged, NotFound, ShowAndTellError, TooBusy
from showandtell.media import gate
from showandtell.media.encodings import read_start
from showandtell.media.turns import caller
from showandtell.server.auth.authenticate import USER_KEY, CurrentUser
from showandtell.server.downloads import LimitedDownload
from showandtell.server.files.ranges import matches_etag
from showandtell.server.files.serving_files import ServedFile, StreamedFile, changed_response, file_response
from showandtell.server.schemas import BINARY, ErrorShape, errors
from showandtell.server.state import CurrentServer, Server, get_server
from showandtell.storage.blobs.threads import LONG_JOBS, run_long_job
from showandtell.storage.conversations.derived_files import convert, convert_page, find_derivative
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.uploads import Upload
from showandtell.storage.files.convert import WAIT_SECONDS

#: Maximum pixels of a page's longer side.
MAX_PAGE_SIDE: Final = 1568
#: Conversions to text by kind of file; the others use `text`.
TEXT_CONVERSIONS: Final = {"audio": "transcript", "video": "transcript"}
#: OpenAPI media type object of text.
TEXT_CONTENT: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "Invoice 2026-117\nTotal: 1,204.50\n"}


class StoredFileRoute(APIRoute):
    """A route that serves stored bytes. Responds with 404 if they have changed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler to catch `FileChanged`."""
        handle = super().get_route_handler()

        async def handle_changes(request: Request) -> Response:
            try:
                return await handle(request)
            except FileChanged as error:
                server = await get_server(request)
                await recheck(server.store, request.scope[USER_KEY].name, request.path_params["id"])
                return changed_response(error)

        return handle_changes


router = APIRouter(prefix="/api/attachments", tags=["attachments"], route_class=StoredFileRoute)

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Response]])


def route(
    path: str, operation: str, summary: str, media_type: str, media: dict[str, Any] = BINARY
) -> Callable[[Endpoint], Endpoint]:
    """Add a route for GET and HEAD."""
    content = {media_type: media}
    responses: dict[int | str, dict[str, Any]] = {
        200: {"description": "the full content", "content": content},
        206: {"description": "the requested range", "content": content},
        304: {"description": "not modified"},
        **errors(404),
        416: {"description": "the range starts after the end", "model": ErrorShape},
    }

    def add(endpoint: Endpoint) -> Endpoint:
        options: dict[str, Any] = {"operation_id": operation, "summary": summary, "responses": responses}
        router.add_api_route(path, endpoint, methods=["GET"], response_class=Response, **options)
        router.add_api_route(path, endpoint, methods=["HEAD"], include_in_schema=False)
        return endpoint

    return add


class ContentRequest(Struct, frozen=True):
    """A request of a user for the contents of a file: its id, name, facts about its bytes, and its owner."""

    request: Request
    server: Server
    user: str
    id: str
    owner: str
    name: str
    facts: Facts

    @property
    def store(self) -> Store:
        """The store with the file."""
        return self.server.store

    def served(self, facts: Facts, name: str, tag: str | None = None) -> ServedFile:
        """Return stored bytes of this owner as a `ServedFile`."""
        blobs = self.store.blobs.for_owner(self.owner)
        return ServedFile(
            partial(blobs.open, facts),
            facts.size,
            name,
            facts.media_type,
            tag or facts.sha256,
            encoding=facts.encoding or "utf-8",
            when_changed=partial(recheck, self.store, self.user, self.id),
        )

    def respond(self, data: bytes, media_type: str, tag: str, extra: dict[str, str] | None = None) -> Response:
        """Return a response with generated bytes."""
        name = stem(self.name) + suffix_of(media_type)
        return self.download(ServedFile(lambda: io.BytesIO(data), len(data), name, media_type, tag, extra or {}))

    def download(self, file: ServedFile, *, attached: bool = False) -> Response:
        """Return the response with a file, one of a limited number that the user may have open at a time."""
        response = file_response(self.request, file, download=attached)
        if self.request.method == "HEAD" or not isinstance(response, StreamedFile):
            return response
        return LimitedDownload(response, self.server.downloads, self.user)

    def not_modified(self, tag: str) -> Response | None:
        """Return the 304 response if the client has this version, else None."""
        return self.respond(b"", "image/webp", tag) if matches_etag(self.request.headers, f'"{tag}"') else None


async def find_content(id: str, request: Request, server: CurrentServer, user: CurrentUser) -> ContentRequest:  # noqa: A002 - it is an id
    """Return a file that this user may read. Raises `NotFound`, also for a file without bytes."""
    file = await server.store.uploads(user.name).find(id)
    if isinstance(file, Upload):
        return ContentRequest(request, server, user.name, id, file.owner, file.name, file.facts)
    attachment = file.attachment
    if attachment.facts is None:
        raise NotFound(f"{attachment.name} has no stored bytes: {attachment.problem or 'it is a URL'}")
    return ContentRequest(request, server, user.name, id, file.owner, attachment.name, attachment.facts)


File: TypeAlias = Annotated[ContentRequest, Depends(find_content)]
Download: TypeAlias = Annotated[bool, Query(description="send the file as a download, never for display")]


@route("/{id}/content", "get_content", "The bytes of a file", "*/*")
async def send_content(file: File, *, download: Download = False) -> Response:
    """Unchanged bytes. Browsers display only types that are safe, and download all others."""
    return file.download(file.served(file.facts, file.name), attached=download)


@route("/{id}/content/{name:path}", "get_named_content", "The bytes of a file, at a URL with its name", "*/*")
async def send_named_content(file: File, name: str, *, download: Download = False) -> Response:
    """The name is for saving the file; the server ignores it."""
    del name
    return await send_content(file, download=download)


@route("/{id}/thumbnail", "get_thumbnail", "A thumbnail of up to 320 pixels", "image/*")
async def send_thumbnail(file: File) -> Response:
    """Shows an image, an SVG, the first page of a PDF or the middle of a video. Made once and stored with the file."""
    tag = f"{file.facts.sha256}-thumbnail"
    if unchanged := file.not_modified(tag):
        return unchanged
    if not is_visual(file.facts):
        raise NotFound(f"{file.name} has no thumbnail: it is neither an image, a video nor a PDF")
    result = await convert(file.store, file.owner, file.facts, "thumbnail")
    if isinstance(result, Failed):
        raise NotFound(f"{file.name} has no thumbnail: it {result.reason}")
    thumbnail = result.files[0]
    return file_response(file.request, file.served(thumbnail, stem(file.name) + suffix_of(thumbnail.media_type), tag))


@route("/{id}/pages/{number}", "get_page", "A page of a PDF, or an SVG, as an image", "image/webp")
async def send_page(file: File, number: int) -> Response:
    """Up to 1568 pixels. Up to 100 pages of a file are stored with it, once shown. An SVG is its own page 1."""
    is_svg = file.facts.media_type == "image/svg+xml"
    if not 1 <= number <= (1 if is_svg else file.facts.pages or 0):
        raise NotFound(f"{file.name} has no page {number}: it has {file.facts.pages or 'none'}")
    tag = f"{file.facts.sha256}-page-{number}"
    if unchanged := file.not_modified(tag):
        return unchanged
    conversion = Conversion("image") if is_svg else Conversion("pages", max_count=1, pages=(number,))
    recipe = serialize_conversion(structs.replace(conversion, types=("image/webp",), side=MAX_PAGE_SIDE))
    result = await convert_page(file.store, file.owner, file.facts, recipe)
    if isinstance(result, Failed):
        raise NotFound(f"page {number} of {file.name} {result.reason}")
    if result is not None:
        return file.download(file.served(result.files[0], f"{stem(file.name)}.webp", tag))
    try:
        async with file.store.conversion_turns.awaited(caller.get().owner, WAIT_SECONDS) as place:
            data = await asyncio.wrap_future(place.keep_for(LONG_JOBS.submit(render_image, file, recipe)))
    except DecoderBusy as error:
        text = f"page {number} of {file.name} {error.problem}: {error.advice}"
        raise TooBusy(text, retry_after=error.retry_after) from None
    except BadFile as error:
        raise NotFound(f"page {number} of {file.name} {error.problem}: {error.advice}") from None
    return file.respond(data, "image/webp", tag)


@route("/{id}/text", "get_text", "The text of a file", "text/plain", TEXT_CONTENT)
async def send_text(file: File) -> Response:
    """Up to 200,000 characters; `x-cut: 1` means that there is more. Audio and video give a transcript."""
    tag = f"{file.facts.sha256}-text"
    if unchanged := file.not_modified(tag):
        return unchanged
    if file.facts.kind == "image":
        raise NotFound(f"{file.name} has no text: it is an image")
    if file.facts.kind == "text" and file.facts.media_type != "text/html":
        text, cut = await run_long_job(read_text, file)
    else:
        conversion = TEXT_CONVERSIONS.get(file.facts.kind) or text_conversion(file.facts.encoding)
        result = await convert(file.store, file.owner, file.facts, conversion)
        if isinstance(result, Failed):
            raise NotFound(f"{file.name} has no text: it {result.reason}")
        text, cut = result.text, result.cut
    return file.respond((text or "").encode(), "text/plain", tag, {"x-cut": "1"} if cut else {})


@route("/{id}/variants/{sha256}", "get_variant", "A derivative of a file, made for a model", "*/*")
async def send_derivative(file: File, sha256: str) -> Response:
    """The bytes of a converted version of this file, by their SHA-256."""
    derivative = await find_derivative(file.store, file.owner, file.facts.sha256, sha256)
    if derivative is None:
        raise NotFound(f"{file.name} has no derivative with this hash")
    return file.download(file.served(derivative, stem(file.name) + suffix_of(derivative.media_type)))


async def recheck(store: Store, user: str, id: str) -> None:  # noqa: A002 - it is an id
    """Check a file whose bytes could not be read, so that its state tells everybody who has the conversation."""
    with suppress(ShowAndTellError):  # the file is gone meanwhile, or the store fails: the answer is the same
        file = await store.uploads(user).find(id)
        if not isinstance(file, Upload) and file.attachment.facts is not None:
            conversation = await store.open(file.conversation_id, file.owner)
            await conversation.check([file.attachment.facts])


def render_image(file: ContentRequest, recipe: str) -> bytes:
    """Convert the file to one image without storing it. Raises `BadFile`."""
    blobs = file.store.blobs.for_owner(file.owner)
    with blobs.local(file.facts) as path, TemporaryDirectory(prefix="showandtell-") as folder:
        return gate.make(path, file.facts.media_type, recipe, Path(folder)).files[0].read_bytes()


def read_text(file: ContentRequest) -> tuple[str, bool]:
    """The text of a text file, and whether there is more. Raises `StorageFailed` if the store hangs."""
    stored = file.store.blobs.for_owner(file.owner).open(file.facts)
    text = read_start(stored, file.facts.encoding or None, MAX_CHARACTERS + 1)
    return text[:MAX_CHARACTERS], len(text) > MAX_CHARACTERS


def stem(name: str) -> str:
    """Return a file name without its extension."""
    return Path(name).stem or "file"
