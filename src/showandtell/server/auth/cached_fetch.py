"""JSON that another server publishes: fetched within bounds, kept for a while, and once for all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import msgspec

from showandtell.core.wire.http import HttpRequest, HttpResponse, Send
from showandtell.errors import BadAnswer, ShowAndTellError
from showandtell.providers.exchange import gather
from showandtell.server.auth.authenticate import LoginUnavailable

T = TypeVar("T")
#: Bytes and seconds that an answer may have.
MOST: Final = 1024 * 1024
PATIENCE: Final = 10.0
#: Seconds: how long an answer is good unless it is said otherwise, how soon it is asked for again where something is
#: missing in it, how soon after a failure, and for how long an old one does when no new one comes.
GOOD: Final = 600
AGAIN: Final = 60
AFTER_FAILURE: Final = 10
OLDEST: Final = 86_400


async def fetch_json(send: Send, call: HttpRequest) -> dict[str, Any]:
    """The object that a request is answered with. Raises `LoginUnavailable`, which tells nothing of what was sent."""
    where = urlsplit(call.url).netloc
    try:
        async with asyncio.timeout(PATIENCE), send(call) as answer:
            return await read_json(answer)
    except TimeoutError:
        problem = f"{where} did not answer in {PATIENCE:g} s"
    except (msgspec.MsgspecError, UnicodeDecodeError):
        problem = f"{where} doesn't answer with a JSON object"
    except (OSError, ShowAndTellError) as error:
        problem = getattr(error, "strerror", None) or f"{where}: {error}"
    raise LoginUnavailable(f"accounts can't be looked up, {problem}: try again, and tell who runs this server")


async def read_json(answer: HttpResponse) -> dict[str, Any]:
    """The object in an answer. Raises `BadAnswer`, and msgspec's errors for what is no object."""
    if answer.status != 200:
        raise BadAnswer("it says no", answer.status)
    data = await gather(answer.body, MOST + 1)
    if len(data) > MOST:
        raise BadAnswer(f"it answers with more than {MOST:,} bytes")
    return msgspec.json.decode(data, type=dict[str, Any])


class Fetched(Generic[T]):
    """A value that is fetched when it is first needed, when it has grown old, and when somebody misses something in it.

    Many who need it at once wait for one fetch. Where none succeeds, the old value does for a day.
    """

    def __init__(self, fetch: Callable[[float], Awaitable[T]], good: float = GOOD) -> None:
        self._fetch, self._seconds = fetch, good
        self._lock = asyncio.Lock()
        self._value: tuple[T, float] | None = None
        self._failure: tuple[LoginUnavailable, float] | None = None

    async def get(self, now: float, *, missing: T | None = None) -> T:
        """The value; a newer one than `missing`, if it may be asked for yet. Raises `LoginUnavailable`."""
        found = self._good(now, missing)
        if found is None:
            async with self._lock:
                found = self._good(now, missing)
                if found is None:
                    found = await self._renew(now)
        return found

    def _good(self, now: float, missing: T | None) -> T | None:
        """What is there, where that does; a failure that just was is raised again."""
        if self._value is not None:
            value, fetched = self._value
            if abs(now - fetched) < (AGAIN if value is missing else self._seconds):
                return value
        if self._failure is not None and abs(now - self._failure[1]) < AFTER_FAILURE:
            return self._old(now, self._failure[0])
        return None

    async def _renew(self, now: float) -> T:
        try:
            value = await self._fetch(now)
        except LoginUnavailable as error:
            self._failure = error, now
            return self._old(now, error)
        self._value, self._failure = (value, now), None
        return value

    def _old(self, now: float, error: LoginUnavailable) -> T:
        if self._value is None or abs(now - self._value[1]) > OLDEST:
            raise LoginUnavailable(str(error))
        return self._value[0]
