"""Fetch JSON that another server publishes, with limits, and cache it. Concurrent callers share one fetch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import msgspec

from showandtell.core.wire.http import HttpRequest, HttpResponse, Send
from showandtell.errors import BadAnswer, ShowAndTellError
from showandtell.providers.exchange import read_limited
from showandtell.server.auth.errors import IssuerSilent, LoginUnavailable

T = TypeVar("T")
#: Limits of one response: bytes, and seconds until it is complete.
MAX_BODY: Final = 1024 * 1024
TIMEOUT: Final = 10.0
#: Seconds: how long a value is fresh by default, how soon a caller that misses something in it may fetch again, how
#: soon to retry after a failure, and how old a stale value may be if fetching fails.
MAX_AGE: Final = 600
REFETCH_AFTER: Final = 60
RETRY_AFTER: Final = 10
MAX_STALE: Final = 86_400


async def fetch_json(send: Send, call: HttpRequest, *statuses: int) -> dict[str, Any]:
    """Send a request and return the JSON object of the response, also if its status is one of `statuses`.

    Raises `LoginUnavailable`, or `IssuerSilent` if no response came; the message contains nothing of the request but
    the host.
    """
    host, kind = urlsplit(call.url).netloc, LoginUnavailable
    try:
        async with asyncio.timeout(TIMEOUT), send(call) as response:
            return await read_json(response, *statuses)
    except TimeoutError:
        kind, problem = IssuerSilent, f"{host} did not respond within {TIMEOUT:g} s"
    except (msgspec.MsgspecError, UnicodeDecodeError):
        problem = f"{host} did not respond with a JSON object"
    except (OSError, ShowAndTellError) as error:
        problem = getattr(error, "strerror", None) or f"{host}: {error}"
        kind = LoginUnavailable if isinstance(error, BadAnswer) else IssuerSilent
    raise kind(f"accounts can't be looked up ({problem}): try again, or contact the operator of this server")


async def read_json(response: HttpResponse, *statuses: int) -> dict[str, Any]:
    """Return the JSON object of a response with status 200 or one of `statuses`.

    Raises `BadAnswer` for an error status or an oversized body, and msgspec's errors if the body is no JSON object.
    """
    if response.status not in {200, *statuses}:
        raise BadAnswer("the request was refused", response.status)
    data = await read_limited(response.body, MAX_BODY + 1)
    if len(data) > MAX_BODY:
        raise BadAnswer(f"the response has more than {MAX_BODY:,} bytes")
    return msgspec.json.decode(data, type=dict[str, Any])


class CachedFetch(Generic[T]):
    """A value that is fetched on first use, when it expires, and when a caller misses something in it.

    Concurrent callers wait for one fetch. If fetching fails, the last value is used up to `max_stale` seconds of age.
    """

    def __init__(
        self, fetch: Callable[[float], Awaitable[T]], max_age: float = MAX_AGE, max_stale: float = MAX_STALE
    ) -> None:
        self._fetch, self._max_age, self._max_stale = fetch, max_age, max_stale
        self._lock = asyncio.Lock()
        self._value: tuple[T, float] | None = None
        self._failure: tuple[LoginUnavailable, float] | None = None

    async def get(self, now: float, *, newer_than: T | None = None) -> T:
        """Return the value, fetched again if it is `newer_than` and may be fetched yet. Raises `LoginUnavailable`."""
        value = self._fresh(now, newer_than)
        if value is None:
            async with self._lock:
                value = self._fresh(now, newer_than)
                if value is None:
                    value = await self._refresh(now)
        return value

    def _fresh(self, now: float, newer_than: T | None) -> T | None:
        """Return the cached value if it is fresh. Soon after a failure, return the stale value or raise the failure."""
        if self._value is not None:
            value, fetched = self._value
            if abs(now - fetched) < (REFETCH_AFTER if value is newer_than else self._max_age):
                return value
        if self._failure is not None and abs(now - self._failure[1]) < RETRY_AFTER:
            return self._stale(now, self._failure[0])
        return None

    async def _refresh(self, now: float) -> T:
        try:
            value = await self._fetch(now)
        except LoginUnavailable as error:
            self._failure = error, now
            return self._stale(now, error)
        self._value, self._failure = (value, now), None
        return value

    def _stale(self, now: float, error: LoginUnavailable) -> T:
        if self._value is None or abs(now - self._value[1]) > self._max_stale:
            raise type(error)(str(error))
        return self._value[0]
