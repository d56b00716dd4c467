"""PNG: every chunk by its checksum, from the header to the end (W3C PNG, third edition, 5 and 11)."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from showandtell.media.structure.measured import Measured
from showandtell.media.structure.orientation import displayed_size
from showandtell.media.structure.scan import Damaged, Scan, Unusual

HEAD: Final = struct.Struct(">I4s")
HEADER: Final = struct.Struct(">IIBBBBB")
#: Bits of a sample, by colour type.
DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
#: Chunks that are read, up to a limit.
READ: Final = frozenset({b"IHDR", b"acTL", b"eXIf", b"iTXt", b"tEXt", b"zTXt"})
READ_LIMIT: Final = 1 << 20
#: How programs wrote EXIF before it had a chunk: in hexadecimal digits.
RAW_EXIF: Final = b"Raw profile type exif\0"
XMP: Final = b"XML:com.adobe.xmp\0"
PLAIN_XMP: Final = XMP + b"\0"


def measure_png(scan: Scan) -> Measured:
    """Size and number of frames."""
    scan.skip(8)
    size, exif, xmp = read_header(scan), b"", b""
    has_data = default_image = is_unusual = False
    frames = controls = 0
    while (chunk := read_chunk(scan))[0] != b"IEND":
        match chunk:
            case b"IDAT", _:
                default_image = default_image or not controls
                has_data = True
            case b"acTL", data if not (frames or has_data):
                frames = int.from_bytes(data[:4], "big")
            case b"fcTL", _:
                controls += 1
            case b"eXIf", data:
                exif = data
            case b"IHDR", _:
                raise Damaged
            case b"iTXt", data if data.startswith(PLAIN_XMP):
                xmp = data
            case _:
                is_unusual = is_unusual or needs_decoder(*chunk)
    if not has_data:
        raise Damaged
    if is_unusual or controls != frames:
        raise Unusual
    # The image outside of an animation counts as one of its frames.
    return Measured(displayed_size(size, exif, xmp), frames + default_image if frames else 1)


def read_chunk(scan: Scan) -> tuple[bytes, bytes]:
    """Type and data of the next chunk, or no data if it isn't read. Raises `Damaged` if its checksum doesn't match."""
    length, kind = HEAD.unpack(scan.take(8))
    if not kind.isalpha():
        raise Damaged
    data, checksum = b"", zlib.crc32(kind)
    if kind in READ and length <= READ_LIMIT:
        data = scan.take(length)
        checksum = zlib.crc32(data, checksum)
    else:
        checksum = scan.checksum(length, checksum)
    if scan.take(4) != checksum.to_bytes(4, "big"):
        raise Damaged
    return kind, data


def read_header(scan: Scan) -> tuple[int, int]:
    """Width and height of a header whose values are allowed together."""
    kind, data = read_chunk(scan)
    if kind != b"IHDR" or len(data) != HEADER.size:
        raise Damaged
    width, height, depth, colours, compression, filters, interlace = HEADER.unpack(data)
    if depth not in DEPTHS.get(colours, ()) or compression or filters or interlace > 1:
        raise Damaged
    return width, height


def needs_decoder(kind: bytes, data: bytes) -> bool:
    """Whether a chunk may hold EXIF or XMP where only the decoder reads it, or large texts that it rejects."""
    is_packed = kind == b"zTXt" or (kind == b"iTXt" and data.partition(b"\0")[2][:1] != b"\0")
    return is_packed or kind == b"acTL" or data.startswith(RAW_EXIF)
