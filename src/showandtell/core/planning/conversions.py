"""Which conversions of a file a target can use, best first, and how large each may become.

Limits are part of a conversion, so its maximum size is known before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import get_args

from msgspec import Struct

from showandtell.core.capabilities.cells import Capability, FileLimits, Form, Place, Target
from showandtell.core.media_types.converters import shown_as
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.messages.conversion import Conversion, serialize_conversion, text_conversion
from showandtell.core.messages.parts import Selection

#: The part of a request's bytes that one file's conversions may take, before base64. Stored conversions depend on it.
CONVERTED_SHARE = Fraction(51, 320)
UNLIMITED = float("inf")

#: Output types of conversions, best first. Those that the model accepts are used.
IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp")
AUDIO_TYPES = ("audio/wav", "audio/mpeg", "audio/ogg", "audio/flac")
#: Maximum raw bytes of one image, one page or frame, and one audio file.
MAX_IMAGE_BYTES, MAX_PAGE_BYTES, MAX_AUDIO_BYTES = 4_000_000, 1_000_000, 8_000_000
#: Maximum raw bytes of a file fetched from the web.
MAX_FETCHED_BYTES = 10_000_000
#: Pixels on the longer side of a page and of a video frame: small print stays legible, and no model takes many more.
PAGE_SIDE, FRAME_SIDE = 1568, 768
#: Pages of a document, frames of an animation and frames of a video that are shown by default.
MAX_PAGES, MAX_ANIMATION_FRAMES, MAX_VIDEO_FRAMES = 5, 4, 8
#: Pages that one call of view_file shows.
MAX_VIEWED_PAGES = 10
SVG, PDF = "image/svg+xml", "application/pdf"
TRANSCRIPT, DESCRIPTION, FETCH = "transcript", "description", "fetch"
#: The schemes of addresses that can be fetched here.
FETCHED_SCHEMES = ("https:", "http:", "gs:")


class Load(Struct, frozen=True):
    """The most that a conversion can add to a request: raw bytes in total, and the number of images and documents."""

    bytes: int = 0
    images: int = 0
    documents: int = 0


class ConversionOption(Struct, frozen=True):
    """A conversion that a target can use. Without `load`, its output is text."""

    conversion: str
    load: Load | None = None


def conversion_options(
    file: Facts | Address,
    target: Target,
    places: tuple[Place, ...],
    view: Selection | None = None,
    *,
    smaller: bool = False,
    describer: str = "",
) -> tuple[ConversionOption, ...]:
    """The conversions of a file for these places, best first. A `view` is only shown as images.

    `describer` is who describes pictures to models without eyes; empty: nobody. `smaller` limits images as if they were
    pages of a document: the provider has refused the file as it is. An address has one conversion: to fetch its bytes.
    If that is allowed is up to the policy.
    """
    becomes = shown_as(file.media_type)
    return list_options(file, target, places, becomes, view, smaller=smaller, describer=describer)


@lru_cache(maxsize=4096)
def list_options(
    file: Facts | Address,
    target: Target,
    places: tuple[Place, ...],
    becomes: str,
    view: Selection | None,
    *,
    smaller: bool,
    describer: str,
) -> tuple[ConversionOption, ...]:
    """As `conversion_options`. `becomes` is the type as which the file is shown."""
    if isinstance(file, Address):
        return tuple(fetch_options(file, target, places))
    if view is not None:
        return tuple(view_options(file, target, places, view))
    options = file_options(file, target, places, becomes, smaller=smaller)
    return (*options, *(description_options(file, target, describer) if describer else ()))


def fetch_options(file: Address, target: Target, places: tuple[Place, ...]) -> Iterator[ConversionOption]:
    """Fetch a file whose address the target doesn't open, if the target accepts its bytes."""
    if file.form == "url" and file.value.startswith(FETCHED_SCHEMES):
        for types, limits in accepted_types((file.media_type,), target, places):
            size = max_file_bytes(limits, target, MAX_FETCHED_BYTES)
            load = Load(size, int(file.kind == "image"), int(file.kind == "document"))
            yield ConversionOption(serialize_conversion(Conversion(FETCH, types, bytes=size)), load)


def file_options(
    file: Facts, target: Target, places: tuple[Place, ...], becomes: str, *, smaller: bool = False
) -> Iterator[ConversionOption]:
    """The conversions of a complete file, which is shown as the type `becomes`: its own or what a converter makes."""
    kind = kind_of(becomes)
    if becomes != file.media_type:
        yield from whole_options(becomes, target, places)
    if kind == "image" or becomes == SVG:
        yield from image_options(file, target, places, smaller=smaller)
    if kind == "audio":
        yield from audio_options(target, places)
        yield ConversionOption(TRANSCRIPT)
    if kind == "video":
        yield from video_options(target, places)
        yield ConversionOption(TRANSCRIPT)
    if becomes == PDF:
        yield from page_options(target, places, max_count=min(MAX_PAGES, file.pages or MAX_PAGES))
    if kind in {"document", "text"} or file.kind == "text":
        yield ConversionOption(text_conversion(file.encoding))


def whole_options(becomes: str, target: Target, places: tuple[Place, ...]) -> Iterator[ConversionOption]:
    """What a converter makes of a file, as it is, if the target accepts it. Images are fitted to limits instead."""
    if (kind := kind_of(becomes)) not in {"document", "audio", "video"}:
        return
    for types, limits in accepted_types((becomes,), target, places):
        size = max_file_bytes(limits, target, MAX_FETCHED_BYTES)
        conversion = Conversion("whole", types, bytes=size)
        yield ConversionOption(serialize_conversion(conversion), Load(size, documents=int(kind == "document")))


def description_options(file: Facts, target: Target, describer: str) -> Iterator[ConversionOption]:
    """Words in place of a picture, or of pages whose text can't be read, only for a target that sees no pictures."""
    if (file.kind == "image" or file.media_type == PDF) and not sees_images(target):
        yield ConversionOption(serialize_conversion(Conversion(DESCRIPTION, by=describer)))


def sees_images(target: Target) -> bool:
    """Whether a target takes images of a usual type, in any place and form."""
    kinds = product(get_args(Place), IMAGE_TYPES, get_args(Form))
    return any(is_usable(target.cell(place, media_type, form)) for place, media_type, form in kinds)


def view_options(file: Facts, target: Target, places: tuple[Place, ...], view: Selection) -> Iterator[ConversionOption]:
    """The conversions of a part of a file: some of its pages, or a crop of an image or page."""
    if file.media_type == PDF:
        pages = (view.pages or (1,))[:MAX_VIEWED_PAGES]
        yield from page_options(target, places, max_count=len(pages), pages=pages, crop=view.crop)
    elif file.kind == "image" or file.media_type == SVG:
        yield from image_options(file, target, places, view)


def image_options(
    file: Facts,
    target: Target,
    places: tuple[Place, ...],
    view: Selection | None = None,
    *,
    smaller: bool = False,
) -> Iterator[ConversionOption]:
    """An image of a type that the target accepts, or several if the file has several frames."""
    for types, limits in accepted_types(IMAGE_TYPES, target, places):
        pages, crop = (view.pages, view.crop) if view else (None, None)
        count = min(file.frames or 1, max_images(target, MAX_ANIMATION_FRAMES))
        size = max_file_bytes(limits, target, MAX_PAGE_BYTES if smaller else MAX_IMAGE_BYTES, count)
        conversion = Conversion(
            "image",
            types,
            bytes=size,
            side=lowest(limits.side, target.budget.many_side, PAGE_SIDE if smaller else None),
            pixels=limits.pixels,
            crop=crop,
            max_count=count if file.frames and pages is None else None,
            pages=pages[:MAX_VIEWED_PAGES] if pages else None,
        )
        yield ConversionOption(serialize_conversion(conversion), Load(size * count, count))


def page_options(
    target: Target,
    places: tuple[Place, ...],
    *,
    max_count: int,
    pages: tuple[int, ...] | None = None,
    crop: tuple[int, int, int, int] | None = None,
) -> Iterator[ConversionOption]:
    """Pages of a PDF as images."""
    for types, limits in accepted_types(IMAGE_TYPES, target, places):
        count = max_images(target, max_count)
        size = max_file_bytes(limits, target, MAX_PAGE_BYTES * min(count, MAX_PAGES), count)
        side = lowest(limits.side, target.budget.many_side, PAGE_SIDE)
        chosen = pages[:count] if pages else None
        conversion = Conversion("pages", types, bytes=size, side=side, crop=crop, max_count=count, pages=chosen)
        yield ConversionOption(serialize_conversion(conversion), Load(size * count, count))


def video_options(target: Target, places: tuple[Place, ...]) -> Iterator[ConversionOption]:
    """Frames of a video, with its audio track if the target accepts audio."""
    for types, limits in accepted_types(IMAGE_TYPES[1:] + IMAGE_TYPES[:1], target, places):
        count = max_images(target, MAX_VIDEO_FRAMES)
        size = max_file_bytes(limits, target, MAX_PAGE_BYTES // 2 * count, count)
        audio_types, _ = next(accepted_types(AUDIO_TYPES, target, places), ((), None))
        audio_type = audio_types[-1] if audio_types else None
        side = lowest(limits.side, target.budget.many_side, FRAME_SIDE)
        conversion = Conversion("frames", types, bytes=size, side=side, max_count=count, audio_type=audio_type)
        yield ConversionOption(
            serialize_conversion(conversion), Load(size * count + (size if audio_type else 0), count)
        )


def audio_options(target: Target, places: tuple[Place, ...]) -> Iterator[ConversionOption]:
    """Audio of a type that the target accepts."""
    for types, limits in accepted_types(AUDIO_TYPES, target, places):
        size = max_file_bytes(limits, target, MAX_AUDIO_BYTES)
        yield ConversionOption(serialize_conversion(Conversion("audio", types, bytes=size)), Load(size))


def accepted_types(
    types: tuple[str, ...], target: Target, places: tuple[Place, ...]
) -> Iterator[tuple[tuple[str, ...], FileLimits]]:
    """Yield the types that the first suitable place accepts, with its limits; nothing if no place accepts any."""
    for place in places:
        found = {media_type: target.cell(place, media_type, "inline") for media_type in types}
        cells = {media_type: cell for media_type, cell in found.items() if cell is not None and is_usable(cell)}
        if cells:
            yield tuple(cells), next(iter(cells.values())).limits
            return


def is_usable(cell: Capability | None) -> bool:
    """Whether files may be sent there. In a user message an unproven place is better than none."""
    return cell is not None and cell.verdict in ({"sees"} if cell.place == "tool_result" else {"sees", "unproven"})


def max_file_bytes(limits: FileLimits, target: Target, total: int, count: int = 1) -> int:
    """The maximum raw bytes of each of `count` files: the cell's limit, and its share of the total.

    The total is at most `CONVERTED_SHARE` of a request.
    """
    request = UNLIMITED if target.budget.bytes is None else target.budget.bytes
    share = min(request * CONVERTED_SHARE.numerator / CONVERTED_SHARE.denominator, total) / count
    return int(min(limits.bytes or UNLIMITED, share))


def max_images(target: Target, count: int) -> int:
    """How many of `count` images one file may become: at most half of what a request or message holds."""
    allowed = lowest(target.budget.images, target.budget.message_images)
    return count if allowed is None else min(count, max(allowed // 2, 1))


def lowest(*limits: int | None) -> int | None:
    """The lowest limit; None if there is no limit."""
    return min((limit for limit in limits if limit is not None), default=None)


def base64_length(size: int) -> int:
    """The length of `size` bytes in base64."""
    return (size + 2) // 3 * 4


def shape_problem(limits: FileLimits, file: Facts) -> str | None:
    """Which limit of pixels, pages or frames a file exceeds, as text; None if it exceeds none."""
    if file.pixels is not None:
        width, height = file.pixels
        if limits.side is not None and max(file.pixels) > limits.side:
            return f"it is {width}x{height} pixels, the limit is {limits.side} a side"
        if limits.pixels is not None and width * height > limits.pixels:
            return f"it is {width}x{height} pixels, the limit is {limits.pixels / 1e6:.0f} megapixels"
    if limits.pages is not None and file.pages is not None and file.pages > limits.pages:
        return f"it has {file.pages} pages, the limit is {limits.pages}"
    if limits.frames is not None and file.frames is not None and file.frames > limits.frames:
        return f"it has {file.frames} frames, the limit is {limits.frames}"
    return None
