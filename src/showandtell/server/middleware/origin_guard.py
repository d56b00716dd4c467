"""What every request passes before anything else, and every answer after: hosts, origins, types, headers.

It knows no user and no route but the uploads', and keeps nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.server.auth.authenticate import COOKIES
from showandtell.server.middleware.refusals import Refusal

#: Names by which a server that listens to its own machine alone is called.
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
#: A server that listens at these has every address of its machine: an address as host is no name that could be rebound.
EVERY: Final = ("0.0.0.0", "::", "[::]", "")  # noqa: S104 - only compared with
#: Those who ask whether the server lives, by its address: it says nothing else to them.
PROBES: Final = ("/healthz", "/readyz")
UPLOADS: Final = "/api/attachments"
#: Methods that change nothing.
READING: Final = ("GET", "HEAD", "OPTIONS")
#: Headers that a request may have, and the bytes of all of them.
HEADERS: Final = 100
HEADER_BYTES: Final = 32 * 1024
HOST: Final = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::([0-9]{1,5}))?", re.ASCII)
PORTS: Final = {"http": "80", "https": "443"}

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
#: What every answer about a file says, whatever its status. Our own page may frame a file: Chromium's PDF viewer works
#: in this sandbox (tried with version 150 of it), and not in one that the frame has.
FILE_POLICY: Final = "sandbox; default-src 'none'; frame-ancestors 'self'"
GUARDS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
#: What pages of other origins may send and read, where they are named: with a bearer token, never with a cookie.
METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"
ASKED: Final = "authorization, content-type, range, last-event-id"
EXPOSED: Final = "content-disposition, content-range, retry-after, x-conversation-id, x-cut"


class OriginGuard:
    """ASGI middleware, the outermost. It answers what may not pass with {"error": {"kind", "text"}}.

    `hosts` are the names this server answers to, with any port unless one is named (`chat.example.com:8443`); `*` is
    any. `origins` are those of other pages (`https://app.example.com`) that may ask with a bearer token.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = LOOPBACK, origins: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = {one.lower() for one in hosts}
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            await self._pass(scope, receive, self._guarded(scope, send))

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refused = self._refuse(scope, headers)
        if refused is not None:
            await refused(scope, receive, send)
        elif scope["method"] == "OPTIONS" and self._shared_with(headers):
            await _permit(send)
        else:
            await self._app(scope, receive, send)

    def _refuse(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Why a request doesn't pass, by its head alone; None: it does."""
        if len(headers.raw) > HEADERS or sum(len(name) + len(value) for name, value in headers.raw) > HEADER_BYTES:
            told = f"more than {HEADERS} headers, or {HEADER_BYTES:,} bytes of them: send fewer"
            return Refusal(431, "BadInput", told)
        if "transfer-encoding" in headers and ("content-length" in headers or scope.get("http_version") == "1.0"):
            return Refusal(400, "BadInput", TWO_ENDS)
        host = self._host(headers.getlist("host"))
        if host is None and scope["path"] not in PROBES:
            return Refusal(421, "WrongHost", WRONG_HOST)
        if scope["method"] not in READING and not self._may_change(scope["scheme"], host, headers):
            return Refusal(403, "Forbidden", FOREIGN)
        return _check_type(scope, headers) if scope["method"] not in READING else None

    def _host(self, said: list[str]) -> str | None:
        """The host that a request is for, without a port that goes without saying; None where that isn't us."""
        match = HOST.fullmatch(said[0].lower()) if len(said) == 1 else None
        if match is None:
            return None
        name, port = match[1], match[2]
        known = {"*", name, f"{name}:{port}"} & self._hosts
        by_address = _is_address(name) and not self._hosts.isdisjoint(EVERY)
        return said[0].lower() if known or by_address else None

    def _may_change(self, scheme: str, host: str | None, headers: Headers) -> bool:
        """Whether a request that changes something comes from our own page, or from no page at all."""
        if "authorization" in headers:  # no page can have a browser send it unless we let its origin
            return True
        origins = headers.getlist("origin")
        if origins:
            return len(origins) == 1 and host is not None and _same(origins[0], scheme, host)
        if site := headers.getlist("sec-fetch-site"):
            return site == ["same-origin"]
        return "cookie" not in headers

    def _shared_with(self, headers: Headers) -> str | None:
        """The other page's origin that may read the answer."""
        origin = headers.get("origin")
        preflight = "access-control-request-method" in headers
        known = "authorization" in headers or preflight
        return origin if origin in self._origins and known and "cookie" not in headers else None

    def _guarded(self, scope: Scope, send: Send) -> Send:
        """What sends an answer with our headers; a route's own go before them."""
        scope[COOKIES] = cookies = list[str]()
        origin = self._shared_with(Headers(scope=scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=[*message.get("headers", ())])
                _guard(headers, scope["path"], cookies)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("cache-control", "no-store")
                if self._origins:
                    headers.add_vary_header("origin")
                if origin is not None:
                    headers["access-control-allow-origin"] = origin
                    headers["access-control-expose-headers"] = EXPOSED
                message = {**message, "headers": headers.raw}
            await send(message)

        return guarded


#: What one on the way takes for the body's end, the next may not, and take the rest for another request.
TWO_ENDS: Final = "the body's length is said in two ways, or in one that HTTP/1.0 doesn't have: send one of them"
WRONG_HOST: Final = (
    "this server is not called so: use the address that it printed, or name this one by --name or SHOWANDTELL_HOSTS"
)
FOREIGN: Final = (
    "this came from another site: use this server's own page, or a token; "
    "if it did not, a proxy speaks https for this server, and SHOWANDTELL_PROXIES must name it"
)


def hosts_of(bind: str, named: Iterable[str] = ()) -> tuple[str, ...]:
    """The hosts that a server answers to which listens at `bind`, and was given names besides."""
    own = f"[{bind}]" if ":" in bind else bind
    return tuple(dict.fromkeys([*LOOPBACK, own, *(one.strip().lower() for one in named if one.strip())]))


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name.strip("[]")))
    except ValueError:
        return False


def _same(origin: str, scheme: str, host: str) -> bool:
    """Whether an origin is this server's own, where both leave out a port that goes without saying."""
    usual = ":" + PORTS.get(scheme, "")
    return origin.lower().removesuffix(usual) == f"{scheme}://{host}".removesuffix(usual)


def _check_type(scope: Scope, headers: Headers) -> Refusal | None:
    """Bodies are JSON, but for uploads: a form of another site can be sent as text, and never as JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return None
    if scope["path"] != UPLOADS:
        fitting = "application/json"
    elif scope["method"] == "POST":
        fitting = "multipart/form-data"
    else:
        return None
    text = f"a body of type {kind[:60] or 'none'} is not taken here: send {fitting}"
    return None if kind == fitting else Refusal(415, "BadInput", text)


def guards_of(path: str, media_type: str = "") -> dict[str, str]:
    """The headers that keep an answer at a path from doing anything that it shouldn't."""
    if f"{path}/".startswith(f"{UPLOADS}/"):
        policy = FILE_POLICY
    else:
        policy = PAGE_POLICY if media_type.startswith("text/html") else POLICY
    return {**GUARDS, "content-security-policy": policy}


def _guard(headers: MutableHeaders, path: str, cookies: Iterable[str]) -> None:
    for name, value in guards_of(path, headers.get("content-type", "")).items():
        headers.setdefault(name, value)
    for cookie in cookies:
        headers.append("set-cookie", cookie)


async def _permit(send: Send) -> None:
    """The answer to a browser that asks whether a page of a named origin may."""
    allowed = {"allow-methods": METHODS, "allow-headers": ASKED, "max-age": "600"}
    headers = [(f"access-control-{name}".encode(), value.encode()) for name, value in allowed.items()]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body"})
