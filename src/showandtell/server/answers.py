"""How errors are answered: each as JSON, with a status that says whose it is and words that say what to do."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from showandtell.core.messages.ids import new_id
from showandtell.errors import (
    BadInput,
    Busy,
    NotFound,
    ShowAndTellError,
    StorageFailed,
    StorageFull,
    UnsupportedFile,
)
from showandtell.server.auth.authenticate import Unauthorised
from showandtell.server.middleware.origin_guard import guards_of
from showandtell.server.middleware.refusals import Problem

log = logging.getLogger(__name__)

#: The status of each error, the narrowest class first. One that says its own status has that.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotFound, 404),
    (Busy, 409),
    (StorageFull, 507),
    (StorageFailed, 503),
    (UnsupportedFile, 422),
    (BadInput, 422),
)
FULL = "this server has no room left, and nothing was stored: tell who runs it; the log knows it as {id}"
FAILED = "what this server keeps is out of reach, and nothing was stored: try again; the log knows it as {id}"
SELF = "the program itself failed"
UNKNOWN = "something went wrong here, and not in what you sent: try again; the log knows it as {id}"


def status_of(error: Exception) -> int:
    """The HTTP status of an error."""
    own = getattr(error, "status", None)
    if isinstance(own, int) and own >= 400:
        return own
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def told_of(error: Exception) -> str:
    """What anybody may read of an error: where something is kept, and what a database said, stands in the log alone."""
    if not isinstance(error, StorageFailed):
        return str(error) if isinstance(error, ShowAndTellError) else SELF
    number = new_id("error")
    log.warning("error %s: %s", number, error)
    return (FULL if isinstance(error, StorageFull) else FAILED).format(id=number)


async def answer_ours(_: Request, error: Exception) -> Response:
    """An error of ours says itself what to do."""
    told = told_of(error)
    headers = {"www-authenticate": error.challenge} if isinstance(error, Unauthorised) else None
    return Problem(status_of(error), type(error).__name__, told, headers)


async def answer_unknown(request: Request, error: Exception) -> Response:
    """Any other is told by a number, and stands in the log."""
    number = new_id("error")
    log.error("request %s failed", number, exc_info=error)
    headers = guards_of(request.scope["path"])  # it is made outside the gate, which knows nothing of it
    return Problem(500, "ServerError", UNKNOWN.format(id=number), headers)


async def answer_http(_: Request, error: Exception) -> Response:
    """What the framework itself refuses: no such route, not by this method."""
    if not isinstance(error, HTTPException):
        raise error
    words = {
        400: "the body can't be read: send JSON, or a form with files",
        404: "there is nothing at this address",
        405: "this address is not asked that way",
    }
    kinds = {404: "NotFound", 405: "BadInput"}
    told = words.get(error.status_code, error.detail)
    return Problem(error.status_code, kinds.get(error.status_code, "BadInput"), told, dict(error.headers or {}))


async def answer_invalid(_: Request, error: Exception) -> Response:
    """A body or a query that isn't what the route takes: where, and what is wrong there; never what was sent."""
    if not isinstance(error, RequestValidationError):
        raise error
    told = [f"{place_of(one['loc'])}: {one['msg'][:200]}" for one in error.errors()[:5]]
    return Problem(422, "BadInput", "; ".join(told))


def place_of(where: tuple[int | str, ...]) -> str:
    """Where something is wrong, in a few letters: a field that nobody knows may be called anything."""
    return ".".join(str(one)[:40] for one in where[1:6]) or str(where[0])


def answer_errors(app: FastAPI) -> None:
    """Let an application answer so."""
    app.add_exception_handler(ShowAndTellError, answer_ours)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(Exception, answer_unknown)
