"""Which kind of text bytes are: HTML and SVG are recognized, other text is as claimed or plain."""

from __future__ import annotations

import json
import re
from typing import BinaryIO

from showandtell.core.media_types.converters import is_text_type
from showandtell.core.media_types.kinds import kind_of
from showandtell.media.encodings import CODECS, charset_of, find_encoding

JSON_LIMIT = 1 << 20
PROLOG = re.compile(r"\ufeff?(?:\s|<\?xml[^>]*\?>|<!--(?s:.*?)-->)*")
MARKUP = re.compile(r"<!doctype\s+(html|svg)\b|<(html|head|body|script|iframe|svg)[\s/>]", re.IGNORECASE)


def name_markup(head: str) -> str | None:
    """The type of HTML or SVG if the text starts as such after any prolog; None for other text."""
    prolog = PROLOG.match(head)
    match = MARKUP.match(head, prolog.end() if prolog else 0)
    if match is None:
        return None
    return "image/svg+xml" if (match[1] or match[2]).lower() == "svg" else "text/html"


def is_json(stream: BinaryIO, size: int, encoding: str) -> bool:
    """Whether it parses; above 1 MiB only whether it starts like an object or an array."""
    if size > JSON_LIMIT:
        return stream.read(64).decode(CODECS[encoding], "ignore").lstrip("\ufeff \t\r\n")[:1] in {"{", "["}
    try:
        json.loads(stream.read().decode(CODECS[encoding]).removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def name_text(stream: BinaryIO, size: int, claim: str | None, claimed: str | None = None) -> tuple[str, str] | None:
    """The media type of readable text and its encoding; None if it isn't text.

    `claim` is the normal form of `claimed`, the media type as the sender wrote it, or the type of the file's name.
    """
    is_claimed = claim is not None and (kind_of(claim) == "text" or is_text_type(claim))
    charset = charset_of(claimed)
    encoding = find_encoding(stream, is_claimed=is_claimed, charset=charset, claim=claim)
    if encoding is None:
        return None
    stream.seek(0)
    if markup := name_markup(stream.read(4096).decode(CODECS[encoding], "ignore")):
        return markup, encoding
    stream.seek(0)
    if claim == "application/json":
        return (claim if is_json(stream, size, encoding) else "text/plain"), encoding
    return (claim if claim is not None and is_text_type(claim) else "text/plain"), encoding
