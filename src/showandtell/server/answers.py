"""Error responses: JSON with a status, and a message that says what to do."""

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
    DecoderBusy,
    NotFound,
    ShowAndTellError,
    StorageFailed,
    StorageFull,
    TooBusy,
    UnsupportedFile,
)
from showandtell.server.auth.error_pages import FREE_SPACE, TRY_AGAIN, message_page
from showandtell.server.auth.errors import Unauthorised
from showandtell.server.middleware.origin_guard import security_headers
from showandtell.server.middleware.rate_limits import is_browser
from showandtell.server.middleware.refusals import Problem
from showandtell.storage.database.calls import NoAnswer

log = logging.getLogger(__name__)

#: The status of each error class, narrowest first. An error with a `status` of its own keeps it.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotFound, 404),
    (Busy, 409),
    (StorageFull, 507),
    (StorageFailed, 503),
    (UnsupportedFile, 422),
    (BadInput, 422),
)
STORAGE_FULL = "the server has no space left, and nothing was stored: tell its administrator ({id} in the log)"
STORAGE_FAILED = "the server's storage is not available, and nothing was stored: try again ({id} in the log)"
MAY_BE_STORED = "the server's storage did not answer, and this may or may not be stored: try again ({id} in the log)"
#: Seconds after which a client may try again what failed because of the storage.
RETRY_AFTER = 5
INTERNAL_ERROR = "internal server error"
UNEXPECTED_ERROR = "internal server error: try again ({id} in the log)"


def status_of(error: Exception) -> int:
    """The HTTP status of an error."""
    status = getattr(error, "status", None)
    if isinstance(status, int) and status >= 400:
        return status
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def public_message(error: Exception) -> str:
    """An error's text for clients. Paths and database errors go to the log alone."""
    if not isinstance(error, StorageFailed):
        return str(error) if isinstance(error, ShowAndTellError) else INTERNAL_ERROR
    error_id = new_id("error")
    log.warning("error %s: %s", error_id, error)
    if error.may_be_stored:
        return MAY_BE_STORED.format(id=error_id)
    return (STORAGE_FULL if isinstance(error, StorageFull) else STORAGE_FAILED).format(id=error_id)


def public_name(error: Exception) -> str:
    """The name of an error's class for clients. Classes that aren't public go by the name of their base."""
    return (StorageFailed if isinstance(error, NoAnswer) else type(error)).__name__


def retry_header(error: Exception) -> dict[str, str]:
    """The header with the seconds to wait, of an error for which waiting may help."""
    if isinstance(error, TooBusy | DecoderBusy):
        return {"retry-after": str(error.retry_after)}
    return {"retry-after": str(RETRY_AFTER)} if isinstance(error, StorageFailed) and status_of(error) == 503 else {}


async def known_error_response(request: Request, error: Exception) -> Response:
    """Respond to an error of this library: its own text says what to do. A person who opened a page gets a page."""
    headers = {"www-authenticate": error.challenge} if isinstance(error, Unauthorised) else retry_header(error)
    if isinstance(error, StorageFailed) and is_browser(request):
        is_full, problem = isinstance(error, StorageFull), public_message(error)
        title = "No space left" if is_full else "The storage is not available"
        page = message_page(
            title, problem[:1].upper() + problem[1:] + ".", FREE_SPACE if is_full else TRY_AGAIN, status_of(error)
        )
        page.headers.update(headers)
        return page
    return Problem(status_of(error), public_name(error), public_message(error), headers)


async def unexpected_error_response(request: Request, error: Exception) -> Response:
    """Respond to any other error with an id that is also in the log."""
    error_id = new_id("error")
    log.error("request %s failed", error_id, exc_info=error)
    headers = security_headers(request.scope["path"])  # this response bypasses the middleware that adds them
    return Problem(500, "ServerError", UNEXPECTED_ERROR.format(id=error_id), headers)


async def http_error_response(_: Request, error: Exception) -> Response:
    """Respond to what the framework rejects, such as unknown routes and methods."""
    if not isinstance(error, HTTPException):
        raise error
    messages = {
        400: "the body can't be read: send JSON, or a form with files",
        404: "there is nothing at this URL",
        405: "this URL does not support the request method",
    }
    kinds = {404: "NotFound", 405: "BadInput"}
    message = messages.get(error.status_code, error.detail)
    return Problem(error.status_code, kinds.get(error.status_code, "BadInput"), message, dict(error.headers or {}))


async def invalid_request_response(_: Request, error: Exception) -> Response:
    """Respond to an invalid body or query with the location and the problem, never with the value."""
    if not isinstance(error, RequestValidationError):
        raise error
    problems = [f"{format_location(problem['loc'])}: {problem['msg'][:200]}" for problem in error.errors()[:5]]
    return Problem(422, "BadInput", "; ".join(problems))


def format_location(location: tuple[int | str, ...]) -> str:
    """Format a location, shortened: clients choose the names of unknown fields."""
    return ".".join(str(part)[:40] for part in location[1:6]) or str(location[0])


def install_error_handlers(app: FastAPI) -> None:
    """Install the handlers of this module."""
    app.add_exception_handler(ShowAndTellError, known_error_response)
    app.add_exception_handler(HTTPException, http_error_response)
    app.add_exception_handler(RequestValidationError, invalid_request_response)
    app.add_exception_handler(Exception, unexpected_error_response)
