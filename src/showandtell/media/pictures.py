"""Images by Pillow, only in the child: opened as the format that the signature names, and loaded completely."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Generator
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
from showandtell.media.refusals import explain_damage

#: What Pillow raises for damaged images of any format.
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, IndexError, RuntimeError, Image.DecompressionBombWarning)
#: Larger images are rejected: no provider accepts more, and this fits into the child's memory.
PIXEL_LIMIT = 100_000_000
#: Decoders that hold an image more than once get a lower limit, so that none needs 512 MB (measured: WebP 16 bytes a
#: pixel, AVIF 9, HEIC 8; the others 4).
PIXEL_LIMITS = {"image/avif": 48_000_000, "image/heic": 48_000_000, "image/heif": 48_000_000, "image/webp": 28_000_000}
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
#: Decoded by pillow-heif, which is optional: without it these types are known only by their signature.
HEIF_TYPES = ("image/heic", "image/heif")
if find_spec("pillow_heif"):
    FORMATS.update(dict.fromkeys(HEIF_TYPES, ("HEIF",)))
#: Types whose frames or pages are counted. A HEIC or a JPEG with several images still shows one.
SEQUENCES = frozenset({"image/avif", "image/gif", "image/png", "image/tiff", "image/webp"})
FRAME_LIMIT = 10_000
#: Markers of a JPEG's frame header, and those of lossless ones.
FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
LOSSLESS_MARKERS = frozenset({0xC3, 0xC7, 0xCB, 0xCF})


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
    if media_type == "image/jpeg":
        check_samples(Path(path))
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
    from pillow_heif import register_heif_opener  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

    register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=2)


def check_pixels(width: int, height: int, media_type: str) -> None:
    """Raise `BadFile` if an image has too many pixels for its type."""
    limit = PIXEL_LIMITS.get(media_type, PIXEL_LIMIT)
    if width * height > limit:
        size = f"{width} x {height} pixels, {width * height / 1e6:.0f} megapixels"
        raise BadFile("", f"is too large ({size})", f"scale it to at most {limit // 10**6} megapixels")


def check_samples(path: Path) -> None:
    """Raise `BadFile` for a JPEG that no decoder here reads: of 12 or 16 bits, or without loss (ITU T.81, B.2.2)."""
    with path.open("rb") as stream:
        stream.seek(2)
        while len(head := stream.read(5)) == 5 and head[0] == 0xFF:
            if head[1] == 0xFF:  # a fill byte
                stream.seek(-4, 1)
                continue
            if head[1] in FRAME_MARKERS:
                if head[4] != 8:
                    problem = f"is a JPEG of {head[4]} bits a colour, and only 8 can be decoded"
                    raise BadFile("", problem, "save it as a JPEG of 8 bits, or as PNG")
                if head[1] in LOSSLESS_MARKERS:
                    raise BadFile(
                        "", "is a lossless JPEG, which can't be decoded", "save it as a usual JPEG, or as PNG"
                    )
                return
            stream.seek(int.from_bytes(head[2:4], "big") - 3, 1)


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


def turn_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    """Width and height as displayed: orientations 5 to 8 swap them."""
    return (size[1], size[0]) if orientation >= 5 else size


def torn(media_type: str, error: Exception) -> BadFile:
    """The error for an image that can't be decoded."""
    format_name = FORMATS[media_type][0]
    is_unknown = isinstance(error, UnidentifiedImageError)  # such as a TIFF of 64-bit floats
    reason = "it is damaged, or of a kind that isn't known here" if is_unknown else explain_damage(error)
    return BadFile(
        "", f"is torn: it begins as {format_name} but can't be decoded: {reason}", "save or download it anew"
    )
