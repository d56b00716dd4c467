"""Conversions, only in the child: a module for each kind of source, chosen by the conversion's name and the media type.

Each module has functions that take (path, media type, conversion, folder) and return the fields of the gate's
`ConversionOutput`. They write files directly into that folder and nowhere else. They are imported at first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion, parse_conversion
from showandtell.errors import BadFile
from showandtell.plugins import MISTAKES

#: Module and function by conversion and by media type or kind. A media type has precedence over its kind.
CONVERTERS: dict[tuple[str, str], tuple[str, str]] = {
    ("image", "image"): ("images", "make_images"),
    ("image", "image/svg+xml"): ("drawings", "make_image"),
    ("pages", "application/pdf"): ("pages", "make_pages"),
    ("text", "application/pdf"): ("plain", "make_text"),
    ("text", "text/html"): ("office", "make_text"),
    ("text", "document"): ("office", "make_text"),
    ("text", "other"): ("office", "make_text"),
    ("audio", "audio"): ("audio", "make_audio"),
    ("audio", "video"): ("audio", "make_audio"),
    ("frames", "video"): ("video", "make_frames"),
    ("transcript", "audio"): ("speech", "make_transcript"),
    ("transcript", "video"): ("speech", "make_transcript"),
}
DESCRIPTIONS = {
    "image": "a picture",
    "pages": "pages",
    "text": "words",
    "audio": "a sound",
    "frames": "frames",
    "thumbnail": "a small picture",
}
SMALL = 320
#: Thumbnails: the first page of a PDF, a frame from the middle of a video; the longer side has at most 320 pixels.
THUMBNAILS = {
    "image": Conversion("image", ("image/webp",), side=SMALL, max_count=1),
    "image/svg+xml": Conversion("image", ("image/webp",), side=SMALL),
    "application/pdf": Conversion("pages", ("image/webp",), side=SMALL, max_count=1),
    "video": Conversion("frames", ("image/jpeg",), side=SMALL, max_count=1),
}


def load_converter(media_type: str, conversion: str) -> Callable[..., dict[str, Any]]:
    """Import what a conversion needs; returns a function of `path` and `folder`.

    Raises `BadFile` if there is no such conversion of this type.
    """
    parsed = parse_conversion(conversion)
    if parsed.name == "thumbnail":
        parsed = THUMBNAILS.get(media_type) or THUMBNAILS.get(kind_of(media_type)) or parsed
    converter = CONVERTERS.get((parsed.name, media_type)) or CONVERTERS.get((parsed.name, kind_of(media_type)))
    if converter is None:
        raise BadFile(
            "", f"can't be made into {DESCRIPTIONS.get(parsed.name, parsed.name)}", "ask for another form of it"
        )
    module, function = converter
    convert = getattr(importlib.import_module(f"showandtell.media.convert.{module}"), function)
    checked = check_conversion(parsed)

    def run(path: str, folder: str) -> dict[str, Any]:
        return convert(path, media_type, checked, folder)

    return run


def load_package(function: str, becomes: str, conversion: str) -> Callable[..., dict[str, Any]]:
    """Import the converter of a package, and what a conversion of the type that it makes needs. Raises `BadFile`."""
    try:
        make: Callable[[str, str], object] = resolve_name(function)
    except MISTAKES as error:
        problem = f"can't be converted: {function} can't be imported: {type(error).__name__}: {error}"
        raise BadFile("", problem, "its converter has a mistake") from None
    parsed = check_conversion(parse_conversion(conversion))
    is_text = parsed.name == "text" and kind_of(becomes) == "text" and becomes != "text/html"
    convert = None if is_text or parsed.name == "whole" else load_converter(becomes, conversion)

    def run(path: str, folder: str) -> dict[str, Any]:
        made = Path(folder) / "made"
        write_made(make, path, made)
        if is_text:
            text = made.read_text("utf-8-sig", "replace")
            return {"text": text[:MAX_CHARACTERS], "cut": len(text) > MAX_CHARACTERS}
        if convert is None:
            if parsed.bytes is not None and made.stat().st_size > parsed.bytes:
                raise BadFile("", "became too large when it was converted", "ask for less of it")
            return {"files": [str(made)]}
        try:
            return convert(str(made), folder=folder)
        except BadFile as error:
            problem = f"can't be shown: the {becomes} that its converter made {error.problem}"
            raise BadFile("", problem, error.advice, passing=error.passing) from None

    return run


def write_made(make: Callable[[str, str], object], path: str, made: Path) -> None:
    """Let a converter write its file. Raises `BadFile` if it fails, or writes none."""
    try:
        make(path, str(made))
    except (BadFile, MemoryError):
        raise
    except MISTAKES as error:
        problem = f"can't be converted: {type(error).__name__}: {error}"
        raise BadFile("", problem, "check the file; if it is intact, its converter has a mistake") from None
    if not made.is_file() or not made.stat().st_size:
        raise BadFile("", "became nothing when it was converted", "its converter has to write its second argument")


def check_conversion(conversion: Conversion) -> Conversion:
    """Return the conversion; raises `BadFile` if one of its limits is below 1 or its crop is malformed."""
    bounds = (
        conversion.bytes,
        conversion.side,
        conversion.pixels,
        conversion.first_page,
        conversion.max_count,
        *(conversion.pages or ()),
    )
    if any(bound is not None and bound < 1 for bound in bounds):
        raise BadFile("", "can't be converted to less than one", "ask for at least one page, pixel or byte")
    if conversion.crop is not None and len(conversion.crop) != 4:
        raise BadFile("", "can't be cropped to that", "give left, top, right and bottom")
    return conversion
