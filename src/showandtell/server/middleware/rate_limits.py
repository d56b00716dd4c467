"""How often one user, or one address where nobody is signed in, may ask: per group of routes, counted in this process.

Counted here and not by a library's store: that of `limits` sweeps all its keys in a thread of its own every 10 ms, and
goes by no clock but the machine's. Several workers allow as many times as much, together.
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
from showandtell.server.middleware.origin_guard import PROBES, READING, UPLOADS
from showandtell.server.middleware.refusals import Refusal

VARIABLE: Final = "SHOWANDTELL_RATE"
UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
RATE: Final = re.compile(r"([a-z]+)=([1-9][0-9]{0,8})/(second|minute|hour|day)", re.ASCII)
#: So many are counted at once, about 20 MB; beyond that those who came first are forgotten.
COUNTED: Final = 100_000


class Rate(Struct, frozen=True):
    """So many requests in so many seconds."""

    amount: int
    seconds: int


#: Chat is POST /api/chat, uploads are files that come, login is everything that tries to sign in; the rest is reads.
RATES: Final[Mapping[str, Rate]] = {
    "chat": Rate(60, 60),
    "uploads": Rate(300, 60),
    "reads": Rate(3000, 60),
    "login": Rate(20, 60),
}


def read_rates(text: str) -> dict[str, Rate]:
    """The usual rates, but for those that `text` names: "chat=10/minute, reads=100/second". Raises `BadInput`."""
    rates = dict(RATES)
    for one in filter(None, (one.strip() for one in text.split(","))):
        match = RATE.fullmatch(one)
        if match is None or match[1] not in RATES:
            raise BadInput(f"{VARIABLE}: {one!r:.60} is no rate: write chat, uploads, reads or login=NUMBER/minute")
        rates[match[1]] = Rate(int(match[2]), UNITS[match[3]])
    return rates


@dataclass(slots=True)
class Counts:
    """Requests of each who asks, in a window that begins with the first of them."""

    clock: Callable[[], float]
    most: int = COUNTED
    windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict[tuple[str, str], tuple[float, int]])

    def hit(self, group: str, name: str, rate: Rate) -> int:
        """Count one more; the seconds to wait where that is too many, else 0."""
        now, key = self.clock(), (group, name)
        begun, count = self.windows.get(key, (now, 0))
        if not begun <= now < begun + rate.seconds:
            begun, count = now, 0
            self.windows.pop(key, None)  # so that it stands behind all that began before
        if count >= rate.amount:
            return max(1, math.ceil(begun + rate.seconds - now))
        self.windows[key] = (begun, count + 1)
        if len(self.windows) > self.most:
            del self.windows[next(iter(self.windows))]
        return 0


class RateLimits:
    """ASGI middleware behind the gate: 429 for who asks too often, 401 for a stranger who wants to change something.

    A stranger's body is thus never read, and who tries tokens is slowed down like who tries to sign in, wherever they
    try them: in any address, and in any request's `Authorization`.
    """

    def __init__(self, app: ASGIApp, rates: Mapping[str, Rate], clock: Callable[[], float]) -> None:
        self._app, self._rates, self._counts = app, rates, Counts(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it."""
        refused = await self._refuse(HTTPConnection(scope)) if scope["type"] == "http" else None
        await (self._app if refused is None else refused)(scope, receive, send)

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
            return self._strange(request, error)
        return self._count(group, user.name)

    def _strange(self, request: HTTPConnection, error: Unauthorised) -> Refusal | None:
        refused = self._count("login" if error.tried else "reads", address_of(request))
        if refused is None and request.scope["method"] not in READING:
            return Refusal(401, "Unauthorised", str(error), {"www-authenticate": error.challenge})
        return refused

    def _count(self, group: str, name: str) -> Refusal | None:
        rate = self._rates[group]
        wait = self._counts.hit(group, name, rate)
        told = f"more than {rate.amount} requests in {rate.seconds} s: try again in {wait} s"
        return Refusal(429, "TooMany", told, {"retry-after": str(wait)}) if wait else None


def group_of(scope: Scope) -> str | None:
    """Which rate a request counts for; None for who asks whether the server lives, or for the page without a token."""
    path: str = scope["path"]
    if path in PROBES:
        return None
    if not path.startswith("/api/"):
        enters = path.startswith("/login") or "token=" in unquote_plus(scope["query_string"].decode("latin-1"))
        return "login" if enters else "reads" if "authorization" in Headers(scope=scope) else None
    if scope["method"] in READING:
        return "reads"
    return {"/api/chat": "chat", UPLOADS: "uploads"}.get(path, "reads")


def address_of(request: HTTPConnection) -> str:
    """Where a stranger comes from; of IPv6 the network, for one customer has as many addresses as they like."""
    client = request.client
    try:
        address = ip_address(client.host if client else "")
    except ValueError:
        return "unknown"
    return str(address if address.version == 4 else ip_network((address, 64), strict=False))
