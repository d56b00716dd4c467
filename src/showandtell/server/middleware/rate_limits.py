"""Rate limits for each user, or each address that is not signed in, per group of routes.

Counts are kept in this process, so n workers together allow n times the rate. This doesn't use the store of the library
`limits`: that one sweeps all keys in a thread every 10 ms, and accepts no other clock than the machine's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import GUESSED_KEY, auth_context, current_user, has_query_token, is_signed_in
from showandtell.server.auth.error_pages import too_many_page
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.server.middleware.origin_guard import FETCH_PATH, IMPORT_PATH, PROBE_PATHS, SAFE_METHODS, UPLOADS_PATH
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


#: chat: POST /api/chat, and changes of providers' keys, which are tested there. uploads: incoming files and imports.
#: reads: all other routes. By address: login, requests to sign in with an account, at least two for each person of an
#: office behind one address; tokens, wrong ones in headers and URLs. decoder: not requests, but seconds that child
#: processes decode and convert files.
RATES: Final[Mapping[str, Rate]] = {
    "chat": Rate(60, 60),
    "uploads": Rate(300, 60),
    "reads": Rate(3000, 60),
    "login": Rate(2000, 60),
    "tokens": Rate(20, 60),
    "decoder": Rate(1800, 3600),
}


def read_rates(text: str) -> dict[str, Rate]:
    """Parse rates such as "chat=10/minute, reads=100/second"; other groups keep their default. Raises `BadInput`."""
    rates = dict(RATES)
    for item in filter(None, (item.strip() for item in text.split(","))):
        match = RATE.fullmatch(item)
        if match is None or match[1] not in RATES:
            raise BadInput(f"{VARIABLE}: invalid rate {item!r:.60}: write {', '.join(RATES)}, as in chat=NUMBER/minute")
        rates[match[1]] = Rate(int(match[2]), UNITS[match[3]])
    return rates


@dataclass(slots=True)
class Counts:
    """Counts of requests per group and client, each in a window that starts with its first request."""

    clock: Callable[[], float]
    max_windows: int = MAX_WINDOWS
    windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict[tuple[str, str], tuple[float, int]])

    def hit(self, group: str, name: str, rate: Rate, weight: int = 1) -> int:
        """Count a request, unless `weight` is 0. Returns 0, or the seconds to wait if it is over the limit."""
        now, key = self.clock(), (group, name)
        started, count = self.windows.get(key, (now, 0))
        if not started <= now < started + rate.seconds:
            started, count = now, 0
            self.windows.pop(key, None)  # moves the key to the end: the dict is ordered by age
        if count >= rate.amount:
            return max(1, math.ceil(started + rate.seconds - now))
        if weight:
            self.windows[key] = (started, count + weight)
        if len(self.windows) > self.max_windows:
            del self.windows[next(iter(self.windows))]
        return 0


class RateLimits:
    """ASGI middleware after `OriginGuard`: 429 for clients over the limit, 401 for unsafe requests without a user.

    The body of a client that is not signed in is therefore never read. Wrong tokens, in any URL and in the header of
    any request, count by address. Over that limit, further tokens from there are refused unchecked. Users with a
    cookie, sign-ins with an account, and valid tokens of an issuer, which can't be guessed, are not affected.
    """

    def __init__(self, app: ASGIApp, rates: Mapping[str, Rate], clock: Callable[[], float]) -> None:
        self._app, self._rates, self._counts = app, rates, Counts(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        refusal = await self._refuse(request)
        await (self._app if refusal is None else refusal)(scope, receive, send)
        if scope.get(GUESSED_KEY):
            self._hit("tokens", address_of(request))

    async def _refuse(self, request: HTTPConnection) -> Response | None:
        group = group_of(request.scope)
        if group is None:
            return None
        if group == "login":
            return self._count(request, "login", address_of(request))
        if group == "tokens":
            refusal = self._check_tokens(request)
            return None if refusal is None or await is_signed_in(request) else refusal
        refusal = self._check_tokens(request) if "authorization" in request.headers else None
        return refusal or await self._refuse_user(request, group)

    async def _refuse_user(self, request: HTTPConnection, group: str) -> Response | None:
        try:
            user = await current_user(request)
        except LoginUnavailable as error:
            return Refusal(503, "LoginUnavailable", str(error))
        except Unauthorised as error:
            return self._refuse_unknown(request, error)
        return self._count(request, group, user.name)

    def _refuse_unknown(self, request: HTTPConnection, error: Unauthorised) -> Response | None:
        refusal = self._count(request, "tokens" if error.invalid_token else "reads", address_of(request))
        if refusal is None and request.scope["method"] not in SAFE_METHODS:
            return Refusal(401, "Unauthorised", str(error), {"www-authenticate": error.challenge})
        return refusal

    def _hit(self, group: str, name: str, weight: int = 1) -> int:
        return self._counts.hit(group, name, self._rates[group], weight)

    def _check_tokens(self, request: HTTPConnection) -> Response | None:
        context = auth_context(request)
        if context.accounts is not None or context.host_users is not None:
            return None
        return self._too_many(request, "tokens", self._hit("tokens", address_of(request), weight=0))

    def _count(self, request: HTTPConnection, group: str, name: str) -> Response | None:
        return self._too_many(request, group, self._hit(group, name))

    def _too_many(self, request: HTTPConnection, group: str, wait: int) -> Response | None:
        if not wait:
            return None
        if is_browser(request):
            return too_many_page(request.scope, wait)
        rate, what = self._rates[group], "wrong tokens" if group == "tokens" else "requests"
        text = f"more than {rate.amount} {what} in {rate.seconds} s: try again in {wait} s"
        return Refusal(429, "TooMany", text, {"retry-after": str(wait)})


def group_of(scope: Scope) -> str | None:
    """Return the group that a request counts for, or None for health checks and for the page without a token."""
    path: str = scope["path"]
    if path in PROBE_PATHS:
        return None
    if path == "/ag-ui" or (path.startswith("/api/providers/") and scope["method"] not in SAFE_METHODS):
        return "chat"
    if not path.startswith("/api/"):
        if path.startswith("/login"):
            return "login"
        if "authorization" in Headers(scope=scope):
            return "reads"
        return "tokens" if has_query_token(scope) else None
    if scope["method"] in SAFE_METHODS:
        return "reads"
    return "chat" if path == "/api/chat" else "uploads" if path in {UPLOADS_PATH, FETCH_PATH, IMPORT_PATH} else "reads"


def is_browser(request: HTTPConnection) -> bool:
    """Whether a person opened a page, so that the response has to be one."""
    is_page = request.scope["method"] in SAFE_METHODS and not request.scope["path"].startswith("/api/")
    return is_page and "text/html" in request.headers.get("accept", "")


def address_of(request: HTTPConnection) -> str:
    """Return the client's address; for IPv6 its /64 network, in which a client can use any address."""
    client = request.client
    return network_of(client.host if client else "")


@lru_cache
def network_of(host: str) -> str:
    """Return what counts as one address. An IPv4 address that a proxy writes as IPv6 is that IPv4 address."""
    try:
        address = ip_address(host)
    except ValueError:
        return "unknown"
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
