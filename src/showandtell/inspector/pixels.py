"""Read width and height from the header of a PNG, JPEG, GIF or WebP."""

from __future__ import annotations

from struct import error as TooShort  # noqa: N812 - named by what it means in this module
from struct import unpack_from

#: JPEG markers with the size of the frame: SOF0 to SOF15 without DHT, JPG and DAC.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def read_pixels(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, or None if the header doesn't have them."""
    try:
        match data[:4]:
            case b"\x89PNG":
                return unpack_from(">II", data, 16)
            case b"GIF8":
                return unpack_from("<HH", data, 6)
            case b"RIFF":
                return _webp(data)
            case _:
                return _jpeg(data) if data[:2] == b"\xff\xd8" else None
    except TooShort:
        return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at < len(data):
        marker, size = unpack_from(">xBH", data, at)
        if marker in FRAMES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + size
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            (bits,) = unpack_from("<I", data, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None
