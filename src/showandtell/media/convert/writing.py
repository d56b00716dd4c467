"""Writing a picture as one of the types that are taken, within its bytes: quality goes first, then size."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.shapes import scale_size

#: How a type is written: Pillow's name for it, and the end of a file's name.
WRITERS = {"image/png": ("PNG", "png"), "image/jpeg": ("JPEG", "jpg"), "image/webp": ("WEBP", "webp")}
QUALITIES = (90, 82, 75)
#: At the lowest quality a picture has about half the bytes of the highest: what is further off is made smaller at once.
HOPELESS = 2.5
#: A drawing, a chart or a page of text has few colours, and most of it in fewer still: such pictures blur as JPEG.
FEW_COLOURS, MAIN_COLOURS, MAIN_SHARE = 256, 8, 0.5
#: How often a picture is made smaller until it fits; each time at least by a tenth, usually to just below the limit.
ROUNDS = 24


def write_within(image: Image.Image, recipe: Conversion, folder: str, name: str) -> tuple[str, tuple[int, int]]:
    """Write a picture (L, RGB or RGBA) under the recipe's bytes; gives the file's path and the size it has in it."""
    types = choose_types(image, recipe.types)
    most = recipe.bytes or sys.maxsize
    for _ in range(ROUNDS):
        size, last = 0, ""
        for media_type, quality in attempts(types):
            if media_type == last and size > HOPELESS * most:
                continue
            last = media_type
            data = encode(image, WRITERS[media_type][0], quality)
            if len(data) <= most:
                return write(data, Path(folder) / f"{name}.{WRITERS[media_type][1]}"), image.size
            size = len(data)
        smaller = scale_size(image.size, min(0.9, 0.95 * (most / size) ** 0.5))
        image = image.resize(smaller, Image.Resampling.LANCZOS, reducing_gap=3.0)
    raise BadFile("", f"can't be made as small as {recipe.bytes} bytes", "allow it more bytes")


def write(data: bytes, path: Path) -> str:
    """Write a file and give its path; the process may not write large ones."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadFile("", f"can't be written when it is converted ({error.strerror})", "ask for it smaller") from None
    return str(path)


def choose_types(image: Image.Image, taken: tuple[str, ...]) -> list[str]:
    """One or two types that are taken and can be written, the better one for this picture first.

    PNG keeps few colours sharp, and what is transparent; a photograph is far too large as PNG, if there is a choice.
    """
    every = not taken or "image/*" in taken
    types = [one for one in (WRITERS if every else taken) if one in WRITERS]
    if not types:
        raise BadFile("", f"can't be written as {' or '.join(taken)}", "convert it by hand to PNG or JPEG")
    if image.mode == "RGBA" or is_drawn(image):
        return sorted(types, key=("image/png", "image/webp", "image/jpeg").index)[:2]
    return sorted(types, key=("image/jpeg", "image/webp", "image/png").index)[:1]


def is_drawn(image: Image.Image) -> bool:
    """Whether a picture has few colours, and few of them most of it; a grey photograph has the first alone."""
    colours = image.getcolors(FEW_COLOURS)
    if colours is None:
        return False
    main = sorted((count for count, _ in colours), reverse=True)[:MAIN_COLOURS]
    return sum(main) >= MAIN_SHARE * image.width * image.height


def attempts(types: list[str]) -> Iterator[tuple[str, int | None]]:
    """Each type in each quality that it has."""
    for media_type in types:
        for quality in (None,) if media_type == "image/png" else QUALITIES:
            yield media_type, quality


def encode(image: Image.Image, form: str, quality: int | None) -> bytes:
    """The bytes; JPEG has no transparency, so what shows through is white."""
    buffer = io.BytesIO()
    if form == "JPEG" and image.mode == "RGBA":
        image = flatten(image)
    # What came with the original must not go along: neither where it was taken, nor a profile that no longer holds.
    image.info = {}
    image.save(buffer, form, **({} if quality is None else {"quality": quality}))
    return buffer.getvalue()


def flatten(image: Image.Image) -> Image.Image:
    """The picture on white."""
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground
