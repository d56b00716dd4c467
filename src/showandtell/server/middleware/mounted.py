"""The outermost middleware: takes the prefix of the mount off a request's path, wherever its host has left it."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from showandtell.server.addresses import ORIGIN_KEY, PREFIX_KEY, clean_prefix, split_public_url

#: First segments of this application's own paths. By them a path with its prefix differs from one without.
SEGMENTS: Final = frozenset(
    {"", "ag-ui", "api", "assets", "c", "healthz", "login", "logout", "matrix", "metrics", "readyz", "settings"}
)
#: The keys of a request's scope by the ASGI specification, and this application, which has entered itself. What a host
#: adds, such as its routes, is the host's own.
STANDARD_KEYS: Final = frozenset(
    {
        "type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path", "headers",
        "client", "server", "extensions", "app",
    }
)  # fmt: skip


class Mounted:
    """Makes each request look as if this application were at the root of its host.

    The prefix is the path of `public_url`, or else the `root_path` of the request. By the ASGI specification `path`
    includes it; some servers and most proxies take it off, so a path that continues with one of our own is enough. Of
    some frameworks only `raw_path` still has it.
    """

    def __init__(self, app: ASGIApp, public_url: str | None = None) -> None:
        self._app = app
        self._origin, self._prefix = split_public_url(public_url) if public_url else (None, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its path below the mount."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own = {key: value for key, value in scope.items() if key in STANDARD_KEYS or key.startswith("showandtell.")}
        root_path, path = clean_prefix(scope.get("root_path", "")), scope["path"]
        sent = unquote((scope.get("raw_path") or b"").partition(b"?")[0].decode("latin-1")) or path
        if path.endswith("/") and not sent.endswith("/"):  # Litestar adds a slash
            path = path.rstrip("/")
        removed = clean_prefix(sent.removesuffix(path)) if path and sent.endswith(path) else ""
        own[ORIGIN_KEY], own[PREFIX_KEY] = self._origin, self._prefix
        if self._prefix is None:
            own[PREFIX_KEY] = root_path or removed
        own["path"], own["root_path"] = strip_prefix(path, (root_path, self._prefix or "")), ""
        if own["path"] != scope["path"]:
            own.pop("raw_path", None)  # nothing below needs to know how the path was escaped
        await self._app(own, receive, send)


def strip_prefix(path: str, prefixes: tuple[str, ...]) -> str:
    """Return the path without the first of the prefixes that stands before a path of this application."""
    for prefix in prefixes:
        if prefix and f"{path}/".startswith(f"{prefix}/"):
            rest = "/" + path[len(prefix) :].lstrip("/")
            if rest.split("/", 2)[1] in SEGMENTS:
                return rest
    return "/" + path.lstrip("/")
