"""Base URLs, keys and headers: found in arguments and variables, checked, and spelt. A key is never shown, by no error.

What is needed anew for each request (tokens that expire, signatures) is made by `google` and `aws`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, assert_never
from urllib.parse import urlsplit

from showandtell.errors import BadInput

#: The header that a key travels in.
Form: TypeAlias = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key"]

#: What a header's value may hold: visible ASCII, and spaces within.
VALUE = re.compile(r"[\x20-\x7e]*")
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: Headers that say how a request is written, or to whom: another value would break it, or let a second one hide in it.
FRAMING = frozenset(
    {"content-length", "transfer-encoding", "connection", "content-encoding", "expect", "upgrade", "host"}
)
#: What no address holds, and `urlsplit` would silently leave out.
SPACE = re.compile(r"[\s\x00-\x1f\x7f]")


def find(variables: Sequence[str], environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The first variable that says anything, and what it says."""
    for name in variables:
        if value := environ.get(name, "").strip():
            return name, value
    return None


def check_base(source: str, value: str, example: str) -> str:
    """A base URL without a slash at its end. Raises `BadInput`, which names its source but shows nothing of it."""
    problem = problem_of(value)
    if problem:
        raise BadInput(f"{source} is no base URL: it {problem}; write it as in {example}")
    return value.rstrip("/")


def problem_of(value: str) -> str | None:
    """What keeps a text from being a base URL."""
    if SPACE.search(value):
        return "holds spaces or line breaks"
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "can't be read as a URL"
    if parts.scheme not in {"http", "https"}:
        return "begins with neither http:// nor https://"
    if not host or port == 0:
        return "names no host"
    if "@" in parts.netloc:
        return "holds a name or password, which belong into a key"
    return "has a query or fragment" if "?" in value or "#" in value else None


def join(base: str, prefix: str, drop: str) -> str:
    """A base URL as our wire modules take it: without what they add, and with what the host's own SDK adds."""
    base = base.removesuffix(drop)
    return base if base.endswith(prefix) else base + prefix


def check_key(source: str, value: str) -> str:
    """A key without the spaces around it. Raises `BadInput`, which names its source."""
    key = value.strip()
    if not VALUE.fullmatch(key):
        raise BadInput(f"{source} holds a line break or letters that no key has: copy the key once more")
    return key


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers of the caller's own, names in lower case. Raises `BadInput`, which names a header but not its value."""
    for name, value in headers.items():
        if not NAME.fullmatch(name):
            raise BadInput(f"{name!r} is no name of a header")
        if name.lower() in FRAMING:
            raise BadInput(f"the header {name} says how a request is written, which can't be changed: leave it out")
        if not VALUE.fullmatch(value):
            raise BadInput(f"the header {name} holds a line break or letters that no header may hold")
    return {name.lower(): value for name, value in headers.items()}


def spell(key: str, form: Form) -> dict[str, str]:
    """A key as a header."""
    match form:
        case "bearer":
            return {"authorization": f"Bearer {key}"}
        case "x-api-key" | "x-goog-api-key" | "api-key":
            return {form: key}
        case _:
            assert_never(form)
