"""Check hosts, origins, content types and headers of every request, and add security headers to every response.

Stateless. Knows nothing of users, and no routes but those of uploads and imports.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from ipaddress import ip_address
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import BACKCHANNEL_PATH, COOKIES_KEY, USER_KEY, User, bearer_token
from showandtell.server.middleware.refusals import Refusal

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

#: Host names of a server that listens on the loopback interface only.
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
#: Bind addresses for all interfaces. Such a server accepts any IP address as host: DNS rebinding needs a name.
ALL_INTERFACES: Final = ("0.0.0.0", "::", "[::]", "")  # noqa: S104 - only compared with
#: Health checks, which may use any Host header.
PROBE_PATHS: Final = ("/healthz", "/readyz")
UPLOADS_PATH: Final = "/api/attachments"
#: Where the file at an address is attached.
FETCH_PATH: Final = "/api/attachments/fetch"
IMPORT_PATH: Final = "/api/conversations/import"
#: Methods that change nothing (RFC 9110).
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
#: Maximum number of request headers, and maximum bytes of all of them.
MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
HOST: Final = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::([0-9]{1,5}))?", re.ASCII)
DEFAULT_PORTS: Final = {"http": "80", "https": "443"}

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    # The page's own policy (web/src/strict.ts) lets character references through and no other string.
    "require-trusted-types-for 'script'; trusted-types default"
)
POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
#: The policy of every response about a file, whatever its status. The page may frame files: Chromium's PDF viewer works
#: in this sandbox (tried with version 150), but not in a sandbox set on the frame.
FILE_POLICY: Final = "sandbox; default-src 'none'; frame-ancestors 'self'"
#: What browsers may not give to any page here. Not listed, because the page uses it: writing to the clipboard.
PERMISSIONS: Final = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "autoplay", "bluetooth", "browsing-topics", "camera", "clipboard-read", "display-capture",
        "encrypted-media", "gamepad", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts",
        "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock", "serial",
        "usb", "web-share", "xr-spatial-tracking",
    )
)  # fmt: skip
#: The same for the page itself, where messages can be dictated. What it frames has no origin, and no microphone.
PAGE_PERMISSIONS: Final = PERMISSIONS.replace("microphone=()", "microphone=(self)")
SECURITY_HEADERS: Final = {
    "permissions-policy": PERMISSIONS,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
#: What pages of the allowed origins may send and read, with a bearer token and never with a cookie.
ALLOWED_METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"
ALLOWED_HEADERS: Final = "authorization, content-type, range, last-event-id"
EXPOSED_HEADERS: Final = "content-disposition, content-range, retry-after, x-conversation-id, x-cut"


class OriginGuard:
    """Outermost ASGI middleware. Rejects requests with {"error": {"kind", "text"}}.

    `hosts` are the accepted host names, with any port unless one is given (`chat.example.com:8443`). `*` accepts any
    host. `origins` are those of other pages (`https://app.example.com`) that may send requests with a bearer token.
    `public_origin` is this server's own, in addition to that of the request. Unless `is_strict`, only clients on this
    machine are held to `hosts`: pages of other sites that have a browser here take this machine for their own.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] = LOOPBACK,
        origins: Collection[str] = (),
        *,
        public_origin: str | None = None,
        is_strict: bool = True,
    ) -> None:
        self._app, self._public_origin, self._is_strict = app, public_origin, is_strict
        self._hosts = {host.lower() for host in hosts}
        if public_origin is not None:
            self._hosts.add(urlsplit(public_origin).netloc.lower())
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            await self._dispatch(scope, receive, self._with_headers(scope, send))

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["method"] == "OPTIONS" and self._allowed_origin(headers):
            await _send_preflight(send)
        else:
            await self._app(scope, receive, send)

    def _refuse(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Return the error for a request, judged by its head, or None if it may pass."""
        if (
            len(headers.raw) > MAX_HEADERS
            or sum(len(name) + len(value) for name, value in headers.raw) > MAX_HEADER_BYTES
        ):
            text = (
                f"the request has more than {MAX_HEADERS} headers or {MAX_HEADER_BYTES:,} bytes of headers: send fewer"
            )
            return Refusal(431, "BadInput", text)
        if "transfer-encoding" in headers and ("content-length" in headers or scope.get("http_version") == "1.0"):
            return Refusal(400, "BadInput", AMBIGUOUS_LENGTH)
        host = self._host(headers.getlist("host"), scope.get("client"))
        if host is None and scope["path"] not in PROBE_PATHS:
            return Refusal(421, "WrongHost", WRONG_HOST)
        if scope["method"] not in SAFE_METHODS and not self._may_change(scope["scheme"], host, headers):
            return Refusal(403, "Forbidden", CROSS_SITE)
        return _check_type(scope, headers) if scope["method"] not in SAFE_METHODS else None

    def _host(self, headers: list[str], client: tuple[str, int] | None) -> str | None:
        """Return the host of a request with its port, if any; None if this server doesn't have that host."""
        match = HOST.fullmatch(headers[0].lower()) if len(headers) == 1 else None
        if match is None:
            return None
        name, port = match[1], match[2]
        known = {"*", name, f"{name}:{port}"} & self._hosts
        by_address = _is_address(name) and not self._hosts.isdisjoint(ALL_INTERFACES)
        is_free = not self._is_strict and client is not None and not _is_loopback(client[0])
        return headers[0].lower() if known or by_address or is_free else None

    def _may_change(self, scheme: str, host: str | None, headers: Headers) -> bool:
        """Whether an unsafe request comes from this server's own page, an allowed page, or no web page at all.

        Browsers send cookies, and credentials of every scheme but Bearer, by themselves. So these prove nothing, and
        neither does a token if a page of another origin sends it: every `Origin` is compared.
        """
        if origins := headers.getlist("origin"):
            if len(origins) != 1 or host is None:
                return False
            is_own = origins[0].lower() == self._public_origin or _is_same_origin(origins[0], scheme, host)
            return is_own or (self._is_allowed(headers) and _has_token(headers))
        if _has_token(headers):
            return True
        if site := headers.getlist("sec-fetch-site"):
            return site == ["same-origin"]
        return "cookie" not in headers and "authorization" not in headers

    def _is_allowed(self, headers: Headers) -> bool:
        """Whether a request comes from another page whose origin is allowed, and brings no cookie."""
        return headers.get("origin") in self._origins and "cookie" not in headers

    def _allowed_origin(self, headers: Headers, *, is_signed: bool = False) -> str | None:
        """Return the origin of another page that may read the response, or None."""
        preflight = "access-control-request-method" in headers
        is_known = preflight or is_signed or _has_token(headers)
        return headers["origin"] if is_known and self._is_allowed(headers) else None

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that adds security headers and cookies. Headers set by the route take precedence.

        Pages of other origins may show what a signed URL names: its signature is the permission, and no cookie counts.
        """
        scope[COOKIES_KEY] = cookies = list[str]()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": self._complete(scope, [*message.get("headers", ())], cookies)}
            await send(message)

        return send_with_headers

    def _complete(self, scope: Scope, raw: RawHeaders, cookies: Iterable[str]) -> RawHeaders:
        """Add to the headers of a response."""
        present = dict(raw)
        policy = policy_of(scope["path"], present.get(b"content-type", b"").decode("latin-1"))
        raw += [item for item in ENCODED_HEADERS[policy] if item[0] not in present]
        if scope["path"].startswith("/api/") and b"cache-control" not in present:
            raw.append((b"cache-control", b"no-store"))
        raw += [(b"set-cookie", cookie.encode("latin-1")) for cookie in cookies]
        user: User | None = scope.get(USER_KEY)
        is_signed = user is not None and user.method == "signed"
        if is_signed or self._origins:
            self._share(Headers(scope=scope), MutableHeaders(raw=raw), is_signed=is_signed)
        return raw

    def _share(self, request: Headers, headers: MutableHeaders, *, is_signed: bool) -> None:
        """Say which other origins may read a response."""
        if is_signed:
            headers["cross-origin-resource-policy"] = "cross-origin"
        if self._origins:
            headers.add_vary_header("origin")
        if (origin := self._allowed_origin(request, is_signed=is_signed)) is not None:
            headers["access-control-allow-origin"] = origin
            headers["access-control-expose-headers"] = EXPOSED_HEADERS


#: Servers that disagree about where a body ends take its rest for another request (request smuggling).
AMBIGUOUS_LENGTH: Final = (
    "the body's length is ambiguous: send either Content-Length or, in HTTP/1.1, Transfer-Encoding"
)
WRONG_HOST: Final = (
    "unknown Host header; open the address that the server printed, or add this host with --name or SHOWANDTELL_HOSTS"
)
CROSS_SITE: Final = (
    "the request came from another site: use this server's own page, or send a bearer token, from an origin in "
    "SHOWANDTELL_ORIGINS or without an Origin header; "
    "if it came from this server's page, list the https proxy in front of the server in SHOWANDTELL_PROXIES"
)


def hosts_of(bind: str, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the hosts of a server that listens on `bind` and has the given extra names."""
    own = f"[{bind}]" if ":" in bind else bind
    return tuple(dict.fromkeys([*LOOPBACK, own, *(name.strip().lower() for name in named if name.strip())]))


def check_origin(origin: str) -> str:
    """Return an origin of another site. Raises `BadInput` unless it is a scheme and a host, perhaps with a port."""
    url = urlsplit(origin)
    is_exact = origin == f"{url.scheme}://{url.netloc}" and HOST.fullmatch(url.netloc)
    if url.scheme not in DEFAULT_PORTS or not is_exact:
        raise BadInput(f"{origin[:80]!r} is not an origin: name each exactly, such as https://app.example.com")
    return origin


def _has_token(headers: Headers) -> bool:
    return bearer_token(headers.getlist("authorization")) is not None


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name.strip("[]")))
    except ValueError:
        return False


def _is_same_origin(origin: str, scheme: str, host: str) -> bool:
    """Whether an origin is this server's own. The scheme's default port is optional on both sides."""
    default_port = ":" + DEFAULT_PORTS.get(scheme, "")
    return origin.lower().removesuffix(default_port) == f"{scheme}://{host}".removesuffix(default_port)


def _check_type(scope: Scope, headers: Headers) -> Refusal | None:
    """Require JSON, except for uploads and imports: forms of other sites can send text, but never JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return None
    if scope["path"] == BACKCHANNEL_PATH:
        expected = "application/x-www-form-urlencoded"
    elif scope["path"] == IMPORT_PATH:
        expected = "application/zip"
    elif scope["path"] != UPLOADS_PATH:
        expected = "application/json"
    elif scope["method"] == "POST":
        expected = "multipart/form-data"
    else:
        return None
    text = f"unsupported content type {kind[:60] or '(none)'}: send {expected}"
    return None if kind == expected else Refusal(415, "BadInput", text)


def policy_of(path: str, media_type: str) -> str:
    """Return the content security policy of a response at a path."""
    if f"{path}/".startswith(f"{UPLOADS_PATH}/"):
        return FILE_POLICY
    return PAGE_POLICY if media_type.startswith("text/html") else POLICY


def security_headers(path: str, media_type: str = "") -> dict[str, str]:
    """Return the security headers of a response at a path."""
    return {**SECURITY_HEADERS, "content-security-policy": policy_of(path, media_type)}


#: The security headers by policy, as they are sent.
ENCODED_HEADERS: Final[Mapping[str, RawHeaders]] = {
    policy: [
        (name.encode(), value.encode())
        for name, value in {**SECURITY_HEADERS, "content-security-policy": policy}.items()
    ]
    for policy in (FILE_POLICY, PAGE_POLICY, POLICY)
}


async def _send_preflight(send: Send) -> None:
    """Respond to the CORS preflight request of an allowed origin."""
    allowed = {"allow-methods": ALLOWED_METHODS, "allow-headers": ALLOWED_HEADERS, "max-age": "600"}
    headers = [(f"access-control-{name}".encode(), value.encode()) for name, value in allowed.items()]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body"})
