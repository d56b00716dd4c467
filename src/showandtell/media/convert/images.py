"""Images as models accept them: upright, in sRGB, within side, pixels and bytes; the frames of an animation apart."""

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
from showandtell.media.convert.extras import missing
from showandtell.media.convert.shapes import Size
from showandtell.media.convert.writing import write_within
from showandtell.media.pictures import DAMAGE, FORMATS, count_frames, open_image, read_orientation, torn, turn_size

#: Number of frames or pages of a file if the conversion doesn't say, and at most.
DEFAULT_FRAMES, MAX_FRAMES = 4, 32
#: Maximum pixels to decode up to the last frame of an animation, about 4 s of work: later frames are left out.
MAX_DECODED_PIXELS = 400_000_000
#: Larger images are scaled in strips of this many pixels, so that no second copy is in memory.
STRIP_PIXELS = 8_000_000
#: Transposition that undoes EXIF's orientation.
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
    """A frame of a file: its image and, if they apply, its start in seconds or its page."""

    image: Image.Image
    time: float | None = None
    page: int | None = None


def make_images(path: str, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """One file for a still image, several for an animation (`times`) or a TIFF of several pages (`pages`)."""
    if media_type not in FORMATS:
        if media_type.startswith("image/hei"):
            raise missing("images", " to be decoded")
        raise BadFile("", "has no decoder here", "save it as PNG")
    try:
        with open_image(path, media_type) as image:
            return write_frames(image, media_type, conversion, folder)
    except DAMAGE as error:
        if isinstance(error, BadFile):
            raise
        raise torn(media_type, error) from None


def write_frames(image: Image.Image, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """Write each chosen frame to a file."""
    output: dict[str, Any] = {"files": [], "scale": 1.0, "pages": [], "times": []}
    count = count_frames(image, media_type) or 1
    for frame in list_frames(image, media_type, count, conversion):
        upright, original = take_part(frame.image, conversion)
        written, size = write_within(upright, conversion, folder, f"{len(output['files']) + 1:03}")
        output["files"].append(written)
        output["scale"] = shapes.compare(size, original)
        output["pages"] += [frame.page] if frame.page is not None else []
        output["times"] += [frame.time] if frame.time is not None else []
    if count > 1 and media_type == "image/tiff":
        output["total"] = count
    return output


def list_frames(image: Image.Image, media_type: str, count: int, conversion: Conversion) -> Iterator[Frame]:
    """The chosen frames: those of `conversion.pages`, otherwise pages in a row, or frames spread over an animation."""
    if count == 1:
        yield Frame(image)
    elif media_type == "image/tiff":
        for page in shapes.choose_pages(count, conversion, DEFAULT_FRAMES, MAX_FRAMES):
            image.seek(page - 1)
            yield Frame(image, page=page)
    elif conversion.pages:
        yield from play(
            image, [at - 1 for at in shapes.choose_pages(count, conversion, DEFAULT_FRAMES, MAX_FRAMES, "frame")]
        )
    else:
        reached = max(1, min(count, MAX_DECODED_PIXELS // (image.width * image.height)))
        yield from play(image, shapes.spread(reached, min(conversion.max_count or DEFAULT_FRAMES, MAX_FRAMES)))


def play(image: Image.Image, chosen: list[int]) -> Iterator[Frame]:
    """These frames of an animation. Each is drawn over those before it, so all are decoded in turn."""
    start = 0.0
    for index in range(max(chosen) + 1):
        image.seek(index)
        image.load()
        duration = float(image.info.get("duration") or 0)
        if index in chosen:
            yield Frame(image, time=round(start / 1000, 3))
        start += duration


def take_part(image: Image.Image, conversion: Conversion) -> tuple[Image.Image, Size]:
    """The requested part, upright, scaled and in sRGB; and its size in the original."""
    drafted = image.format in {"JPEG", "MPO"}
    if not drafted:
        image.load()  # Pillow turns a TIFF upright only here
    stored, orientation = image.size, read_orientation(image)
    crop = shapes.clip_crop(conversion.crop, turn_size(stored, orientation))
    original = (crop[2] - crop[0], crop[3] - crop[1])
    factor = shapes.choose_factor(original, conversion)
    if drafted:
        image.draft(image.mode, shapes.scale_size(stored, min(1.0, factor * 2)))
        image.load()
    box = shapes.lay_down(crop, stored, orientation)
    size = turn_size(shapes.scale_size(original, factor), orientation)
    small = resize(image, tuple(at * image.width / stored[0] for at in box), size)
    small = unify(small, image.info.get("icc_profile"))
    small = small.copy() if small is image else small  # the file's image is reused for the next frame
    return (small.transpose(TURNS[orientation]) if orientation > 1 else small), original


def resize(image: Image.Image, box: tuple[float, ...], size: Size) -> Image.Image:
    """A part of an image in another size; a large one strip by strip, each with the surrounding rows that it needs."""
    left, top, right, bottom = box
    image = prepare(image) if image.mode in {"I", "F"} else image  # their range is that of the full image
    if size == (right - left, bottom - top):
        return prepare(image if size == image.size else image.crop((int(left), int(top), int(right), int(bottom))))
    ratio = (bottom - top) / size[1]
    margin = ceil(3 * max(ratio, 1)) + 1
    rows = max(1, int(STRIP_PIXELS / (right - left) / ratio))
    resized: Image.Image | None = None
    for start in range(0, size[1], rows):
        end = min(start + rows, size[1])
        first, last = top + start * ratio, min(top + end * ratio, image.height)
        above, below = max(0, floor(first - margin)), min(image.height, ceil(last + margin))
        strip = prepare(image.crop((floor(left), above, min(ceil(right), image.width), below)))
        part = (left - floor(left), first - above, min(right - floor(left), strip.width), last - above)
        strip = strip.resize((size[0], end - start), Image.Resampling.LANCZOS, box=part)
        resized = resized or Image.new(strip.mode, size)
        resized.paste(strip, (0, start))
    assert resized is not None  # noqa: S101 - a size has at least one row
    return resized
