"""Describes a file, only in the child: colours of an image, text of a PDF, streams of a video."""

from __future__ import annotations

import colorsys
from collections import Counter
from typing import Any

from PIL import Image

from showandtell.media.convert.colours import prepare
from showandtell.media.documents import open_document, read_page
from showandtell.media.pictures import FORMATS, open_image, read_orientation, turn_size
from showandtell.media.sound import DEMUXERS, read_container, read_wave

PAGES_READ = 20
TEXT_LIMIT = 100_000
SMALL = (128, 128)
#: Upper ends of hues in degrees; pink and red follow after the last.
HUES = ((15, "red"), (42, "orange"), (68, "yellow"), (160, "green"), (192, "cyan"), (258, "blue"), (290, "purple"))


def describe_file(path: str, media_type: str) -> dict[str, Any]:
    """The description of a file; empty for a type without a decoder."""
    if media_type in FORMATS:
        return describe_image(path, media_type)
    if media_type == "application/pdf":
        return describe_document(path)
    if media_type == "audio/wav" and (audio := read_wave(path)):
        return audio
    return read_container(path, media_type) if media_type in DEMUXERS else {}


def describe_image(path: str, media_type: str) -> dict[str, Any]:
    """Width and height as displayed, and the main colours: up to three [word, share] with shares in hundredths.

    `turned` is present if EXIF rotates or mirrors the image; its colours are the same either way.
    """
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


def describe_document(path: str) -> dict[str, Any]:
    """Pages, and the text of the first twenty, at most 100,000 characters."""
    with open_document(path) as document:
        texts = (read_page(document, index) for index in range(min(len(document), PAGES_READ)))
        return {"pages": len(document), "text": "\n\n".join(text for text in texts if text)[:TEXT_LIMIT]}
