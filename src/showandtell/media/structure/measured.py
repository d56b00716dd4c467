"""What the structure of an image tells."""

from __future__ import annotations

from msgspec import Struct


class Measured(Struct, frozen=True):
    """`pixels` are width and height as displayed; `frames` counts those of an animation, 1 without one."""

    pixels: tuple[int, int]
    frames: int = 1
