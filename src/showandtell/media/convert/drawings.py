"""SVG as an image, drawn by resvg. References to anything outside of the drawing are removed first."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from PIL import Image, ImageFont

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert import shapes
from showandtell.media.convert.colours import unify
from showandtell.media.convert.extras import missing
from showandtell.media.convert.images import resize
from showandtell.media.convert.shapes import Size
from showandtell.media.convert.writing import write_within
from showandtell.media.refusals import explain_damage

try:
    from resvg_py import svg_to_bytes
except ImportError:
    svg_to_bytes = None

#: A drawing has no pixels of its own: minimum and maximum of the longer side.
MIN_SIDE, MAX_SIDE = 768, 4096
NUMBER = re.compile(r"[0-9.]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
#: The size of a drawing without width, height and viewBox (CSS 2.2, 10.3.2).
UNKNOWN_SIZE = (300.0, 150.0)
#: Pillow's own font, tried last (resvg falls back to the serif family).
FALLBACK_FONT = "Aileron"
#: Maximum bytes of a drawing; parsed elements take twenty times as much.
TEXT_LIMIT = 20_000_000
LENGTH = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*", re.IGNORECASE)
UNITS = {"px": 1.0, "pt": 96 / 72, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
INSIDE = ("#", "data:")
XLINK = "{http://www.w3.org/1999/xlink}"


def make_image(path: str, _media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """One image. `crop` is in pixels of the drawing's own size, and `scale` is relative to it."""
    if svg_to_bytes is None:
        raise missing("images", " to be drawn")
    root = read_drawing(path)
    natural = measure_drawing(root)
    if len(NUMBER.findall(root.get("viewBox", ""))) < 4:  # otherwise the content would not scale with the drawing
        root.set("viewBox", f"0 0 {natural[0]} {natural[1]}")
    crop = shapes.clip_crop(conversion.crop, natural, full=True)
    part = (crop[2] - crop[0], crop[3] - crop[1])
    side = min(conversion.side or MAX_SIDE, max(MIN_SIDE, *part))
    factor = min(side / max(part), MAX_SIDE / max(natural))
    if conversion.pixels:
        factor = min(factor, (conversion.pixels / (part[0] * part[1])) ** 0.5)
    image = draw(root, shapes.scale_size(natural, factor), write_font(folder))
    ratio = (image.width / natural[0], image.height / natural[1]) * 2
    box = tuple(edge * scale for edge, scale in zip(crop, ratio, strict=True))
    image = resize(image, box, shapes.scale_size(part, factor))
    written, size = write_within(unify(image, None), conversion, folder, "001")
    return {"files": [written], "scale": shapes.compare(size, part)}


def read_drawing(path: str) -> ET.Element:
    """The drawing without references to anything outside; expat has expanded its entities, within its own limits."""
    with Path(path).open("rb") as stream:
        text = stream.read(TEXT_LIMIT + 1)
    if len(text) > TEXT_LIMIT:
        raise BadFile("", "is too large to be drawn", f"make it smaller than {TEXT_LIMIT} bytes")
    try:
        root = ET.fromstring(text)  # noqa: S314 - expat opens nothing and limits entities; the process limits the rest
    except ET.ParseError as error:
        raise BadFile("", f"can't be drawn: {explain_damage(error)}", "save it anew") from None
    for element in root.iter():
        for name in ("href", XLINK + "href"):
            if not element.get(name, "#").lstrip().lower().startswith(INSIDE):
                del element.attrib[name]
    return root


def measure_drawing(root: ET.Element) -> Size:
    """Width and height in CSS pixels, at least 1 x 1; by the viewBox if they aren't given."""
    width, height = (read_length(root.get(side, "")) for side in ("width", "height"))
    box = [float(number) for number in NUMBER.findall(root.get("viewBox", ""))[2:4]]
    box_width, box_height = (
        box if len(box) == 2 and min(box) > 0 else (width or UNKNOWN_SIZE[0], height or UNKNOWN_SIZE[1])
    )
    if width is None and height is None:
        width, height = box_width, box_height
    width = width or (height or 0) * box_width / box_height
    height = height or width * box_height / box_width
    return (max(1, round(min(width, 1e9))), max(1, round(min(height, 1e9))))


def read_length(text: str) -> float | None:
    """A length in CSS pixels; None for a percentage or an invalid length."""
    match = LENGTH.fullmatch(text)
    try:
        length = float(match[1]) * UNITS[(match[2] or "px").lower()] if match else 0.0
    except ValueError:
        return None
    return length if length > 0 else None


def write_font(folder: str) -> str:
    """Write a font file: resvg omits text whose font isn't installed, and its fallback fonts rarely are."""
    font: Any = ImageFont.load_default(20)
    path = Path(folder) / "font.ttf"
    path.write_bytes(font.font_bytes)
    return str(path)


def draw(root: ET.Element, size: Size, font_path: str) -> Image.Image:
    """Draw in this size; raises `BadFile`."""
    assert svg_to_bytes is not None  # noqa: S101 - the caller checks it
    root.set("width", str(size[0]))
    root.set("height", str(size[1]))
    try:
        text = ET.tostring(root, encoding="unicode")
        drawn = svg_to_bytes(svg_string=text, font_files=[font_path], serif_family=FALLBACK_FONT)
    except RecursionError:
        raise BadFile("", "can't be drawn: it is nested too deeply", "save it in a simpler form") from None
    except ValueError as error:
        raise BadFile("", f"can't be drawn: {explain_damage(error)}", "check that it is a whole SVG") from None
    image = Image.open(io.BytesIO(bytes(drawn)), formats=("PNG",))
    image.load()
    return image
