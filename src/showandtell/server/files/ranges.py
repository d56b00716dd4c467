"""Conditional requests and single byte ranges (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from starlette.datastructures import Headers

#: First byte, and the one after the last.
Span: TypeAlias = tuple[int, int]

RANGE: Final = re.compile(
    r"bytes[ \t]*=[ \t]*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))[ \t]*", re.ASCII | re.IGNORECASE
)
#: Maximum characters of a supported Range header.
MAX_RANGE_HEADER: Final = 64


class Unsatisfiable(Exception):
    """The range starts after the end of the file: status 416."""


def choose_span(method: str, headers: Headers, etag: str, size: int) -> Span | None:
    """Return the requested span, or None for the full file.

    Ignores several ranges, other units and invalid ranges, as the RFC permits, and a range of another version of the
    file (`If-Range`). Raises `Unsatisfiable`.
    """
    ranges = headers.getlist("range")
    if method != "GET" or len(ranges) != 1 or len(ranges[0]) > MAX_RANGE_HEADER:
        return None
    if_range = headers.get("if-range")
    if if_range is not None and if_range.strip() != etag:
        return None
    return parse_range(ranges[0], size)


def parse_range(text: str, size: int) -> Span | None:
    """Parse `bytes=first-last`, `bytes=first-` or `bytes=-suffix`. Raises `Unsatisfiable`."""
    match = RANGE.fullmatch(text.strip())
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        start, end = max(0, size - int(suffix)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise Unsatisfiable
    return start, end


def matches_etag(headers: Headers, etag: str) -> bool:
    """Whether `If-None-Match` names this ETag."""
    tags = (tag.strip().removeprefix("W/") for tag in ",".join(headers.getlist("if-none-match")).split(","))
    return any(tag in {etag, "*"} for tag in tags)
