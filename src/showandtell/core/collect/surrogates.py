"""Text that has a UTF-8 form: without lone surrogates, the halves of characters that were cut in two."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

REPLACEMENT = "\ufffd"
#: Escapes in JSON: a surrogate pair, a lone surrogate (in group 1), or any other.
ESCAPES = re.compile(rb"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u([dD][89a-fA-F][\da-fA-F]{2})|\\.")


def join_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone ones by U+FFFD, so that the text has a UTF-8 form."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def replace_lone_escapes(json: bytes, replace: Callable[[int], str] = lambda _: REPLACEMENT) -> bytes:
    """Return JSON in which every escape of a lone surrogate, which msgspec and pydantic refuse, is replaced.

    `replace` returns the text for a code unit from 0xD800 to 0xDFFF. Default: U+FFFD.
    """
    if b"\\ud" not in json and b"\\uD" not in json:
        return json
    return ESCAPES.sub(lambda match: match[0] if match[1] is None else replace(int(match[1], 16)).encode(), json)


def is_json(text: str) -> bool:
    """Whether the arguments of a call are complete JSON, lone surrogates aside. No text at all is an empty object."""
    try:
        msgspec.json.decode(replace_lone_escapes(text.encode()) or b"{}")
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True
