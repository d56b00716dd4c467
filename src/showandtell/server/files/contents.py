"""Routes of what is in a file: its bytes, a small picture, pages, words, and what was made of it for a model."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from showandtell.core.media_types.claims import name_ending
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.conversion import Conversion, spell
from showandtell.core.messages.derivations import Failed
from showandtell.errors import BadFile, FileChanged, NotFound
from showandtell.media import gate
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.files.ranges import has_it
from showandtell.server.files.serving_files import Served, answer_file, refuse
from showandtell.server.schemas import BYTES, ErrorShape, errors, is_pictured
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.derived_files import convert, find_variant
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.uploads import Upload

#: Up to how many pixels a page's longer side has.
PAGE_SIDE: Final = 1568
#: What becomes words for people otherwise than by reading them.
WORDS: Final = {"audio": "transcript", "video": "transcript"}
#: What words look like.
READ: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "Invoice 2026-117\nTotal: 1,204.50\n"}


class StoredFileRoute(APIRoute):
    """A route about stored bytes, which may not be what they were any more."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI asks for it."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except FileChanged as error:
                return refuse(error)

        return answer


router = APIRouter(prefix="/api/attachments", tags=["attachments"], route_class=StoredFileRoute)

Work = TypeVar("Work", bound=Callable[..., Awaitable[Response]])


def route(
    path: str, operation: str, summary: str, media_type: str, told: dict[str, Any] = BYTES
) -> Callable[[Work], Work]:
    """A route that is asked by GET, and by HEAD."""
    content = {media_type: told}
    found: dict[int | str, dict[str, Any]] = {
        200: {"description": "all of it", "content": content},
        206: {"description": "the range that was asked for", "content": content},
        304: {"description": "it is what the client has"},
        **errors(404),
        416: {"description": "the range lies behind the end", "model": ErrorShape},
    }

    def add(work: Work) -> Work:
        own: dict[str, Any] = {"operation_id": operation, "summary": summary, "responses": found}
        router.add_api_route(path, work, methods=["GET"], response_class=Response, **own)
        router.add_api_route(path, work, methods=["HEAD"], include_in_schema=False)
        return work

    return add


class ContentRequest(Struct, frozen=True):
    """A file whose bytes are asked for: its name, its proved bytes, and whose they are."""

    request: Request
    store: Store
    owner: str
    name: str
    facts: Facts

    def served(self, facts: Facts, name: str, tag: str | None = None) -> Served:
        """Stored bytes of the same owner, as they leave."""
        blobs = self.store.blobs.of(self.owner)
        return Served(partial(blobs.open, facts), facts.size, name, facts.media_type, tag or facts.sha256)

    def made(self, data: bytes, media_type: str, tag: str, extra: dict[str, str] | None = None) -> Response:
        """The answer with bytes that were made just now."""
        name = stem(self.name) + name_ending(media_type)
        return answer_file(
            self.request, Served(lambda: io.BytesIO(data), len(data), name, media_type, tag, extra or {})
        )

    def knows(self, tag: str) -> Response | None:
        """The answer to a client that has this already: nothing is made for it."""
        return self.made(b"", "image/webp", tag) if has_it(self.request.headers, f'"{tag}"') else None


async def find_asked(id: str, request: Request, here: CurrentServer, user: CurrentUser) -> ContentRequest:  # noqa: A002 - it is one
    """The file of an id, which this user may read. Raises `NotFound`, also where it has no bytes any more."""
    found = await here.store.uploads(user.name).find(id)
    if isinstance(found, Upload):
        return ContentRequest(request, here.store, found.owner, found.name, found.facts)
    one = found.attachment
    if one.facts is None:
        raise NotFound(f"{one.name} has no bytes here: {one.problem or 'it is an address'}")
    return ContentRequest(request, here.store, found.owner, one.name, one.facts)


File: TypeAlias = Annotated[ContentRequest, Depends(find_asked)]
Download: TypeAlias = Annotated[bool, Query(description="to be saved, and not shown")]


@route("/{id}/content", "get_content", "The bytes of a file", "*/*")
async def send_content(file: File, *, download: Download = False) -> Response:
    """As they are; a browser shows by itself only what is harmless."""
    return answer_file(file.request, file.served(file.facts, file.name), download=download)


@route("/{id}/content/{name:path}", "get_named_content", "The bytes of a file, by an address with its name", "*/*")
async def send_named_content(file: File, name: str, *, download: Download = False) -> Response:
    """The name is for whoever saves it, and not looked at."""
    del name
    return await send_content(file, download=download)


@route("/{id}/thumbnail", "get_thumbnail", "A small picture, up to 320 pixels", "image/*")
async def send_thumbnail(file: File) -> Response:
    """Of an image, of an SVG, of a PDF's first page, of a film's middle; it is made once, and kept with the file."""
    tag = f"{file.facts.sha256}-thumbnail"
    if known := file.knows(tag):
        return known
    if not is_pictured(file.facts):
        raise NotFound(f"{file.name} has no small picture: there is nothing to see in it")
    found = await convert(file.store, file.owner, file.facts, "thumbnail")
    if isinstance(found, Failed):
        raise NotFound(f"{file.name} has no small picture: it {found.reason}")
    small = found.files[0]
    return answer_file(file.request, file.served(small, stem(file.name) + name_ending(small.media_type), tag))


@route("/{id}/pages/{number}", "get_page", "A page of a PDF, or an SVG, as a picture", "image/webp")
async def send_page(file: File, number: int) -> Response:
    """Up to 1568 pixels, drawn when it is asked for. An SVG is its own page 1."""
    drawing = file.facts.media_type == "image/svg+xml"
    if not 1 <= number <= (1 if drawing else file.facts.pages or 0):
        raise NotFound(f"{file.name} has no page {number}: it has {file.facts.pages or 'none'}")
    tag = f"{file.facts.sha256}-page-{number}"
    if known := file.knows(tag):
        return known
    one = Conversion("image") if drawing else Conversion("pages", most=1, only=(number,))
    recipe = spell(structs.replace(one, types=("image/webp",), side=PAGE_SIDE))
    try:
        async with file.store.making:
            data = await asyncio.to_thread(make_one, file, recipe)
    except BadFile as error:
        raise NotFound(f"page {number} of {file.name} {error.problem}: {error.advice}") from None
    return file.made(data, "image/webp", tag)


@route("/{id}/text", "get_text", "The words of a file", "text/plain", READ)
async def send_text(file: File) -> Response:
    """Up to 200,000 characters; `x-cut: 1` says that there are more. Of sound and film, what is said in them."""
    tag = f"{file.facts.sha256}-text"
    if known := file.knows(tag):
        return known
    if file.facts.kind == "image":
        raise NotFound(f"{file.name} has no words to show: it is a picture")
    if file.facts.kind == "text" and file.facts.media_type != "text/html":
        made = await asyncio.to_thread(read_words, file)
        text, cut = made.text, made.cut
    else:
        found = await convert(file.store, file.owner, file.facts, WORDS.get(file.facts.kind, "text"))
        if isinstance(found, Failed):
            raise NotFound(f"{file.name} has no words to show: it {found.reason}")
        text, cut = found.text, found.cut
    return file.made((text or "").encode(), "text/plain", tag, {"x-cut": "1"} if cut else {})


@route("/{id}/variants/{sha256}", "get_variant", "What was made of a file for a model", "*/*")
async def send_variant(file: File, sha256: str) -> Response:
    """The bytes of a conversion of this file, by their hash."""
    made = await find_variant(file.store, file.owner, file.facts.sha256, sha256)
    if made is None:
        raise NotFound(f"nothing of that hash was made of {file.name}")
    return answer_file(file.request, file.served(made, stem(file.name) + name_ending(made.media_type)))


def make_one(file: ContentRequest, recipe: str) -> bytes:
    """The one picture that a recipe makes; it is kept nowhere. Raises `BadFile`."""
    blobs = file.store.blobs.of(file.owner)
    with blobs.local(file.facts) as path, TemporaryDirectory(prefix="showandtell-") as folder:
        return gate.make(path, file.facts.media_type, recipe, Path(folder)).files[0].read_bytes()


def read_words(file: ContentRequest) -> gate.Made:
    """The words of a text."""
    with file.store.blobs.of(file.owner).local(file.facts) as path:
        return gate.make(path, file.facts.media_type, "text", path.parent)


def stem(name: str) -> str:
    """A name without its ending."""
    return Path(name).stem or "file"
