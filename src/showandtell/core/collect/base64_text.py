"""Bytes and their spellings: base64, UTF-8 text, and bytes whose signature says what they are.

Nothing here opens a path or an address.
"""

from __future__ import annotations

import re

from showandtell.core.collect.data_uris import decode_base64, read_data_uri, split_data_uris
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.media_types.claims import UNKNOWN
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.media_types.signatures import narrow_type, recognise
from showandtell.core.messages.file import File

#: No honest word is base64 of so many characters at its beginning, without a space; no file is shorter.
SHORTEST = 64
BARE = re.compile(r"\s*+[A-Za-z0-9+/_-]{60}")
#: Both spellings that "base64" has; looked for first, for most texts have neither.
MARK = re.compile(r"base64\s{0,8},", re.IGNORECASE)


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
        raise PointerError(f"{len(data)} bytes of no known type; return File.from_bytes(data, media_type=...)")
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


def file_from_base64(data: str, media_type: str | None, name: str | None = None) -> File:
    """The file that a block carries as base64 or as a data URI; what doesn't decode is a misfit."""
    if is_data_uri(data):
        file = read_data_uri(data)
        if file is None:
            raise PointerError(f"a data URI that doesn't decode ({data[:40]!r}); send whole base64")
        return File(file.source, file.media_type or media_type, name or file.name)
    # What was cut is mostly not padded, and a tool can send it again.
    decoded = decode_base64(data) if len("".join(data.split())) % 4 == 0 else None
    if not decoded:
        raise PointerError(
            f"a file block whose base64 doesn't decode ({len(data)} characters); send whole, padded base64"
        )
    return File(decoded, media_type, name)


def split_files(text: str) -> list[str | File] | None:
    """Words and the files written out among them as base64, in order; None for ordinary text, which is told at once.

    A file is a data URI anywhere, or a text that is base64 from end to end and proves a media type.
    """
    if "64" in text and MARK.search(text) and (pieces := split_data_uris(text)):
        return pieces
    file = read_bare(text) if len(text) >= SHORTEST and BARE.match(text) else None
    return None if file is None else [file]


def is_data_uri(text: str) -> bool:
    """Whether a text begins as a data URI does."""
    return text[:16].lstrip()[:5].lower() == "data:"


def read_bare(text: str) -> File | None:
    """The file whose base64 a text is, where a signature proves what it is; None for every other text."""
    data = decode_base64(text)
    media_type = proved_type(data) if data else None
    shown = media_type is not None and kind_of(media_type) not in {"text", "other"}
    return File.from_bytes(data, media_type) if data and shown else None
