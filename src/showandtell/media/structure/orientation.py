"""How an image is displayed: the orientation in its EXIF or XMP, read without a decoder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Size: TypeAlias = tuple[int, int]
Order: TypeAlias = Literal["little", "big"]

ORIENTATION: Final = 0x0112
#: Bytes of an integer, by EXIF's number of its type (EXIF 3.0, 4.6.2): byte, short, long.
WIDTHS: Final = {1: 1, 3: 2, 4: 4}
ORDERS: Final[Mapping[bytes, Order]] = {b"II*\0": "little", b"MM\0*": "big"}
#: As an attribute or an element of XMP (ISO 16684-1, 7.5).
XMP: Final = re.compile(rb'tiff:Orientation(?:="|>)([1-8])')


def displayed_size(size: Size, exif: bytes, xmp: bytes = b"") -> Size:
    """Width and height as displayed. EXIF has precedence over XMP; damaged EXIF counts as none."""
    found = find_orientation(exif.removeprefix(b"Exif\0\0"))
    if found is None and (in_xmp := XMP.search(xmp)):
        found = int(in_xmp[1])
    return turn_size(size, found or 1)


def turn_size(size: Size, orientation: int) -> Size:
    """Width and height as displayed: orientations 5 to 8 swap them."""
    return (size[1], size[0]) if orientation in range(5, 9) else size


def find_orientation(exif: bytes) -> int | None:
    """The value in the first directory of EXIF; None if it has none."""
    order = ORDERS.get(exif[:4])
    if order is None:
        return None
    start = int.from_bytes(exif[4:8], order) + 2
    count = int.from_bytes(exif[start - 2 : start], order)
    for at in range(start, min(start + 12 * count, len(exif) - 11), 12):
        if int.from_bytes(exif[at : at + 2], order) == ORIENTATION:
            width = WIDTHS.get(int.from_bytes(exif[at + 2 : at + 4], order), 0)
            return int.from_bytes(exif[at + 8 : at + 8 + width], order)
    return None
