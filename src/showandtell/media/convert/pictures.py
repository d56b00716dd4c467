"""Pictures as a model takes them: upright, in sRGB, within side, pixels and bytes; the frames of an animation apart."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any

from msgspec import Struct
from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert import shapes
from showandtell.media.convert.colours import prepare, unify
from showandtell.media.convert.shapes import Size
from showandtell.media.convert.writing import write_within
from showandtell.media.pictures import DAMAGE, FORMATS, count_frames, open_picture, read_orientation, torn, turn_size

#: Frames or pages of one file that are shown where the recipe doesn't say, and at most.
MOST, CEILING = 4, 32
#: Pixels that may be decoded to come to the last frame of an animation, some 4 s of work: later ones are left out.
WORK = 400_000_000
#: Above so many pixels a picture is scaled in strips, so that no second copy of it is in memory.
STRIP = 8_000_000
#: How EXIF's orientation is undone.
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class Frame(Struct):
    """One picture of a file, opened and in its turn: when it begins, in seconds, or which page it is, if either."""

    image: Image.Image
    time: float | None = None
    page: int | None = None


def make_pictures(path: str, media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """One file for a still picture, several for an animation (`times`) or a TIFF of several pages (`pages`)."""
    if media_type not in FORMATS:
        if media_type.startswith("image/hei"):
            raise BadFile("", "can't be decoded: it needs pillow-heif", "install showandtell[images]", passing=True)
        raise BadFile("", "has no decoder here", "save it as PNG")
    try:
        with open_picture(path, media_type) as image:
            return write_frames(image, media_type, recipe, folder)
    except DAMAGE as error:
        if isinstance(error, BadFile):
            raise
        raise torn(media_type, error) from None


def write_frames(image: Image.Image, media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """Each chosen frame as a file."""
    found: dict[str, Any] = {"files": [], "scale": 1.0, "pages": [], "times": []}
    count = count_frames(image, media_type) or 1
    for frame in list_frames(image, media_type, count, recipe):
        upright, original = take_part(frame.image, recipe)
        written, size = write_within(upright, recipe, folder, f"{len(found['files']) + 1:03}")
        found["files"].append(written)
        found["scale"] = shapes.compare(size, original)
        found["pages"] += [frame.page] if frame.page is not None else []
        found["times"] += [frame.time] if frame.time is not None else []
    if count > 1 and media_type == "image/tiff":
        found["total"] = count
    return found


def list_frames(image: Image.Image, media_type: str, count: int, recipe: Conversion) -> Iterator[Frame]:
    """The frames that are shown: those of `only`, else pages in a row, or of an animation the first to the last."""
    if count == 1:
        yield Frame(image)
    elif media_type == "image/tiff":
        for page in shapes.choose_pages(count, recipe, MOST, CEILING):
            image.seek(page - 1)
            yield Frame(image, page=page)
    elif recipe.only:
        yield from play(image, [at - 1 for at in shapes.choose_pages(count, recipe, MOST, CEILING, "frame")])
    else:
        reached = max(1, min(count, WORK // (image.width * image.height)))
        yield from play(image, shapes.spread(reached, min(recipe.most or MOST, CEILING)))


def play(image: Image.Image, chosen: list[int]) -> Iterator[Frame]:
    """These frames of an animation; each one is drawn over those before it, so they are all decoded in turn."""
    begins = 0.0
    for at in range(max(chosen) + 1):
        image.seek(at)
        image.load()
        lasts = float(image.info.get("duration") or 0)
        if at in chosen:
            yield Frame(image, time=round(begins / 1000, 3))
        begins += lasts


def take_part(image: Image.Image, recipe: Conversion) -> tuple[Image.Image, Size]:
    """The part that is wanted, upright, scaled and in sRGB; and the size that it has in the original."""
    drafted = image.format in {"JPEG", "MPO"}
    if not drafted:
        image.load()  # a TIFF turns itself upright only now
    stored, orientation = image.size, read_orientation(image)
    crop = shapes.clip_crop(recipe.crop, turn_size(stored, orientation))
    original = (crop[2] - crop[0], crop[3] - crop[1])
    factor = shapes.choose_factor(original, recipe)
    if drafted:
        image.draft(image.mode, shapes.scale_size(stored, min(1.0, factor * 2)))
        image.load()
    box = shapes.lay_down(crop, stored, orientation)
    size = turn_size(shapes.scale_size(original, factor), orientation)
    small = resize(image, tuple(at * image.width / stored[0] for at in box), size)
    small = unify(small, image.info.get("icc_profile"))
    small = small.copy() if small is image else small  # the file's own picture still has frames to come
    return (small.transpose(TURNS[orientation]) if orientation > 1 else small), original


def resize(image: Image.Image, box: tuple[float, ...], size: Size) -> Image.Image:
    """A part of a picture in another size; a large one strip by strip, each with the rows around it that it needs."""
    left, top, right, bottom = box
    image = prepare(image) if image.mode in {"I", "F"} else image  # they need to be seen whole
    if size == (right - left, bottom - top):
        return prepare(image if size == image.size else image.crop((int(left), int(top), int(right), int(bottom))))
    ratio = (bottom - top) / size[1]
    margin = ceil(3 * max(ratio, 1)) + 1
    rows = max(1, int(STRIP / (right - left) / ratio))
    made: Image.Image | None = None
    for start in range(0, size[1], rows):
        end = min(start + rows, size[1])
        first, last = top + start * ratio, min(top + end * ratio, image.height)
        above, below = max(0, floor(first - margin)), min(image.height, ceil(last + margin))
        strip = prepare(image.crop((floor(left), above, min(ceil(right), image.width), below)))
        part = (left - floor(left), first - above, min(right - floor(left), strip.width), last - above)
        strip = strip.resize((size[0], end - start), Image.Resampling.LANCZOS, box=part)
        made = made or Image.new(strip.mode, size)
        made.paste(strip, (0, start))
    assert made is not None  # noqa: S101 - a size has at least one row
    return made
