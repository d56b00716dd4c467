"""Which part of a file a request wants, and whether it has it already: RFC 9110, sections 13 and 14, for one range."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from starlette.datastructures import Headers

#: First byte, and the one behind the last.
Span: TypeAlias = tuple[int, int]

RANGE: Final = re.compile(
    r"bytes[ \t]*=[ \t]*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))[ \t]*", re.ASCII | re.IGNORECASE
)
#: No range that we take is longer.
LONGEST: Final = 64


class Unsatisfiable(Exception):
    """The range lies behind the end: 416."""


def choose_span(method: str, headers: Headers, etag: str, size: int) -> Span | None:
    """The part that is wanted; None for all of it.

    Several ranges, other units and what can't be read are ignored, as the RFC lets a server do; so is a range of a
    file that the client has in another form. Raises `Unsatisfiable`.
    """
    said = headers.getlist("range")
    if method != "GET" or len(said) != 1 or len(said[0]) > LONGEST:
        return None
    wanted = headers.get("if-range")
    if wanted is not None and wanted.strip() != etag:
        return None
    return read_range(said[0], size)


def read_range(said: str, size: int) -> Span | None:
    """One range, as first and last byte, open to the end, or as so many from the end."""
    match = RANGE.fullmatch(said.strip())
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


def has_it(headers: Headers, etag: str) -> bool:
    """Whether the client says that it has just this."""
    tags = (tag.strip().removeprefix("W/") for tag in ",".join(headers.getlist("if-none-match")).split(","))
    return any(tag in {etag, "*"} for tag in tags)
