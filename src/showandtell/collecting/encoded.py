"""Bytes and their spellings: base64, data URIs, UTF-8 text, and bytes whose signature says what they are.

Nothing here opens a path or an address.
"""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote

import pybase64

from showandtell.collecting.places import Misfit
from showandtell.content import File
from showandtell.files import kind_of
from showandtell.media.claims import UNKNOWN
from showandtell.media.signatures import narrow_type, recognise

#: A data URI's type and parameters end before this; a longer head is text that merely begins with "data:".
LONGEST_HEAD = 512
#: No honest word is base64 of so many characters at its beginning, without a space; no file is shorter.
SHORTEST = 64
BARE = re.compile(r"[A-Za-z0-9+/_-]{64}")
DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.+=%-]+)*;base64,[A-Za-z0-9+/_-]+={0,2}")
URL_SAFE = str.maketrans("-_", "+/")


def proved_type(data: bytes) -> str | None:
    """The media type that a signature proves, None where there is none."""
    candidate = recognise(lambda offset, length: data[offset : offset + length], len(data))
    proved = candidate and narrow_type(candidate, None)
    return None if proved == UNKNOWN else proved


def read_bytes(data: bytes) -> File | str:
    """A file where the signature proves its type, words where the bytes are UTF-8 text."""
    media_type = proved_type(data)
    if media_type:
        return File.from_bytes(data, media_type)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Misfit(f"{len(data)} bytes of no known type; return File.from_bytes(data, media_type=...)")
    return text


def join_surrogates(text: str) -> str:
    """Join surrogate pairs and put U+FFFD for lone ones, so that the text has a UTF-8 form."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decode_base64(text: str) -> bytes | None:
    """The bytes, None where it isn't base64; line breaks are allowed, as MIME writes them."""
    try:
        return pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    try:
        return pybase64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def file_from_base64(data: str, media_type: str | None, name: str | None = None) -> File:
    """The file that a block carries as base64 or as a data URI; what doesn't decode is a misfit."""
    if data.startswith("data:"):
        file = read_data_uri(data)
        if file is None:
            raise Misfit(f"a data URI that doesn't decode ({data[:40]!r}); send whole base64")
        return File(file.source, file.media_type or media_type, name or file.name)
    decoded = decode_base64(data)
    if not decoded:
        raise Misfit(f"a file block whose base64 doesn't decode ({len(data)} characters); send whole, padded base64")
    return File(decoded, media_type, name)


def split_files(text: str) -> list[str | File] | None:
    """Words and the files written out among them as base64, in order; None for ordinary text, which is told at once.

    A file is a data URI anywhere, or a text that is base64 from end to end and proves a media type.
    """
    if ";base64," in text:
        return _split_uris(text)
    file = read_bare(text) if len(text) >= SHORTEST and BARE.match(text) else None
    return None if file is None else [file]


def read_bare(text: str) -> File | None:
    """The file whose base64 a text is, where a signature proves what it is; None for every other text."""
    data = decode_base64(text.translate(URL_SAFE))
    media_type = proved_type(data) if data else None
    shown = media_type is not None and kind_of(media_type) not in {"text", "other"}
    return File.from_bytes(data, media_type) if data and shown else None


def _split_uris(text: str) -> list[str | File] | None:
    pieces: list[str | File] = []
    end = 0
    for match in DATA_URI.finditer(text):
        file = read_data_uri(match[0])
        if file is not None:
            pieces += [text[end : match.start()], file]
            end = match.end()
    if not pieces:
        return None
    return [piece for piece in (*pieces, text[end:]) if piece]


def read_data_uri(text: str) -> File | None:
    """The file of `data:<media type>;base64,<data>`, None for every other text."""
    comma = text.find(",", 0, LONGEST_HEAD)
    if comma < 0 or not text.startswith("data:"):
        return None
    media_type, *parameters = text[len("data:") : comma].split(";")
    if "/" not in media_type or parameters[-1:] != ["base64"]:
        return None
    data = decode_base64(text[comma + 1 :])
    named = (unquote(word.removeprefix("name=")) for word in parameters if word.startswith("name="))
    return File(data, media_type, next(named, None)) if data else None
