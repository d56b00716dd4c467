"""The other forms that a file can be given in: which conversions a target can use, best first, and what each may hold.

Bounds are part of a recipe, so that what a conversion weighs at most is known before it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import astuple

from showandtell.core.capabilities.cells import Capability, FileLimits, Place, Target
from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.messages.conversion import Conversion, spell
from showandtell.core.messages.parts import Selection

#: The share of a request's bytes that files may take; the rest is for words and tool schemas.
FILES_SHARE = 0.85
ENDLESS = float("inf")

#: What a conversion may be spelled as, best first; what a model takes of these is used.
PICTURES = ("image/png", "image/jpeg", "image/webp")
SOUNDS = ("audio/wav", "audio/mpeg", "audio/ogg", "audio/flac")
#: Raw bytes that one picture, one page or frame, and one sound may come to.
PICTURE_BYTES, PAGE_BYTES, SOUND_BYTES = 4_000_000, 1_000_000, 8_000_000
#: And a file that is fetched from the web.
FETCHED_BYTES = 10_000_000
#: Pixels on the longer side of a page and of a frame: small letters can be read, and no model takes many more.
PAGE_SIDE, FRAME_SIDE = 1568, 768
#: Pages of a document, pictures of an animation and frames of a film that are shown unasked.
PAGES, PICTURES_OF_ONE, FRAMES = 5, 4, 8
#: Pages that one look at a document (view_file) shows.
PAGES_ASKED = 10
SVG, PDF = "image/svg+xml", "application/pdf"
TRANSCRIPT, FETCH = "transcript", "fetch"
WEB = ("https:", "http:")


class Load(Struct, frozen=True):
    """What a conversion may come to at most: raw bytes in all, and how many pictures and documents."""

    bytes: int = 0
    pictures: int = 0
    documents: int = 0


class Form(Struct, frozen=True):
    """A conversion that a target can use; one without `load` gives words."""

    recipe: str
    load: Load | None = None


@lru_cache(maxsize=4096)
def forms(
    file: Facts | Address, target: Target, places: tuple[Place, ...], view: Selection | None = None
) -> tuple[Form, ...]:
    """What a file may be turned into for these places, best first. A `view` is shown as pictures alone.

    For an address that is its bytes, to be fetched: whether that may be is the policy's to say.
    """
    if isinstance(file, Address):
        return tuple(fetched(file, target, places))
    return tuple(looks(file, target, places, view) if view is not None else others(file, target, places))


def fetched(file: Address, target: Target, places: tuple[Place, ...]) -> Iterator[Form]:
    """What may stand for the address of a file that the target doesn't open: its bytes, where it takes any."""
    if file.form == "url" and file.value.startswith(WEB):
        for types, limits in accepted((file.media_type,), target, places):
            size = bounded(limits, target, FETCHED_BYTES)
            load = Load(size, int(file.kind == "image"), int(file.kind == "document"))
            yield Form(spell(Conversion(FETCH, types, bytes=size)), load)


def others(file: Facts, target: Target, places: tuple[Place, ...]) -> Iterator[Form]:
    """The forms of a whole file."""
    if file.kind == "image" or file.media_type == SVG:
        yield from pictures(file, target, places)
    if file.kind == "audio":
        yield from sounds(target, places)
        yield Form(TRANSCRIPT)
    if file.kind == "video":
        yield from films(target, places)
        yield Form(TRANSCRIPT)
    if file.media_type == PDF:
        yield from pages(target, places, most=min(PAGES, file.pages or PAGES))
    if file.kind in {"document", "text"}:
        yield Form("text")


def looks(file: Facts, target: Target, places: tuple[Place, ...], view: Selection) -> Iterator[Form]:
    """The forms of a part of a file: some of its pages, or a piece of a picture or of one page."""
    if file.media_type == PDF:
        wanted = (view.pages or (1,))[:PAGES_ASKED]
        yield from pages(target, places, most=len(wanted), only=wanted, crop=view.crop)
    elif file.kind == "image" or file.media_type == SVG:
        yield from pictures(file, target, places, view)


def pictures(file: Facts, target: Target, places: tuple[Place, ...], view: Selection | None = None) -> Iterator[Form]:
    """A picture that the target takes; several where the file has more than one."""
    for types, limits in accepted(PICTURES, target, places):
        only, crop = (view.pages, view.crop) if view else (None, None)
        most = min(file.frames or 1, room_for(target, PICTURES_OF_ONE))
        size = bounded(limits, target, PICTURE_BYTES, most)
        recipe = Conversion(
            "image",
            types,
            bytes=size,
            side=least(limits.side, target.budget.many_side),
            pixels=limits.pixels,
            crop=crop,
            most=most if file.frames and only is None else None,
            only=only[:PAGES_ASKED] if only else None,
        )
        yield Form(spell(recipe), Load(size * most, most))


def pages(
    target: Target,
    places: tuple[Place, ...],
    *,
    most: int,
    only: tuple[int, ...] | None = None,
    crop: tuple[int, int, int, int] | None = None,
) -> Iterator[Form]:
    """Pages of a PDF as pictures."""
    for types, limits in accepted(PICTURES, target, places):
        count = room_for(target, most)
        size = bounded(limits, target, PAGE_BYTES * min(count, PAGES), count)
        side = least(limits.side, target.budget.many_side, PAGE_SIDE)
        chosen = only[:count] if only else None
        recipe = Conversion("pages", types, bytes=size, side=side, crop=crop, most=count, only=chosen)
        yield Form(spell(recipe), Load(size * count, count))


def films(target: Target, places: tuple[Place, ...]) -> Iterator[Form]:
    """Frames of a film, with its sound where the target takes sound, too."""
    for types, limits in accepted(PICTURES[1:] + PICTURES[:1], target, places):
        count = room_for(target, FRAMES)
        size = bounded(limits, target, PAGE_BYTES // 2 * count, count)
        sound = next(iter(accepted(SOUNDS, target, places)), None)
        side = least(limits.side, target.budget.many_side, FRAME_SIDE)
        recipe = Conversion("frames", types, bytes=size, side=side, most=count, sound=sound[0][-1] if sound else None)
        yield Form(spell(recipe), Load(size * count + (size if sound else 0), count))


def sounds(target: Target, places: tuple[Place, ...]) -> Iterator[Form]:
    """A sound that the target takes."""
    for types, limits in accepted(SOUNDS, target, places):
        size = bounded(limits, target, SOUND_BYTES)
        yield Form(spell(Conversion("audio", types, bytes=size)), Load(size))


def accepted(
    types: tuple[str, ...], target: Target, places: tuple[Place, ...]
) -> Iterator[tuple[tuple[str, ...], FileLimits]]:
    """Which of these types the first place takes that takes any, and within what limits; at most one answer."""
    for where in places:
        cells = {one: cell for one in types if takes(cell := target.cell(where, one, "inline")) and cell is not None}
        if cells:
            yield tuple(cells), next(iter(cells.values())).limits
            return


def takes(cell: Capability | None) -> bool:
    """Whether something may be sent there: a place that was never tried will do for what a person waits for."""
    return cell is not None and cell.verdict in ({"sees"} if cell.place == "tool_result" else {"sees", "unproven"})


def bounded(limits: FileLimits, target: Target, most: int, count: int = 1) -> int:
    """The raw bytes that each of so many files may come to: what the cell takes, and its share of what all may have.

    All together: what is of use, at most a quarter of the request.
    """
    share = min(bytes_for_files(target) * 3 / 4 / 4, most) / count
    return int(min(limits.bytes or ENDLESS, share))


def room_for(target: Target, most: int) -> int:
    """How many pictures one file may become: at most half of those that a request or a message takes."""
    allowed = least(target.budget.images, target.budget.message_images)
    return most if allowed is None else min(most, max(allowed // 2, 1))


def least(*limits: int | None) -> int | None:
    """The tightest of some limits; None where there is none."""
    return min((one for one in limits if one is not None), default=None)


def bytes_for_files(target: Target) -> float:
    """The bytes of base64 that files may take in one request."""
    return ENDLESS if target.budget.bytes is None else target.budget.bytes * FILES_SHARE


def encoded(size: int) -> int:
    """The length of the base64 of so many bytes."""
    return (size + 2) // 3 * 4


def misshapen(limits: FileLimits, file: Facts) -> str | None:
    """Which limit of pixels, pages or frames a file breaks, in words; None where it breaks none."""
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


def heaviest(file: Facts | Address, target: Target, places: tuple[Place, ...]) -> Load:
    """What the heaviest conversion of a file may come to."""
    loads = [one.load for one in forms(file, target, places) if one.load is not None] or [Load()]
    return Load(*(max(sizes) for sizes in zip(*map(astuple, loads), strict=True)))
