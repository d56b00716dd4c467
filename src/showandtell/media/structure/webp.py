"""WebP: every chunk within the length that the file declares (RFC 9649, 2). Its data has no checksums."""

from __future__ import annotations

import struct
from typing import Final

from showandtell.media.structure.measured import Measured
from showandtell.media.structure.orientation import Size, displayed_size
from showandtell.media.structure.scan import Damaged, Scan

HEAD: Final = struct.Struct("<4sI")
EXTENDED, LOSSY, LOSSLESS, FRAME, ALPHA = b"VP8X", b"VP8 ", b"VP8L", b"ANMF", b"ALPH"
METADATA: Final = frozenset({b"EXIF", b"XMP "})
#: Bytes that are read of metadata, and of other chunks.
METADATA_LIMIT, READ_LIMIT = 1 << 20, 30
KEY_FRAME, LOSSLESS_MARK = b"\x9d\x01\x2a", 0x2F


def measure_webp(scan: Scan) -> Measured:
    """Size of the canvas and number of frames."""
    scan.end_at(8 + int.from_bytes(scan.take(12)[4:8], "little"))
    canvas: Size | None = None
    size: Size | None = None
    metadata, frames = dict[bytes, bytes](), 0
    while scan.left >= HEAD.size:
        kind, data = read_chunk(scan)
        if kind == EXTENDED:
            canvas = 1 + int.from_bytes(data[4:7], "little"), 1 + int.from_bytes(data[7:10], "little")
        elif kind in {LOSSY, LOSSLESS}:
            size = size or read_size(kind, data)
        elif kind == FRAME:
            if data[16:20] not in {LOSSY, LOSSLESS, ALPHA}:
                raise Damaged
            frames += 1
        elif kind in METADATA:
            metadata.setdefault(kind, data)
    shown = canvas or size
    if shown is None or not (frames or size) or (size and size != shown):
        raise Damaged
    return Measured(displayed_size(shown, metadata.get(b"EXIF", b""), metadata.get(b"XMP ", b"")), frames or 1)


def read_chunk(scan: Scan) -> tuple[bytes, bytes]:
    """Type and first bytes of the next chunk."""
    kind, length = HEAD.unpack(scan.take(HEAD.size))
    data = scan.take(min(length, METADATA_LIMIT if kind in METADATA else READ_LIMIT))
    scan.skip(length - len(data))
    scan.skip(min(length % 2, scan.left))  # padding, which may be missing at the end
    return kind, data


def read_size(kind: bytes, data: bytes) -> Size:
    """Width and height of coded data (RFC 6386, 9.1; RFC 9649, 3.4)."""
    if kind == LOSSLESS:
        bits = int.from_bytes(data[1:5], "little")
        if len(data) < 5 or data[0] != LOSSLESS_MARK or bits >> 29:
            raise Damaged
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if len(data) < 10 or data[0] & 1 or data[3:6] != KEY_FRAME:
        raise Damaged
    return int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF
