"""The page: built files that are served as they are, and one document for every address of the page itself."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from showandtell.server.answers import answer_http
from showandtell.server.auth.authenticate import enter
from showandtell.server.auth.error_pages import HOME, closed
from showandtell.server.middleware.origin_guard import READING

#: Where the build puts the page, and the wheel has it.
BUILT = Path(__file__).parent / "page"
#: The addresses of the page; what stands behind them is the page's own business.
ADDRESSES = ("/", "/c/{conversation_id}", "/matrix", "/settings")
#: A file whose name holds its hash never changes.
FOR_EVER = "public, max-age=31536000, immutable"
UNBUILT = "the page is not built here: run `make page`, or install a release; the API is there all the same"


class Assets(StaticFiles):
    """Files with their hash in their name."""

    def file_response(self, *args: object, **settings: object) -> Response:
        """As it is, to be kept for ever."""
        found = super().file_response(*args, **settings)  # pyright: ignore[reportArgumentType] - handed on
        found.headers["cache-control"] = FOR_EVER
        return found


def page_router(built: Path) -> APIRouter:
    """The routes of the page."""
    router = APIRouter(include_in_schema=False)

    async def show(request: Request) -> Response:
        entered = await enter(request)
        if entered is not None:
            return entered
        document = built / "index.html"
        if not document.is_file():
            raise HTTPException(503, UNBUILT)
        return FileResponse(document, headers={"cache-control": "no-cache"})

    for address in ADDRESSES:
        router.add_api_route(address, show, methods=["GET"])
    return router


async def answer_nothing(request: Request, error: Exception) -> Response:
    """There is nothing at an address: to a person it is told by a page that leads to the chat, to a program as JSON."""
    opened = request.method in READING and "text/html" in request.headers.get("accept", "")
    if not opened or request.url.path.startswith("/api/"):
        return await answer_http(request, error)
    return closed("Nothing here", "There is nothing at this address.", HOME, 404)
