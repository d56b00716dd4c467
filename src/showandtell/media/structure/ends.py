"""Whether the end of a container of audio or video is there: its decoder only reads the start, or what is left.

AAC, FLAC and MPEG program streams have no length that a cut would contradict.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from showandtell.media.structure.scan import EndMissing, Scan
from showandtell.media.structure.tracks import CHUNK, list_chunks

IFF: Final = struct.Struct(">4sI")
#: ASF's data object (ASF 1.20, 10.1).
ASF_DATA: Final = bytes.fromhex("3626b2758e66cf11a6d900aa0062ce6c")
SEGMENT: Final = b"\x18\x53\x80\x67"
#: Bytes of the head of an Ogg page, and its flag for the last one of a stream.
PAGE_SIZE, OGG_END = 27, 4


def check_chunks(scan: Scan, head: struct.Struct) -> None:
    """RIFF and IFF: each chunk."""
    deque(list_chunks(scan, head), 0)


def check_asf(scan: Scan) -> None:
    """ASF: each object up to the data (ASF 1.20, 2.1)."""
    kind = b""
    while kind != ASF_DATA and scan.left >= 24:
        kind, length = scan.take(16), int.from_bytes(scan.take(8), "little")
        if length < 24:  # a live recording
            return
        scan.skip(length - 24)


def check_ogg(scan: Scan) -> None:
    """Ogg: each page, the last one of which ends a stream (RFC 3533, 6)."""
    flags = OGG_END
    while (head := scan.take(min(PAGE_SIZE, scan.left))).startswith(b"OggS"):
        if len(head) < PAGE_SIZE:
            raise EndMissing
        flags = head[5]
        scan.skip(sum(scan.take(head[26])))
    if not flags & OGG_END:
        raise EndMissing


def check_matroska(scan: Scan) -> None:
    """Matroska and WebM: the segment, if its length is known (RFC 8794, 5 and 6)."""
    scan.skip(4)
    scan.skip(read_length(scan) or 0)
    if scan.take(4) == SEGMENT:
        scan.skip(read_length(scan) or 0)


def read_length(scan: Scan) -> int | None:
    """EBML's length of up to eight bytes; None if it is unknown."""
    first = scan.take(1)[0]
    width = 8 - first.bit_length()
    rest = scan.take(min(width, 7))
    length = int.from_bytes(bytes([first & (0x7F >> min(width, 7))]) + rest, "big")
    return None if length == (1 << 7 * (width + 1)) - 1 else length


def check_flv(scan: Scan) -> None:
    """FLV: each tag (FLV 10.1, E.3)."""
    scan.skip(9)
    while scan.left > 4:
        head = scan.take(15)
        scan.skip(int.from_bytes(head[5:8], "big"))
    scan.skip(scan.left and 4)


CHECKS: Final[dict[str, Callable[[Scan], None]]] = {
    "audio/aiff": partial(check_chunks, head=IFF),
    "audio/ogg": check_ogg,
    "audio/webm": check_matroska,
    "video/ogg": check_ogg,
    "video/webm": check_matroska,
    "video/x-flv": check_flv,
    "video/x-matroska": check_matroska,
    "video/x-ms-wmv": check_asf,
    "video/x-msvideo": partial(check_chunks, head=CHUNK),
}
