"""How a conversion is asked for, as text: a name, then parameters as in a URL query. Two that are equal read alike.

The plan writes them, `Known` holds what they gave, and the child process obeys them; nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, structs

from showandtell.errors import BadInput

#: The most characters that any conversion gives as words.
MOST_CHARACTERS = 200_000


class Conversion(Struct, frozen=True):
    """One conversion.

    name: image, pages, frames, audio, text, transcript, thumbnail. types: media types that are taken, best first.
    bytes, side, pixels: what each file made may have at most; side is the longer one. crop: left, top, right, bottom in
    pixels of the upright original. first, most: from which page on, and how many pages or frames. only: these pages
    alone. sound: the type of a film's sound track, if it is wanted.
    """

    name: str
    types: tuple[str, ...] = ()
    bytes: int | None = None
    side: int | None = None
    pixels: int | None = None
    crop: tuple[int, int, int, int] | None = None
    first: int | None = None
    most: int | None = None
    only: tuple[int, ...] | None = None
    sound: str | None = None


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between."""
    return tuple(map(int, text.split(",")))


def words(text: str) -> tuple[str, ...]:
    """Words with commas between."""
    return tuple(text.split(","))


#: How a parameter is read. `types` is written as `as`.
READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "as": ("types", words),
    "bytes": ("bytes", int),
    "crop": ("crop", numbers),
    "first": ("first", int),
    "most": ("most", int),
    "only": ("only", numbers),
    "pixels": ("pixels", int),
    "side": ("side", int),
    "sound": ("sound", str),
}


def spell(recipe: Conversion) -> str:
    """A recipe as text, its parameters in the order of the alphabet; what isn't set isn't written."""
    written: dict[str, str] = {}
    for key, (field, _) in READ.items():
        value = getattr(recipe, field)
        if value is not None and value != ():
            written[key] = ",".join(map(str, cast("tuple[object, ...]", value))) if type(value) is tuple else str(value)
    return recipe.name + ("?" + urlencode(written, safe="/,") if written else "")


def read_recipe(text: str) -> Conversion:
    """The inverse. Raises `BadInput` for what is no recipe."""
    name, _, query = text.partition("?")
    try:
        found = {READ[key][0]: READ[key][1](value) for key, value in parse_qsl(query, strict_parsing=bool(query))}
        return structs.replace(Conversion(name), **found)
    except (KeyError, ValueError) as error:
        told = "write name?key=value, as in image?as=image/png&side=1568"
        raise BadInput(f"{text[:80]!r} is no recipe: {told}") from error
