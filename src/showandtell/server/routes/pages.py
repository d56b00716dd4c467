"""Serve the built page: its assets, and one document for all of its paths."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from showandtell.server.addresses import public_path
from showandtell.server.answers import http_error_response
from showandtell.server.auth.authenticate import require_login
from showandtell.server.auth.error_pages import chat_link, message_page
from showandtell.server.content_codings import choose_coding
from showandtell.server.middleware.origin_guard import PAGE_PERMISSIONS, SAFE_METHODS

#: Output folder of the build, also in the wheel.
BUILT = Path(__file__).parents[1] / "page"
#: Paths that the page routes itself.
PAGE_PATHS = ("/", "/c/{conversation_id}", "/files", "/matrix", "/settings")
#: Where the document says below which prefix the page is.
NO_PREFIX = 'name="prefix" content=""'
#: Headers of the document, which changes with each version.
DOCUMENT_HEADERS = {"cache-control": "no-cache", "permissions-policy": PAGE_PERMISSIONS}
#: A file with its hash in its name never changes.
CACHE_FOREVER = "public, max-age=31536000, immutable"
#: Content codings, best first, and how the names of the files end that are in them.
FORMS = {"br": ".br", "gzip": ".gz"}
#: The document that draws diagrams (web/diagrams.ts). Its name holds the hash of its only script.
DIAGRAMS = re.compile(r"diagrams-([\w-]{43})\.html", re.ASCII)
NOT_BUILT = "the page is not built: run `make page`, or install a release; the API works without it"


class Assets(StaticFiles):
    """Static files with their hash in their name. Their compressed forms are files, too, written by the build."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file in the form that the client prefers, cacheable forever."""
        coding = choose_coding(Headers(scope=scope), tuple(FORMS))
        try:
            response = await super().get_response(path + FORMS[coding] if coding else path, scope)
        except HTTPException as error:
            if coding is None or error.status_code != 404:
                raise
            coding, response = None, await super().get_response(path, scope)  # too small to be compressed
        response.headers.update({"cache-control": CACHE_FOREVER, "vary": "accept-encoding"})
        if match := DIAGRAMS.fullmatch(path):
            response.headers.update(frame_headers(match[1]))
        if coding is not None and response.status_code == 200:
            response.headers["content-encoding"] = coding
        return response


def frame_headers(script: str) -> dict[str, str]:
    """Return the headers of a document that runs one script, of which this is the SHA-256 in base64url.

    The page may frame it. It has no origin, so that `'self'` would name nobody, and can load nothing.
    """
    script = script.replace("-", "+").replace("_", "/")
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'sha256-{script}='; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    # The older header, for hosts that add one to every response that has none.
    return {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}


def page_router(built: Path) -> APIRouter:
    """Return the routes of the page in the folder `built`."""
    router = APIRouter(include_in_schema=False)

    async def show(request: Request) -> Response:
        login = await require_login(request)
        if login is not None:
            return login
        document = built / "index.html"
        if not document.is_file():
            raise HTTPException(503, NOT_BUILT)
        return HTMLResponse(place_below(public_path(request.scope, ""), document.read_text()), headers=DOCUMENT_HEADERS)

    for path in PAGE_PATHS:
        router.add_api_route(path, show, methods=["GET"])
    return router


def place_below(prefix: str, document: str) -> str:
    """Return the document for a page below a prefix: its assets' addresses, and the prefix for its scripts."""
    return document.replace('"./assets/', f'"{escape(prefix)}/assets/').replace(
        NO_PREFIX, f'name="prefix" content="{escape(prefix)}"'
    )


async def respond_not_found(request: Request, error: Exception) -> Response:
    """Respond to an unknown path: a page with a link to the chat for browsers, JSON for other clients."""
    is_page = request.method in SAFE_METHODS and "text/html" in request.headers.get("accept", "")
    if not is_page or request.scope["path"].startswith("/api/"):
        return await http_error_response(request, error)
    return message_page("Page not found", "There is no page at this address.", chat_link(request.scope), 404)
