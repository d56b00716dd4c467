"""Conversions, for the child only: a module for each kind of source, found by what a recipe makes of which type.

Each module has functions of one shape: (path, media type, recipe, folder) to the fields of the gate's `Made`, with
files written straight into that folder and nowhere else. They are imported when they are first needed.
"""

from __future__ import annotations

import importlib
from typing import Any

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.conversion import Conversion, read_recipe
from showandtell.errors import BadFile

#: What is made of a kind or of a type: the module, and its function. A type goes before its kind.
MAKERS: dict[tuple[str, str], tuple[str, str]] = {
    ("image", "image"): ("pictures", "make_pictures"),
    ("image", "image/svg+xml"): ("drawings", "make_picture"),
    ("pages", "application/pdf"): ("pages", "make_pages"),
    ("text", "application/pdf"): ("plain", "make_text"),
    ("text", "text/html"): ("office", "make_text"),
    ("text", "document"): ("office", "make_text"),
    ("text", "other"): ("office", "make_text"),
    ("audio", "audio"): ("sound", "make_audio"),
    ("audio", "video"): ("sound", "make_audio"),
    ("frames", "video"): ("film", "make_frames"),
    ("transcript", "audio"): ("speech", "make_transcript"),
    ("transcript", "video"): ("speech", "make_transcript"),
}
WHAT = {
    "image": "a picture",
    "pages": "pages",
    "text": "words",
    "audio": "a sound",
    "frames": "frames",
    "thumbnail": "a small picture",
}
SMALL = 320
#: What a thumbnail is: of a PDF its first page, of a film a frame from its middle, each at most 320 pixels long.
THUMBNAILS = {
    "image": Conversion("image", ("image/webp",), side=SMALL, most=1),
    "image/svg+xml": Conversion("image", ("image/webp",), side=SMALL),
    "application/pdf": Conversion("pages", ("image/webp",), side=SMALL, most=1),
    "video": Conversion("frames", ("image/jpeg",), side=SMALL, most=1),
}


def make(path: str, media_type: str, recipe: str, folder: str) -> dict[str, Any]:
    """Obey a recipe; raises `BadFile` where nothing here makes that of this type."""
    read = read_recipe(recipe)
    if read.name == "thumbnail":
        read = THUMBNAILS.get(media_type) or THUMBNAILS.get(kind_of(media_type)) or read
    found = MAKERS.get((read.name, media_type)) or MAKERS.get((read.name, kind_of(media_type)))
    if found is None:
        raise BadFile("", f"can't be made into {WHAT.get(read.name, read.name)}", "ask for another form of it")
    module, function = found
    maker = getattr(importlib.import_module(f"showandtell.media.convert.{module}"), function)
    return maker(path, media_type, check_recipe(read), folder)


def check_recipe(recipe: Conversion) -> Conversion:
    """The recipe, where none of its bounds is below 1; raises `BadFile`."""
    bounds = (recipe.bytes, recipe.side, recipe.pixels, recipe.first, recipe.most, *(recipe.only or ()))
    if any(bound is not None and bound < 1 for bound in bounds):
        raise BadFile("", "can't be converted to less than one", "ask for at least one page, pixel or byte")
    if recipe.crop is not None and len(recipe.crop) != 4:
        raise BadFile("", "can't be cropped to that", "give left, top, right and bottom")
    return recipe
