"""Rate limits for each user, or each address that is not signed in, per group of routes.

Counts are kept in this process, so n workers together allow n times the rate. This doesn't use the store of the library
`limits`: that one sweeps all keys in a thread every 10 ms, and accepts no other clock than the machine's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import unquote_plus

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import LoginUnavailable, Unauthorised, current_user
from showandtell.server.middleware.origin_guard import PROBE_PATHS, SAFE_METHODS, UPLOADS_PATH
from showandtell.server.middleware.refusals import Refusal

VARIABLE: Final = "SHOWANDTELL_RATE"
UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
RATE: Final = re.compile(r"([a-z]+)=([1-9][0-9]{0,8})/(second|minute|hour|day)", re.ASCII)
#: Maximum number of windows, about 20 MB; the oldest are dropped first.
MAX_WINDOWS: Final = 100_000


class Rate(Struct, frozen=True):
    """A number of requests per number of seconds."""

    amount: int
    seconds: int


#: chat: POST /api/chat. uploads: incoming files. login: every attempt to sign in. reads: all other routes.
#: decoder: not requests, but seconds that child processes decode and convert files.
RATES: Final[Mapping[str, Rate]] = {
    "chat": Rate(60, 60),
    "uploads": Rate(300, 60),
    "reads": Rate(3000, 60),
    "login": Rate(20, 60),
    "decoder": Rate(1800, 3600),
}


def read_rates(text: str) -> dict[str, Rate]:
    """Parse rates such as "chat=10/minute, reads=100/second"; other groups keep their default. Raises `BadInput`."""
    rates = dict(RATES)
    for item in filter(None, (item.strip() for item in text.split(","))):
        match = RATE.fullmatch(item)
        if match is None or match[1] not in RATES:
            raise BadInput(
                f"{VARIABLE}: invalid rate {item!r:.60}: write "
                "chat, uploads, reads, login or decoder, as in chat=NUMBER/minute"
            )
        rates[match[1]] = Rate(int(match[2]), UNITS[match[3]])
    return rates


@dataclass(slots=True)
class Counts:
    """Counts of requests per group and client, each in a window that starts with its first request."""

    clock: Callable[[], float]
    max_windows: int = MAX_WINDOWS
    windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict[tuple[str, str], tuple[float, int]])

    def hit(self, group: str, name: str, rate: Rate) -> int:
        """Count a request. Returns 0, or the seconds to wait if it is over the limit."""
        now, key = self.clock(), (group, name)
        started, count = self.windows.get(key, (now, 0))
        if not started <= now < started + rate.seconds:
            started, count = now, 0
            self.windows.pop(key, None)  # moves the key to the end: the dict is ordered by age
        if count >= rate.amount:
            return max(1, math.ceil(started + rate.seconds - now))
        self.windows[key] = (started, count + 1)
        if len(self.windows) > self.max_windows:
            del self.windows[next(iter(self.windows))]
        return 0


class RateLimits:
    """ASGI middleware after `OriginGuard`: 429 for clients over the limit, 401 for unsafe requests without a user.

    The body of a client that is not signed in is therefore never read. Guessed tokens count as attempts to sign in, in
    any URL and in the `Authorization` header of any request.
    """

    def __init__(self, app: ASGIApp, rates: Mapping[str, Rate], clock: Callable[[], float]) -> None:
        self._app, self._rates, self._counts = app, rates, Counts(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it."""
        refusal = await self._refuse(HTTPConnection(scope)) if scope["type"] == "http" else None
        await (self._app if refusal is None else refusal)(scope, receive, send)

    async def _refuse(self, request: HTTPConnection) -> Refusal | None:
        group = group_of(request.scope)
        if group is None:
            return None
        if group == "login":
            return self._count("login", address_of(request))
        try:
            user = await current_user(request)
        except LoginUnavailable as error:
            return Refusal(503, "LoginUnavailable", str(error))
        except Unauthorised as error:
            return self._refuse_unknown(request, error)
        return self._count(group, user.name)

    def _refuse_unknown(self, request: HTTPConnection, error: Unauthorised) -> Refusal | None:
        refusal = self._count("login" if error.invalid_token else "reads", address_of(request))
        if refusal is None and request.scope["method"] not in SAFE_METHODS:
            return Refusal(401, "Unauthorised", str(error), {"www-authenticate": error.challenge})
        return refusal

    def _count(self, group: str, name: str) -> Refusal | None:
        rate = self._rates[group]
        wait = self._counts.hit(group, name, rate)
        text = f"more than {rate.amount} requests in {rate.seconds} s: try again in {wait} s"
        return Refusal(429, "TooMany", text, {"retry-after": str(wait)}) if wait else None


def group_of(scope: Scope) -> str | None:
    """Return the group that a request counts for, or None for health checks and for the page without a token."""
    path: str = scope["path"]
    if path in PROBE_PATHS:
        return None
    if not path.startswith("/api/"):
        enters = path.startswith("/login") or "token=" in unquote_plus(scope["query_string"].decode("latin-1"))
        return "login" if enters else "reads" if "authorization" in Headers(scope=scope) else None
    if scope["method"] in SAFE_METHODS:
        return "reads"
    return {"/api/chat": "chat", UPLOADS_PATH: "uploads"}.get(path, "reads")


def address_of(request: HTTPConnection) -> str:
    """Return the client's address; for IPv6 its /64 network, in which a client can use any address."""
    client = request.client
    try:
        address = ip_address(client.host if client else "")
    except ValueError:
        return "unknown"
    return str(address if address.version == 4 else ip_network((address, 64), strict=False))
