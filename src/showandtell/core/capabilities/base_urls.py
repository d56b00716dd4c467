"""What base URLs and headers of providers may be, in the table, in packages, in variables and in arguments."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

#: The name of a header, as a regular expression.
HEADER_NAME: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
#: The value of a header: visible ASCII and spaces.
HEADER_VALUE: Final = r"[\x20-\x7e]*"
#: Headers about a request's framing and destination. Other values would break it, or smuggle a second request.
FRAMING_HEADERS: Final = frozenset(
    {"content-length", "transfer-encoding", "connection", "content-encoding", "expect", "upgrade", "host"}
)
#: Characters that no URL contains, and that `urlsplit` would silently drop.
WHITESPACE: Final = re.compile(r"[\s\x00-\x1f\x7f]")


def base_url_problem(value: str) -> str | None:
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
