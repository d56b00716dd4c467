"""How many pixels an image may have, and how many of its frames are counted."""

from __future__ import annotations

from typing import Final

from showandtell.errors import BadFile

#: Larger images are rejected: no provider accepts more, and this fits into the child's memory.
PIXEL_LIMIT: Final = 100_000_000
#: Decoders that hold an image more than once get a lower limit, so that none needs 512 MB (measured: WebP 16 bytes a
#: pixel, AVIF 9, HEIC 8; the others 4).
PIXEL_LIMITS: Final = {
    "image/avif": 48_000_000,
    "image/heic": 48_000_000,
    "image/heif": 48_000_000,
    "image/webp": 28_000_000,
}
#: Maximum number of frames that are counted.
FRAME_LIMIT: Final = 10_000


def check_pixels(width: int, height: int, media_type: str) -> None:
    """Raise `BadFile` if an image has too many pixels for its type."""
    limit = PIXEL_LIMITS.get(media_type, PIXEL_LIMIT)
    if width * height > limit:
        size = f"{width} x {height} pixels, {width * height / 1e6:.0f} megapixels"
        raise BadFile("", f"is too large ({size})", f"scale it to at most {limit // 10**6} megapixels")
