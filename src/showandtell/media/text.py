"""Whether bytes are readable text, and which kind: HTML and SVG are recognized, other text is as claimed or plain."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from showandtell.core.media_types.converters import is_text_type

CHUNK = 1 << 20
JSON_LIMIT = 1 << 20
#: C0 controls and DEL, but for tab, line feed, form feed, carriage return, and escape (terminal colours in logs).
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
PROLOG = re.compile(r"\ufeff?(?:\s|<\?xml[^>]*\?>|<!--(?s:.*?)-->)*")
MARKUP = re.compile(r"<!doctype\s+(html|svg)\b|<(html|head|body|script|iframe|svg)[\s/>]", re.IGNORECASE)


def read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The rest of a stream in chunks of 1 MiB."""
    while chunk := stream.read(CHUNK):
        yield chunk


def is_text(stream: BinaryIO) -> bool:
    """Whether the stream is UTF-8 without control characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in read_chunks(stream):
            if CONTROLS.search(chunk):
                return False
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def is_other_text(stream: BinaryIO) -> bool:
    """Whether the stream is text in another encoding: UTF-16 with a byte order mark, or Latin-1."""
    mark = stream.read(2)
    stream.seek(0)
    if mark not in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return not any(CONTROLS.search(chunk) for chunk in read_chunks(stream))
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        return not any("\0" in decoder.decode(chunk) for chunk in read_chunks(stream))
    except UnicodeDecodeError:
        return False


def name_markup(head: str) -> str | None:
    """The type of HTML or SVG if the text starts as such after any prolog; None for other text."""
    prolog = PROLOG.match(head)
    match = MARKUP.match(head, prolog.end() if prolog else 0)
    if match is None:
        return None
    return "image/svg+xml" if (match[1] or match[2]).lower() == "svg" else "text/html"


def is_json(stream: BinaryIO, size: int) -> bool:
    """Whether it parses; above 1 MiB only whether it starts like an object or an array."""
    if size > JSON_LIMIT:
        return stream.read(64).lstrip()[:1] in {b"{", b"["}
    try:
        json.loads(stream.read())
    except (ValueError, RecursionError):
        return False
    return True


def name_text(stream: BinaryIO, size: int, claim: str | None) -> str | None:
    """The media type of readable text, from the start of `stream`; None if it isn't text."""
    stream.seek(0)
    if not is_text(stream):
        return None
    stream.seek(0)
    if markup := name_markup(stream.read(4096).decode("utf-8", "ignore")):
        return markup
    stream.seek(0)
    if claim == "application/json":
        return claim if is_json(stream, size) else "text/plain"
    return claim if claim is not None and is_text_type(claim) else "text/plain"
