"""Images by Pillow, only in the child: opened as the format that the signature names, and loaded completely."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PIL import (
    ExifTags,
    Image,
    ImageOps,
    MpoImagePlugin,  # noqa: F401  # pyright: ignore[reportUnusedImport] - its format is known once it is imported
    UnidentifiedImageError,
)

from showandtell.errors import BadFile
from showandtell.media.pixels import FRAME_LIMIT, PIXEL_LIMIT, check_pixels
from showandtell.media.refusals import explain_damage, torn_image
from showandtell.media.structure.orientation import turn_size

#: What Pillow raises for damaged images of any format.
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, IndexError, RuntimeError, Image.DecompressionBombWarning)
#: The formats that Pillow may try for a type; other types have no decoder.
FORMATS: dict[str, tuple[str, ...]] = {
    "image/avif": ("AVIF",),
    "image/bmp": ("BMP",),
    "image/gif": ("GIF",),
    "image/jpeg": ("JPEG", "MPO"),
    "image/png": ("PNG",),
    "image/tiff": ("TIFF",),
    "image/vnd.microsoft.icon": ("ICO",),
    "image/webp": ("WEBP",),
}
#: Decoded by pillow-heif or its sibling without an encoder; without both these types are known only by their signature.
HEIF_TYPES = ("image/heic", "image/heif")
HEIF_MODULE = next(filter(find_spec, ("pillow_heif", "pi_heif")), None)
if HEIF_MODULE:
    FORMATS.update(dict.fromkeys(HEIF_TYPES, ("HEIF",)))
#: Types whose frames or pages are counted. A HEIC or a JPEG with several images still shows one.
SEQUENCES = frozenset({"image/avif", "image/gif", "image/png", "image/tiff", "image/webp"})


@contextlib.contextmanager
def open_image(path: str, media_type: str) -> Generator[Image.Image]:
    """The image with its header read; at most 100 megapixels, less for some types.

    Raises `BadFile` if it is larger or not such an image.
    """
    # Pillow's own check doesn't report the size, so it is off until ours has run; it applies to the frames in the file.
    Image.MAX_IMAGE_PIXELS = None
    if media_type in HEIF_TYPES:
        register_heif()
    if media_type == "image/webp":
        check_pixels(*measure_webp(Path(path)), media_type)
    try:
        image = Image.open(path, formats=FORMATS[media_type])
    except (OSError, SyntaxError, ValueError) as error:
        raise torn(media_type, error) from None
    with image, warnings.catch_warnings():
        check_pixels(*image.size, media_type)
        Image.MAX_IMAGE_PIXELS = PIXEL_LIMIT
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield image


@functools.cache
def register_heif() -> None:
    """Let Pillow open HEIC; only the main image is decoded."""
    assert HEIF_MODULE  # noqa: S101 - otherwise no type needs it
    module = import_module(HEIF_MODULE)
    module.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=2)


def measure_webp(path: Path) -> tuple[int, int]:
    """Width and height by the first chunk (RFC 9649, 2.5 to 2.7): just opening one allocates two canvases."""
    with path.open("rb") as stream:
        head = stream.read(30).ljust(30, b"\0")
    if head[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF


def probe_image(path: str, media_type: str) -> dict[str, Any]:
    """The type, and what `measure_image` says of an image that has a decoder."""
    return {"media_type": media_type} | (measure_image(path, media_type) if media_type in FORMATS else {})


def measure_image(path: str, media_type: str) -> dict[str, Any]:
    """`pixels`, width and height as displayed, after the first frame was decoded completely; `frames` if several."""
    try:
        # Pillow loads a PNG whose last chunks are missing; `verify` checks them.
        if media_type == "image/png":
            with open_image(path, media_type) as image:
                image.verify()
        with open_image(path, media_type) as image:
            image.load()
            pixels = turn_size(image.size, read_orientation(image))
            return {"pixels": pixels, "frames": count_frames(image, media_type)}
    except DAMAGE as error:
        raise error if isinstance(error, BadFile) else torn(media_type, error) from None


def count_frames(image: Image.Image, media_type: str) -> int | None:
    """How many frames or pages it has, at most 10,000; None for one, or if the frames after the first are damaged."""
    if media_type not in SEQUENCES:
        return None
    try:
        count = int(getattr(image, "n_frames", 1))
    except Exception:  # noqa: BLE001 - damaged frames raise anything, and the first one is intact
        return None
    return min(count, FRAME_LIMIT) if count > 1 else None


def read_orientation(image: Image.Image) -> int:
    """EXIF's orientation of a loaded image, 1 to 8; 1 if it has none or an invalid one."""
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - damaged EXIF raises anything, and the image is usable without it
        return 1
    return orientation if orientation in range(1, 9) else 1


def turn_image(image: Image.Image) -> Image.Image:
    """The image as it is displayed."""
    return ImageOps.exif_transpose(image) if read_orientation(image) > 1 else image


def torn(media_type: str, error: Exception) -> BadFile:
    """The error for an image that can't be decoded."""
    is_unknown = isinstance(error, UnidentifiedImageError)  # such as a TIFF of 64-bit floats
    reason = "it is damaged, or of a kind that isn't known here" if is_unknown else explain_damage(error)
    return torn_image(FORMATS[media_type][0], reason)
