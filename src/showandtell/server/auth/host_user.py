"""Identify the users of a program that this application is mounted in, by a function of that program."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.storage.conversations.access import check_user

log = logging.getLogger(__name__)

#: Returns the id of a request's user, or None for nobody. Both kinds of function are fine, `def` and `async def`.
IdentifyUser: TypeAlias = Callable[[HTTPConnection], Awaitable[str | None] | str | None]

#: Seconds that the function may take.
SECONDS: Final = 10.0
NOT_SIGNED_IN: Final = "not signed in: sign in to the program that this chat belongs to, and try again"
UNAVAILABLE: Final = "the program that this chat belongs to could not say who you are: try again ({id} in the log)"
#: Statuses by which a function says that the request has no user, as functions for FastAPI do.
REFUSED: Final = frozenset({401, 403})


class HostUsers:
    """The users of the program around this application."""

    def __init__(self, identify: IdentifyUser) -> None:
        self._identify = identify
        self._is_async = inspect.iscoroutinefunction(identify) or inspect.iscoroutinefunction(
            getattr(identify, "__call__", None)  # noqa: B004 - an object with an async method is a function, too
        )

    async def identify(self, request: HTTPConnection) -> str:
        """Return the id of the user. Raises `Unauthorised`, or `LoginUnavailable` if the function fails."""
        try:
            async with asyncio.timeout(SECONDS):
                user = await self._call(request)
        except HTTPException as error:
            if error.status_code in REFUSED:
                raise Unauthorised(NOT_SIGNED_IN) from None
            raise _unavailable("raised an error", error) from None
        except TimeoutError as error:
            raise _unavailable(f"took more than {SECONDS:g} s", error) from None
        except Exception as error:  # noqa: BLE001 - the function is not ours: its error is logged
            raise _unavailable("raised an error", error) from None
        if user is None:
            raise Unauthorised(NOT_SIGNED_IN)
        try:
            if check_user(user):
                return user
        except BadInput as error:
            raise _unavailable("returned an id that is not usable", error) from None
        raise _unavailable("returned an empty id, and None is for nobody")

    async def _call(self, request: HTTPConnection) -> str | None:
        """Call the function; one that isn't async in a thread, since it may ask a database."""
        result = self._identify(request) if self._is_async else await run_in_threadpool(self._identify, request)
        return await result if inspect.isawaitable(result) else result


def _unavailable(what: str, error: Exception | None = None) -> LoginUnavailable:
    """Log the failure of the program's function. Its words are not for the client."""
    error_id = new_id("err")
    log.error("%s: the function `user` %s", error_id, what, exc_info=error)
    return LoginUnavailable(UNAVAILABLE.format(id=error_id))
