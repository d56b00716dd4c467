"""Describes an image, only in the child: its size and main colours."""

from __future__ import annotations

import colorsys
from collections import Counter
from typing import Any

from PIL import Image

from showandtell.media.convert.colours import prepare
from showandtell.media.pictures import FORMATS, open_image, read_orientation, turn_size

SMALL = (128, 128)
#: Upper ends of hues in degrees; pink and red follow after the last.
HUES = ((15, "red"), (42, "orange"), (68, "yellow"), (160, "green"), (192, "cyan"), (258, "blue"), (290, "purple"))


def describe_image(path: str, media_type: str) -> dict[str, Any]:
    """Width and height as displayed, and the main colours: up to three [word, share] with shares in hundredths.

    `turned` is present if EXIF rotates or mirrors the image; its colours are the same either way. Empty for a type
    without a decoder.
    """
    if media_type not in FORMATS:
        return {}
    with open_image(path, media_type) as image:
        stored = image.size
        image.draft("RGB", (SMALL[0] * 2, SMALL[1] * 2))
        colours, orientation = name_colours(flatten(image)), read_orientation(image)
        description = {"pixels": turn_size(stored, orientation), "colours": colours}
        return description | ({"turned": "by EXIF"} if orientation > 1 else {})


def flatten(image: Image.Image) -> Image.Image:
    """A small copy on white, without transparency."""
    small = prepare(image.resize(SMALL, Image.Resampling.NEAREST)).convert("RGBA")
    ground = Image.new("RGBA", SMALL, "white")
    return Image.alpha_composite(ground, small).convert("RGB")


def name_colours(image: Image.Image) -> list[tuple[str, float]]:
    """The three commonest colour words that cover at least a twentieth of the image."""
    shares = Counter[str]()
    few = image.quantize(32).convert("RGB")
    for colour, count in Counter(zip(*(band.tobytes() for band in few.split()), strict=True)).items():
        shares[name_colour(*colour)] += count
    total = image.width * image.height
    return [(word, round(count / total, 2)) for word, count in shares.most_common(3) if count * 20 >= total]


def name_colour(red: int, green: int, blue: int) -> str:
    """The basic English word for a colour."""
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    if value < 0.2:
        return "black"
    if saturation < 0.15:
        return "white" if value > 0.85 else "grey"
    word = next((word for end, word in HUES if hue * 360 < end), "pink" if hue * 360 < 345 else "red")
    if word == "orange" and value < 0.65:
        return "brown"
    return "pink" if word == "red" and saturation < 0.5 and value > 0.8 else word
