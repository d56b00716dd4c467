"""SVG as a picture, drawn by resvg. Only the drawing itself is read: what it points at outside is taken out before."""

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
from showandtell.media.convert.pictures import resize
from showandtell.media.convert.shapes import Size
from showandtell.media.convert.writing import write_within

try:
    from resvg_py import svg_to_bytes
except ImportError:
    svg_to_bytes = None

#: A drawing has no pixels of its own: it is drawn so large at least, on its longer side, and at most.
SIDE, LARGEST = 768, 4096
NUMBER = re.compile(r"[0-9.]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
#: What a drawing without width, height and viewBox measures (CSS 2.2, 10.3.2).
UNKNOWN_SIZE = (300.0, 150.0)
#: Pillow's own font, the last that is tried (resvg falls back to the serif family).
LETTERS = "Aileron"
#: The text of a drawing that is parsed; elements become twenty times their bytes.
TEXT_LIMIT = 20_000_000
LENGTH = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*", re.IGNORECASE)
UNITS = {"px": 1.0, "pt": 96 / 72, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
INSIDE = ("#", "data:")
XLINK = "{http://www.w3.org/1999/xlink}"


def make_picture(path: str, _media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """One picture. `crop` is in pixels of the drawing's own size, and `scale` is measured by that."""
    if svg_to_bytes is None:
        raise BadFile("", "can't be drawn: it needs resvg-py", "install showandtell[images]", passing=True)
    root = read_drawing(path)
    own = measure_drawing(root)
    if len(NUMBER.findall(root.get("viewBox", ""))) < 4:  # else what is in it would keep its size on a larger ground
        root.set("viewBox", f"0 0 {own[0]} {own[1]}")
    crop = shapes.clip_crop(recipe.crop, own, whole=True)
    part = (crop[2] - crop[0], crop[3] - crop[1])
    side = min(recipe.side or LARGEST, max(SIDE, *part))
    factor = min(side / max(part), LARGEST / max(own))
    if recipe.pixels:
        factor = min(factor, (recipe.pixels / (part[0] * part[1])) ** 0.5)
    picture = draw(root, shapes.scale_size(own, factor), lend_letters(folder))
    ratio = (picture.width / own[0], picture.height / own[1]) * 2
    box = tuple(at * times for at, times in zip(crop, ratio, strict=True))
    picture = resize(picture, box, shapes.scale_size(part, factor))
    written, size = write_within(unify(picture, None), recipe, folder, "001")
    return {"files": [written], "scale": shapes.compare(size, part)}


def read_drawing(path: str) -> ET.Element:
    """The drawing without what lies outside it, and without its entities, which expat has put in within its bounds."""
    with Path(path).open("rb") as stream:
        text = stream.read(TEXT_LIMIT + 1)
    if len(text) > TEXT_LIMIT:
        raise BadFile("", "is too large to be drawn", f"make it smaller than {TEXT_LIMIT} bytes")
    try:
        root = ET.fromstring(text)  # noqa: S314 - expat opens nothing and bounds entities; the process bounds the rest
    except ET.ParseError as error:
        raise BadFile("", f"can't be drawn: it is no whole SVG ({error})", "save it anew") from None
    for element in root.iter():
        for name in ("href", XLINK + "href"):
            if not element.get(name, "#").lstrip().lower().startswith(INSIDE):
                del element.attrib[name]
    return root


def measure_drawing(root: ET.Element) -> Size:
    """Width and height in CSS pixels, at least 1 x 1; by the viewBox where they aren't given."""
    width, height = (read_length(root.get(side, "")) for side in ("width", "height"))
    box = [float(one) for one in NUMBER.findall(root.get("viewBox", ""))[2:4]]
    box_width, box_height = (
        box if len(box) == 2 and min(box) > 0 else (width or UNKNOWN_SIZE[0], height or UNKNOWN_SIZE[1])
    )
    if width is None and height is None:
        width, height = box_width, box_height
    width = width or (height or 0) * box_width / box_height
    height = height or width * box_height / box_width
    return (max(1, round(min(width, 1e9))), max(1, round(min(height, 1e9))))


def read_length(text: str) -> float | None:
    """A length in CSS pixels; None for a percentage and for what is no length."""
    found = LENGTH.fullmatch(text)
    try:
        length = float(found[1]) * UNITS[(found[2] or "px").lower()] if found else 0.0
    except ValueError:
        return None
    return length if length > 0 else None


def lend_letters(folder: str) -> str:
    """A font file: resvg leaves out words whose fonts aren't installed, and those that it falls back to rarely are."""
    font: Any = ImageFont.load_default(20)
    path = Path(folder) / "letters.ttf"
    path.write_bytes(font.font_bytes)
    return str(path)


def draw(root: ET.Element, size: Size, letters: str) -> Image.Image:
    """The drawing in this size."""
    assert svg_to_bytes is not None  # noqa: S101 - who calls has looked
    root.set("width", str(size[0]))
    root.set("height", str(size[1]))
    try:
        text = ET.tostring(root, encoding="unicode")
        drawn = svg_to_bytes(svg_string=text, font_files=[letters], serif_family=LETTERS)
    except RecursionError:
        raise BadFile("", "can't be drawn: it is nested too deeply", "save it in a simpler form") from None
    except ValueError as error:
        raise BadFile("", f"can't be drawn ({error})", "check that it is a whole SVG") from None
    picture = Image.open(io.BytesIO(bytes(drawn)), formats=("PNG",))
    picture.load()
    return picture
