"""Reads and checks base URLs, keys and headers from arguments and environment variables. No error shows a key.

`google` and `aws` make credentials that change with each request, such as expiring tokens and signatures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import assert_never
from urllib.parse import urlsplit

from showandtell.core.capabilities.provider import KeyHeader
from showandtell.errors import BadInput

#: Allowed header values: visible ASCII and spaces.
HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: Headers about a request's framing and destination. Other values would break it, or smuggle a second request.
FRAMING_HEADERS = frozenset(
    {"content-length", "transfer-encoding", "connection", "content-encoding", "expect", "upgrade", "host"}
)
#: Characters that no URL contains, and that `urlsplit` would silently drop.
WHITESPACE = re.compile(r"[\s\x00-\x1f\x7f]")


def find_variable(variables: Sequence[str], environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The name and value of the first variable that isn't empty."""
    for name in variables:
        if value := environ.get(name, "").strip():
            return name, value
    return None


def check_base(source: str, value: str, example: str) -> str:
    """A base URL without a trailing slash. Raises `BadInput`, which names the source but doesn't show the value."""
    problem = problem_of(value)
    if problem:
        raise BadInput(f"{source} is not a base URL: it {problem}; use a URL like {example}")
    return value.rstrip("/")


def problem_of(value: str) -> str | None:
    """The reason why a text is not a base URL; None if it is one."""
    if WHITESPACE.search(value):
        return "contains spaces or line breaks"
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "can't be parsed"
    if parts.scheme not in {"http", "https"}:
        return "starts with neither http:// nor https://"
    if not host or port == 0:
        return "has no host"
    if "@" in parts.netloc:
        return "contains a user name or password; pass a key instead"
    return "has a query or fragment" if "?" in value or "#" in value else None


def join_base(base: str, prefix: str, drop: str) -> str:
    """A base URL for our wire modules: without the suffix that they add, with the prefix that the host's SDK adds."""
    base = base.removesuffix(drop)
    return base if base.endswith(prefix) else base + prefix


def check_key(source: str, value: str) -> str:
    """A key without surrounding spaces. Raises `BadInput`, which names the source."""
    key = value.strip()
    if not HEADER_VALUE.fullmatch(key):
        raise BadInput(f"{source} contains a line break or characters that no key has: copy the key again")
    return key


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers, with names in lower case. Raises `BadInput`, which names the header but not its value."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name):
            raise BadInput(f"{name!r} is not a valid header name")
        if name.lower() in FRAMING_HEADERS:
            raise BadInput(f"the header {name} controls how a request is sent and can't be set: leave it out")
        if not HEADER_VALUE.fullmatch(value):
            raise BadInput(f"the header {name} contains a line break or characters that are not allowed in headers")
    return {name.lower(): value for name, value in headers.items()}


def read_headers(variables: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers in the first variable that is set, a line `Name: value` for each. Raises `BadInput`."""
    if (found := find_variable(variables, environ)) is None:
        return {}
    pairs = [line.partition(":") for line in found[1].split("\n") if line.strip()]
    if not all(colon for _, colon, _ in pairs):
        raise BadInput(f"{found[0]} has a line without a colon: write each header as Name: value")
    return check_headers({name.strip(): value.strip() for name, _, value in pairs})


def write_headers(headers: Mapping[str, str]) -> str:
    """Headers as `read_headers` reads them."""
    return "\n".join(f"{name}: {value}" for name, value in headers.items())


def key_header(key: str, header: KeyHeader) -> dict[str, str]:
    """The header that carries a key."""
    match header:
        case "bearer":
            return {"authorization": f"Bearer {key}"}
        case "x-api-key" | "x-goog-api-key" | "api-key":
            return {header: key}
        case _:
            assert_never(header)
