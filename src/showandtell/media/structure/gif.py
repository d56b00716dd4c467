"""GIF: every block up to the trailer (GIF89a, 17 to 27)."""

from __future__ import annotations

from typing import Final

from showandtell.media.structure.measured import Measured
from showandtell.media.structure.scan import Damaged, Scan, Unusual

TRAILER, EXTENSION, IMAGE = b";", b"!", b","
#: Bits of the smallest code of an image's data.
CODE_SIZES: Final = range(1, 13)


def measure_gif(scan: Scan) -> Measured:
    """Size of the screen and number of images."""
    head, frames = scan.take(13), 0
    skip_colours(scan, head[10])
    while (kind := scan.take(1)) != TRAILER:
        if kind == EXTENSION:
            scan.skip(1)
            scan.pass_blocks()
        elif kind == IMAGE:
            skip_colours(scan, scan.take(9)[8])
            if scan.take(1)[0] not in CODE_SIZES or not scan.pass_blocks():
                raise Damaged
            frames += 1
        elif frames:  # decoders stop here, or pass over it
            raise Unusual
        else:
            raise Damaged
    if not frames:
        raise Damaged
    return Measured((int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")), frames)


def skip_colours(scan: Scan, flags: int) -> None:
    """Pass over a colour table, if there is one."""
    if flags & 0x80:
        scan.skip(3 << (flags & 7) + 1)
