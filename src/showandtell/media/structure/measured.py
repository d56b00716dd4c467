"""What the structure of a file tells."""

from __future__ import annotations

from msgspec import Struct


class Measured(Struct, frozen=True):
    """Of an image `pixels`, width and height as displayed, and `frames`, 1 without an animation; of a PDF `pages`.

    Of audio and video `seconds`; `is_audio`: no track is video.
    """

    pixels: tuple[int, int] | None = None
    frames: int = 1
    pages: int | None = None
    seconds: float | None = None
    is_audio: bool = False
