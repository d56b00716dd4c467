"""JPEG: every segment from the start to the end of the image, over coded data as well (ITU T.81, annex B).

Coded data has no checksum: a changed bit in it shows only in the picture.
"""

from __future__ import annotations

import re
from typing import Final

from showandtell.errors import BadFile
from showandtell.media.structure.measured import Measured
from showandtell.media.structure.orientation import displayed_size
from showandtell.media.structure.scan import Damaged, Scan, Unusual

#: Any marker but restarts, stuffed bytes and fill bytes.
MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
START, END, SCAN, TABLES, QUANTIZATION, EXIF = 0xD8, 0xD9, 0xDA, 0xC4, 0xDB, 0xE1
#: Headers of frames: those that every decoder reads, those without loss, and all.
USUAL_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})
LOSSLESS_FRAMES: Final = frozenset({0xC3, 0xC7, 0xCB, 0xCF})
FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
READ: Final = FRAMES | {SCAN, TABLES, QUANTIZATION, EXIF}
#: Markers that no image has: reserved ones.
RESERVED: Final = frozenset(range(0x02, 0xC0)) | {0xC8}
XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
TEMPORARY: Final = 0x01


def measure_jpeg(scan: Scan) -> Measured:
    """Size of the first image; more images may follow it."""
    scan.skip(2)
    frame, exif, xmp, tables, scans = b"", b"", b"", set[int](), 0
    while (marker := scan.find(MARKER)[1]) != END:
        if marker == TEMPORARY:
            continue
        if marker == START or marker in RESERVED:
            raise Damaged
        body = read_segment(scan, marker)
        if marker in FRAMES:
            check_frame(marker, body, is_first=not frame)
            frame = body
        elif marker == SCAN:
            check_scan(body, frame, tables)
            scans += 1
        elif marker in {TABLES, QUANTIZATION}:
            check_tables(marker, body)
            tables.add(marker)
        elif marker == EXIF and body.startswith(b"Exif\0\0"):
            exif = exif or body
        elif marker == EXIF and body.startswith(XMP):
            xmp = body
    if not scans:
        raise Damaged
    size = int.from_bytes(frame[3:5], "big"), int.from_bytes(frame[1:3], "big")
    if not size[1]:  # it follows after the first scan
        raise Unusual
    return Measured(displayed_size(size, exif, xmp))


def read_segment(scan: Scan, marker: int) -> bytes:
    """The bytes of a segment, or none if they aren't read."""
    length = int.from_bytes(scan.take(2), "big") - 2
    if length < 0:
        raise Damaged
    if marker in READ:
        return scan.take(length)
    scan.skip(length)
    return b""


def check_frame(marker: int, body: bytes, *, is_first: bool) -> None:
    """Raise `BadFile` for a frame that no decoder here reads: of 12 or 16 bits, or without loss (B.2.2)."""
    if len(body) < 6 or len(body) != 6 + 3 * body[5] or not is_first:
        raise Damaged
    if body[0] != 8:
        problem = f"is a JPEG of {body[0]} bits a colour, and only 8 can be decoded"
        raise BadFile("", problem, "save it as a JPEG of 8 bits, or as PNG")
    if marker in LOSSLESS_FRAMES:
        raise BadFile("", "is a lossless JPEG, which can't be decoded", "save it as a usual JPEG, or as PNG")
    if marker not in USUAL_FRAMES or body[5] not in {1, 3, 4}:
        raise Unusual


def check_scan(body: bytes, frame: bytes, tables: set[int]) -> None:
    """Raise `Damaged` for a scan without a frame or tables, or of a component that the frame doesn't have (B.2.3)."""
    if not frame or QUANTIZATION not in tables or not body or len(body) != 4 + 2 * body[0]:
        raise Damaged
    if not 1 <= body[0] <= 4 or not set(body[1 : 1 + 2 * body[0] : 2]) <= set(frame[6::3]):
        raise Damaged


def check_tables(marker: int, body: bytes) -> None:
    """Raise `Damaged` for tables that don't fill their segment, or have impossible codes (B.2.4, C.2)."""
    at = 0
    while at < len(body):
        if marker == QUANTIZATION:
            at += 1 + 64 * (1 + (body[at] >> 4))
            continue
        counts = body[at + 1 : at + 17]
        if body[at] & 0xEC or sum(counts) > 256 or sum(count << 15 - bit for bit, count in enumerate(counts)) > 1 << 16:
            raise Damaged
        at += 17 + sum(counts)
    if at != len(body):
        raise Damaged
