"""Colours as every reader of PNG and JPEG sees them alike: eight bits, sRGB, with or without transparency."""

from __future__ import annotations

import io
from typing import Any, cast

from PIL import Image, ImageCms

#: Whole 16-bit samples, and how they become eight bits.
SIXTEEN = {"I;16", "I;16B", "I;16L", "I;16N"}
TO_EIGHT = 1 / 257


def prepare(image: Image.Image) -> Image.Image:
    """A picture whose samples can be averaged: no palette, no single bits, eight bits each, transparency in a band."""
    if image.mode in SIXTEEN:
        return image.point(lambda sample: sample * TO_EIGHT).convert("L")
    if image.mode in {"I", "F"}:
        return stretch(image)
    if image.mode == "1":
        return image.convert("L")
    if image.mode in {"P", "PA", "LA", "La", "RGBa"} or "transparency" in image.info:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image if image.mode in {"L", "RGB", "RGBA", "CMYK", "YCbCr", "LAB"} else image.convert("RGB")


def stretch(image: Image.Image) -> Image.Image:
    """Whole numbers of 16 bits as they are; wider ones, and fractions, from their least to their greatest."""
    low, high = cast("tuple[float, float]", image.getextrema())
    if image.mode == "I" and low >= 0 and high <= 0xFFFF:
        low, high = (0, 0xFFFF) if high > 0xFF else (0, 0xFF)
    factor = 255 / (high - low) if high > low else 0.0
    shift = -low * factor
    return image.point(lambda sample: sample * factor + shift).convert("L")


def unify(image: Image.Image, profile: bytes | None) -> Image.Image:
    """A prepared picture in sRGB: mode L, RGB, or RGBA where something in it is transparent."""
    if image.mode == "RGBA" and cast("tuple[int, int]", image.getchannel("A").getextrema())[0] == 255:
        image = image.convert("RGB")
    matched = match_profile(image, profile) if profile else image
    return matched if matched.mode in {"L", "RGB", "RGBA"} else matched.convert("RGB")


def match_profile(image: Image.Image, profile: bytes) -> Image.Image:
    """The colours of a profile as those of sRGB; the picture as it is where the profile is damaged or not its own."""
    cms: Any = ImageCms
    try:
        given = cms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        return cms.profileToProfile(image, given, cms.createProfile("sRGB"), outputMode=mode) or image
    except (cms.PyCMSError, OSError, ValueError):
        return image
