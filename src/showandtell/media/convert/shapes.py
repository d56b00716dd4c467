"""The arithmetic of conversions: which frames, which part, how large. Pure: no picture is touched here."""

from __future__ import annotations

from typing import TypeAlias

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile

Size: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[int, int, int, int]

#: A part that is smaller than this on its longer side is enlarged, at most so many times: a zoom has to show more.
ZOOM_SIDE, ZOOM = 768, 2.0


def clip_crop(crop: Box | None, size: Size, *, whole: bool = False) -> Box:
    """The part of an upright picture that is asked for, inside it; raises `BadFile` where nothing of it is.

    With `whole` all of it has to be inside.
    """
    width, height = size
    if crop is None:
        return (0, 0, width, height)
    left, top, right, bottom = max(crop[0], 0), max(crop[1], 0), min(crop[2], width), min(crop[3], height)
    if left >= right or top >= bottom or (whole and (left, top, right, bottom) != crop):
        asked = f"{'not all of' if whole else 'nothing at'} {', '.join(map(str, crop))}"
        told = f"has {asked}: it is {width} x {height} pixels"
        raise BadFile("", told, "give left, top, right and bottom inside it")
    return (left, top, right, bottom)


def lay_down(box: Box, size: Size, orientation: int) -> Box:
    """A box of the upright picture as a box of the stored one, whose size is `size`; EXIF's orientation, 1 to 8."""
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


def choose_factor(size: Size, recipe: Conversion) -> float:
    """How much larger or smaller a part of this size becomes, within the recipe's side and pixels."""
    width, height = size
    factor = min(ZOOM, max(1.0, ZOOM_SIDE / max(size))) if recipe.crop else 1.0
    if recipe.side:
        factor = min(factor, recipe.side / max(size))
    if recipe.pixels:
        factor = min(factor, (recipe.pixels / (width * height)) ** 0.5)
    return factor


def scale_size(size: Size, factor: float) -> Size:
    """A size times a factor, rounded down, at least 1 x 1: what is within a limit stays so."""
    return (max(1, int(size[0] * factor + 1e-6)), max(1, int(size[1] * factor + 1e-6)))


def compare(made: Size, original: Size) -> float:
    """The linear scale, by the longer side; exactly 1 where nothing was lost."""
    return 1.0 if made == original else round(max(made) / max(original), 4)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` indexes, from the first to the last, evenly."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return [round(at * (count - 1) / (most - 1)) for at in range(most)]


def choose_pages(total: int, recipe: Conversion, default: int, ceiling: int, what: str = "page") -> list[int]:
    """Which pages (or frames) are meant, counted from 1; raises `BadFile` where there is none of them."""
    if recipe.only:
        chosen = [page for page in dict.fromkeys(recipe.only) if page <= total][:ceiling]
    else:
        first = recipe.first or 1
        chosen = list(range(first, min(total, first + min(recipe.most or default, ceiling) - 1) + 1))
    if not chosen:
        asked = ", ".join(map(str, recipe.only or (recipe.first or 1,)))
        told = f"has {total} {what}{'s' * (total > 1)}: there is no {what} {asked}"
        raise BadFile("", told, "ask for one that is there")
    return chosen
