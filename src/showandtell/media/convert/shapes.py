"""The arithmetic of conversions: which frames, which part, which size. Pure functions without images."""

from __future__ import annotations

from typing import TypeAlias

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile

Size: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[int, int, int, int]

#: A crop whose longer side is smaller than this is enlarged, at most by this factor: a zoom has to show more.
ZOOM_SIDE, ZOOM = 768, 2.0


def clip_crop(crop: Box | None, size: Size, *, full: bool = False) -> Box:
    """The requested part of an upright image, clipped to it; raises `BadFile` if it is outside.

    With `full` all of it has to be inside.
    """
    width, height = size
    if crop is None:
        return (0, 0, width, height)
    left, top, right, bottom = max(crop[0], 0), max(crop[1], 0), min(crop[2], width), min(crop[3], height)
    if left >= right or top >= bottom or (full and (left, top, right, bottom) != crop):
        requested = f"{'not all of' if full else 'nothing at'} {', '.join(map(str, crop))}"
        problem = f"has {requested}: it is {width} x {height} pixels"
        raise BadFile("", problem, "give left, top, right and bottom inside it")
    return (left, top, right, bottom)


def lay_down(box: Box, size: Size, orientation: int) -> Box:
    """A box of the upright image as a box of the stored one, which has this size and EXIF orientation (1 to 8)."""
    (left, top, right, bottom), (width, height) = box, size
    match orientation:
        case 2:
            return (width - right, top, width - left, bottom)
        case 3:
            return (width - right, height - bottom, width - left, height - top)
        case 4:
            return (left, height - bottom, right, height - top)
        case 5:
            return (top, left, bottom, right)
        case 6:
            return (top, height - right, bottom, height - left)
        case 7:
            return (width - bottom, height - right, width - top, height - left)
        case 8:
            return (width - bottom, left, width - top, right)
        case _:
            return box


def choose_factor(size: Size, conversion: Conversion) -> float:
    """The scale for a part of this size, within the conversion's side and pixels."""
    width, height = size
    factor = min(ZOOM, max(1.0, ZOOM_SIDE / max(size))) if conversion.crop else 1.0
    if conversion.side:
        factor = min(factor, conversion.side / max(size))
    if conversion.pixels:
        factor = min(factor, (conversion.pixels / (width * height)) ** 0.5)
    return factor


def scale_size(size: Size, factor: float) -> Size:
    """A size times a factor, at least 1 x 1. It is rounded down, so that it stays within a limit."""
    return (max(1, int(size[0] * factor + 1e-6)), max(1, int(size[1] * factor + 1e-6)))


def compare(scaled: Size, original: Size) -> float:
    """The linear scale, by the longer side; exactly 1 if the sizes are equal."""
    return 1.0 if scaled == original else round(max(scaled) / max(original), 4)


def spread(count: int, max_count: int) -> list[int]:
    """At most `max_count` of `count` indexes, evenly spaced from the first to the last."""
    if count <= max_count:
        return list(range(count))
    if max_count == 1:
        return [0]
    return [round(index * (count - 1) / (max_count - 1)) for index in range(max_count)]


def choose_pages(total: int, conversion: Conversion, default: int, maximum: int, what: str = "page") -> list[int]:
    """The numbers of the requested pages or frames, from 1; raises `BadFile` if none of them exists."""
    if conversion.pages:
        chosen = [page for page in dict.fromkeys(conversion.pages) if page <= total][:maximum]
    else:
        first = conversion.first_page or 1
        chosen = list(range(first, min(total, first + min(conversion.max_count or default, maximum) - 1) + 1))
    if not chosen:
        requested = ", ".join(map(str, conversion.pages or (conversion.first_page or 1,)))
        problem = f"has {total} {what}{'s' * (total > 1)}: there is no {what} {requested}"
        raise BadFile("", problem, "ask for one that is there")
    return chosen
