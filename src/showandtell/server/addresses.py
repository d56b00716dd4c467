"""Addresses of this application as its clients see them: below the prefix of its mount, at its public host.

Routes and middleware see paths as if the application were at the root. Only what leaves it goes through this module.
"""

from __future__ import annotations

from typing import Final, cast
from urllib.parse import quote

from starlette.datastructures import URL
from starlette.requests import HTTPConnection
from starlette.types import Scope

#: Key of the ASGI scope: the path that clients put before this application's own paths.
PREFIX_KEY: Final = "showandtell.prefix"
#: Key of the ASGI scope: the public scheme and host, if they are configured.
ORIGIN_KEY: Final = "showandtell.origin"


def prefix_of(scope: Scope) -> str:
    """Return the path that clients put before this application's own paths; empty at the root."""
    return cast("str", scope.get(PREFIX_KEY, ""))


def public_path(scope: Scope, path: str) -> str:
    """Return a path of this application as clients of its host see it."""
    return quote(prefix_of(scope)) + path


def public_origin(request: HTTPConnection) -> str:
    """Return the public scheme and host: the configured ones, or those of the request, which `OriginGuard` accepted."""
    configured: str | None = request.scope.get(ORIGIN_KEY)
    return configured or f"{request.url.scheme}://{request.url.netloc}"


def public_url(request: HTTPConnection, path: str) -> str:
    """Return the absolute address of a path of this application."""
    return public_origin(request) + public_path(request.scope, path)


def split_public_url(public_url: str) -> tuple[str, str]:
    """Split a configured address into its origin and its prefix, without a slash at the end."""
    url = URL(public_url)
    return f"{url.scheme}://{url.netloc}", clean_prefix(url.path)


def clean_prefix(path: str) -> str:
    """Return a prefix with one slash before each segment and none at the end."""
    return "".join(f"/{segment}" for segment in path.split("/") if segment)
