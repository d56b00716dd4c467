"""A conversion as text: a name and parameters like a URL query. Equal conversions have equal texts.

The planner writes them, `Derivations` holds their results, and the child process runs them. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, UnsetType, structs

from showandtell.errors import BadInput

#: Maximum length of a conversion's text output, in characters.
MAX_CHARACTERS = 200_000


class Conversion(Struct, frozen=True):
    """One conversion.

    name: image, pages, frames, audio, text, transcript, description, thumbnail; whole: as a package made it.
    types: accepted media types, best first.
    bytes, side, pixels: limits of each output file; `side` is the longer side.
    crop: left, top, right, bottom in pixels of the upright original.
    first_page, max_count: the first page, and the maximum number of pages or frames. pages: only these pages.
    audio_type: the media type of a video's audio track; None for no audio.
    by: who describes a picture. encoding: that of a text that isn't UTF-8.
    """

    name: str
    types: tuple[str, ...] = ()
    bytes: int | None = None
    side: int | None = None
    pixels: int | None = None
    crop: tuple[int, int, int, int] | None = None
    first_page: int | None = None
    max_count: int | None = None
    pages: tuple[int, ...] | None = None
    audio_type: str | None = None
    by: str | None = None
    encoding: str | None = None


def parse_numbers(text: str) -> tuple[int, ...]:
    """Parse comma-separated integers."""
    return tuple(map(int, text.split(",")))


def parse_list(text: str) -> tuple[str, ...]:
    """Parse comma-separated values."""
    return tuple(text.split(","))


#: The field and the parser of each parameter.
PARAMETERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "as": ("types", parse_list),
    "by": ("by", str),
    "bytes": ("bytes", int),
    "crop": ("crop", parse_numbers),
    "first": ("first_page", int),
    "from": ("encoding", str),
    "most": ("max_count", int),
    "only": ("pages", parse_numbers),
    "pixels": ("pixels", int),
    "side": ("side", int),
    "sound": ("audio_type", str),
}


def serialize_conversion(conversion: Conversion) -> str:
    """Write a conversion as text. Parameters are in alphabetical order; unset ones are left out."""
    query: dict[str, str] = {}
    for key, (field, _) in PARAMETERS.items():
        value = getattr(conversion, field)
        if value is not None and value != ():
            query[key] = ",".join(map(str, cast("tuple[object, ...]", value))) if type(value) is tuple else str(value)
    return conversion.name + ("?" + urlencode(query, safe="/,") if query else "")


def text_conversion(encoding: str | UnsetType) -> str:
    """The conversion of a file to text, whose own text may be in another encoding than UTF-8."""
    return serialize_conversion(Conversion("text", encoding=encoding or None))


def parse_conversion(text: str) -> Conversion:
    """Parse the text of a conversion. Raises `BadInput` for invalid text."""
    name, _, query = text.partition("?")
    fields: dict[str, Any] = {}
    try:
        for key, value in parse_qsl(query, strict_parsing=bool(query)):
            field, parse = PARAMETERS[key]
            fields[field] = parse(value)
    except (KeyError, ValueError) as error:
        advice = "write name?key=value, as in image?as=image/png&side=1568"
        raise BadInput(f"{text[:80]!r} is not a conversion: {advice}") from error
    return structs.replace(Conversion(name), **fields)
