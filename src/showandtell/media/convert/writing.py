"""Writes an image as one of the accepted types within a limit of bytes: it lowers the quality first, then the size."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.shapes import scale_size

#: Pillow's name for a type, and the file extension.
WRITERS = {"image/png": ("PNG", "png"), "image/jpeg": ("JPEG", "jpg"), "image/webp": ("WEBP", "webp")}
QUALITIES = (90, 82, 75)
#: The lowest quality takes about half the bytes of the highest. If more is missing, the image is scaled down at once.
HOPELESS = 2.5
#: A drawing, a chart or a page of text has few colours, and even fewer cover most of it: such images blur as JPEG.
FEW_COLOURS, MAIN_COLOURS, MAIN_SHARE = 256, 8, 0.5
#: How often an image is scaled down until it fits; each time at least by a tenth, usually to just below the limit.
ROUNDS = 24


def write_within(image: Image.Image, conversion: Conversion, folder: str, name: str) -> tuple[str, tuple[int, int]]:
    """Write an image (L, RGB or RGBA) within the conversion's bytes; returns the path and the size in the file."""
    types = choose_types(image, conversion.types)
    max_bytes = conversion.bytes or sys.maxsize
    for _ in range(ROUNDS):
        size, last = 0, ""
        for media_type, quality in list_attempts(types):
            if media_type == last and size > HOPELESS * max_bytes:
                continue
            last = media_type
            data = encode(image, WRITERS[media_type][0], quality)
            if len(data) <= max_bytes:
                return write(data, Path(folder) / f"{name}.{WRITERS[media_type][1]}"), image.size
            size = len(data)
        smaller = scale_size(image.size, min(0.9, 0.95 * (max_bytes / size) ** 0.5))
        image = image.resize(smaller, Image.Resampling.LANCZOS, reducing_gap=3.0)
    raise BadFile("", f"can't be made as small as {conversion.bytes} bytes", "allow it more bytes")


def write(data: bytes, path: Path) -> str:
    """Write a file and return its path; raises `BadFile` if the process may not write as much."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadFile("", f"can't be written when it is converted ({error.strerror})", "ask for it smaller") from None
    return str(path)


def choose_types(image: Image.Image, accepted: tuple[str, ...]) -> list[str]:
    """One or two types that are accepted and can be written, the better one for this image first.

    PNG keeps few colours sharp and keeps transparency. A photograph is far too large as PNG if there is a choice.
    """
    is_any = not accepted or "image/*" in accepted
    types = [media_type for media_type in (WRITERS if is_any else accepted) if media_type in WRITERS]
    if not types:
        raise BadFile("", f"can't be written as {' or '.join(accepted)}", "convert it by hand to PNG or JPEG")
    if image.mode == "RGBA" or is_drawn(image):
        return sorted(types, key=("image/png", "image/webp", "image/jpeg").index)[:2]
    return sorted(types, key=("image/jpeg", "image/webp", "image/png").index)[:1]


def is_drawn(image: Image.Image) -> bool:
    """Whether an image has few colours, and even fewer cover most of it; a grey photograph only has few colours."""
    colours = image.getcolors(FEW_COLOURS)
    if colours is None:
        return False
    main = sorted((count for count, _ in colours), reverse=True)[:MAIN_COLOURS]
    return sum(main) >= MAIN_SHARE * image.width * image.height


def list_attempts(types: list[str]) -> Iterator[tuple[str, int | None]]:
    """Each type with each of its qualities."""
    for media_type in types:
        for quality in (None,) if media_type == "image/png" else QUALITIES:
            yield media_type, quality


def encode(image: Image.Image, format_name: str, quality: int | None) -> bytes:
    """The encoded image; JPEG has no transparency, so transparent parts become white."""
    buffer = io.BytesIO()
    if format_name == "JPEG" and image.mode == "RGBA":
        image = flatten(image)
    # Metadata of the original must not be written: neither its location, nor a profile that no longer applies.
    image.info = {}
    image.save(buffer, format_name, **({} if quality is None else {"quality": quality}))
    return buffer.getvalue()


def flatten(image: Image.Image) -> Image.Image:
    """The image on white."""
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground
