"""Reads and checks base URLs, keys and headers from arguments and environment variables. No error shows a key.

`google` and `aws` make credentials that change with each request, such as expiring tokens and signatures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from showandtell.core.capabilities.base_urls import FRAMING_HEADERS, HEADER_NAME, HEADER_VALUE, base_url_problem
from showandtell.core.capabilities.provider import BEARER, KeyHeader
from showandtell.errors import BadInput


def find_variable(variables: Sequence[str], environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The name and value of the first variable that isn't empty."""
    for name in variables:
        if value := environ.get(name, "").strip():
            return name, value
    return None


def check_base(source: str, value: str, example: str) -> str:
    """A base URL without a trailing slash. Raises `BadInput`, which names the source but doesn't show the value."""
    problem = base_url_problem(value)
    if problem:
        raise BadInput(f"{source} is not a base URL: it {problem}; use a URL like {example}")
    return value.rstrip("/")


def join_base(base: str, prefix: str, drop: str) -> str:
    """A base URL for our wire modules: without the suffix that they add, with the prefix that the host's SDK adds."""
    base = base.removesuffix(drop)
    return base if base.endswith(prefix) else base + prefix


def check_key(source: str, value: str) -> str:
    """A key without surrounding spaces. Raises `BadInput`, which names the source."""
    key = value.strip()
    if not re.fullmatch(HEADER_VALUE, key):
        raise BadInput(f"{source} contains a line break or characters that no key has: copy the key again")
    return key


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers, with names in lower case. Raises `BadInput`, which names the header but not its value."""
    for name, value in headers.items():
        if not re.fullmatch(HEADER_NAME, name):
            raise BadInput(f"{name!r} is not a valid header name")
        if name.lower() in FRAMING_HEADERS:
            raise BadInput(f"the header {name} controls how a request is sent and can't be set: leave it out")
        if not re.fullmatch(HEADER_VALUE, value):
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
    if header == BEARER:
        return {"authorization": f"Bearer {key}"}
    name, _, before = header.partition(":")
    return {name.strip().lower(): f"{before.strip()} {key}".lstrip()}
