"""Files in bytes and in base64 text. Nothing here opens a path or fetches an address."""

from __future__ import annotations

import re
from dataclasses import replace

from showandtell.core.collect.data_uris import decode_base64, has_data_uri, read_data_uri, split_data_uris
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.media_types.claims import UNKNOWN
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.media_types.signatures import detect_type
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Text

#: Minimum characters of base64 without a data URI's head. No file is shorter, and no word is as long.
MIN_BASE64 = 64
BASE64_START = re.compile(r"\s*+[A-Za-z0-9+/_-]{60}")
#: Minimum digits of a text that is the hex of a file. Hashes are no longer than 128 of them.
MIN_HEX = 130
HEX_START = re.compile(r"\s*+(?:0x|\\x)?[0-9A-Fa-f]{60}")


def detect_bytes(data: bytes) -> str | None:
    """The media type that the signature of these bytes shows; None for text and unknown bytes."""
    candidate = detect_type(lambda offset, length: data[offset : offset + length], len(data))
    detected = candidate
    return None if detected == UNKNOWN else detected


def read_bytes(data: bytes) -> File | str:
    """A file if the bytes have a known signature, else their UTF-8 text. Raises `PointerError` if they are neither."""
    media_type = detect_bytes(data)
    if media_type:
        return File.from_bytes(data, media_type)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise PointerError(f"{len(data)} bytes of no known type; return File.from_bytes(data, media_type=...)")
    return text


def file_from_base64(data: str, media_type: str | None, name: str | None = None) -> File:
    """The file of a block, from base64 or from a data URI. Raises `PointerError` if it doesn't decode."""
    if is_data_uri(data):
        file = read_data_uri(data)
        if file is None:
            raise PointerError(f"a data URI that doesn't decode ({data[:40]!r}); send whole base64")
        return replace(file, media_type=file.media_type or media_type, name=name or file.name)
    # Missing padding mostly means that the data was cut off, and a tool can send it again.
    decoded = decode_base64(data) if len("".join(data.split())) % 4 == 0 else None
    if not decoded:
        raise PointerError(
            f"a file block whose base64 doesn't decode ({len(data)} characters); send whole, padded base64"
        )
    return File(decoded, media_type, name)


def split_text(part: Text) -> list[Text | File]:
    """Split a text part into text and the files written in it, all for the same audience. Never empty."""
    pieces = split_files(part.text) or [part.text]
    return [
        for_audience(piece, part.audience) if isinstance(piece, File) else Text(join_surrogates(piece), part.audience)
        for piece in pieces
    ]


def for_audience(file: File, audience: str) -> File:
    """The file, kept from everyone but this audience."""
    return file if audience == "both" else replace(file, audience=audience)


def split_files(text: str) -> list[str | File] | None:
    """Split text into text and the files written in it as base64. None, quickly, for text without files.

    A file is a data URI anywhere, or a text that is nothing but base64 or hex with a known signature.
    """
    if has_data_uri(text) and (pieces := split_data_uris(text)):
        return pieces
    file = read_raw_base64(text) if len(text) >= MIN_BASE64 and BASE64_START.match(text) else None
    if file is None and len(text) >= MIN_HEX and HEX_START.match(text):
        file = read_hex(text)
    return None if file is None else [file]


def is_data_uri(text: str) -> bool:
    """Whether a text starts like a data URI."""
    return text[:16].lstrip()[:5].lower() == "data:"


def read_raw_base64(text: str) -> File | None:
    """The file of a text that is nothing but base64. None unless its signature is that of a media file."""
    data = decode_base64(text)
    return read_media(data) if data else None


def read_hex(text: str) -> File | None:
    """The file of a text that is nothing but hex, after "0x" or PostgreSQL's backslash and x."""
    try:
        return read_media(bytes.fromhex(text.strip().removeprefix("0x").removeprefix("\\x")))
    except ValueError:
        return None


def read_media(data: bytes) -> File | None:
    """The file of bytes with the signature of a media file. None for others."""
    media_type = detect_bytes(data)
    is_media = media_type is not None and kind_of(media_type) not in {"text", "other"}
    return File.from_bytes(data, media_type) if is_media else None
