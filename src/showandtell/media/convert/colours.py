"""Converts colours to what all readers of PNG and JPEG show alike: eight bits, sRGB, with or without transparency."""

from __future__ import annotations

import io
from typing import Any, cast

from PIL import Image, ImageCms

#: Modes with unsigned 16-bit samples, and the factor to eight bits.
SIXTEEN = {"I;16", "I;16B", "I;16L", "I;16N"}
TO_EIGHT = 1 / 257


def prepare(image: Image.Image) -> Image.Image:
    """An image whose samples can be averaged: no palette, no single bits, eight bits each, transparency in a band."""
    if image.mode in SIXTEEN:
        if image.mode != "I;16":  # Pillow maps the samples of no other order
            image = image.convert("I").convert("I;16")
        return image.point(lambda sample: sample * TO_EIGHT).convert("L")
    if image.mode in {"I", "F"}:
        return stretch(image)
    if image.mode == "1":
        return image.convert("L")
    if image.mode in {"P", "PA", "LA", "La", "RGBa"} or "transparency" in image.info:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image if image.mode in {"L", "RGB", "RGBA", "CMYK", "YCbCr", "LAB"} else image.convert("RGB")


def stretch(image: Image.Image) -> Image.Image:
    """Scale integers of 16 bits by their full range, larger ones and floats from their minimum to their maximum."""
    low, high = cast("tuple[float, float]", image.getextrema())
    if image.mode == "I" and low >= 0 and high <= 0xFFFF:
        low, high = (0, 0xFFFF) if high > 0xFF else (0, 0xFF)
    factor = 255 / (high - low) if high > low else 0.0
    shift = -low * factor
    return image.point(lambda sample: sample * factor + shift).convert("L")


def unify(image: Image.Image, profile: bytes | None) -> Image.Image:
    """A prepared image in sRGB: mode L, RGB, or RGBA if a part of it is transparent."""
    if image.mode == "RGBA" and cast("tuple[int, int]", image.getchannel("A").getextrema())[0] == 255:
        image = image.convert("RGB")
    matched = match_profile(image, profile) if profile else image
    return matched if matched.mode in {"L", "RGB", "RGBA"} else matched.convert("RGB")


def match_profile(image: Image.Image, profile: bytes) -> Image.Image:
    """Convert from a profile to sRGB; returns the image unchanged if the profile is damaged or doesn't fit."""
    cms: Any = ImageCms
    try:
        source = cms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        return cms.profileToProfile(image, source, cms.createProfile("sRGB"), outputMode=mode) or image
    except (cms.PyCMSError, OSError, ValueError):
        return image
