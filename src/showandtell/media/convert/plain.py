"""Words of PDFs, and of HTML where the office converter can't be had."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

from showandtell.errors import BadFile
from showandtell.media.documents import open_document, read_page
from showandtell.recipes import Recipe

#: The most characters that are given, and the most seconds that are read: what follows is cut.
TEXT_LIMIT = 200_000
SECONDS = 40.0


def make_text(path: str, _media_type: str, _recipe: Recipe, _folder: str) -> dict[str, Any]:
    """The text layer of a PDF, each page with words under a line "[page n]"; raises `BadFile` where none has any."""
    words: list[str] = []
    room, until = TEXT_LIMIT, time.monotonic() + SECONDS
    with open_document(path) as document:
        total, pages = len(document), list[int]()
        for index in range(total):
            page = read_page(document, index)
            if page:
                page = f"[page {index + 1}]\n{page}\n"
                words.append(page[:room])
                pages.append(index + 1)
                room -= len(page) + 1
            if room <= 0 or time.monotonic() > until:
                return {"text": "\n".join(words), "pages": pages, "total": total, "cut": room < 0 or index + 1 < total}
    if not words:
        raise BadFile("", "has no text layer", "look at its pages as pictures")
    return {"text": "\n".join(words), "pages": pages, "total": total}


def make_html(path: str, media_type: str, recipe: Recipe, folder: str) -> dict[str, Any]:
    """HTML as readable words; as it is written where that can't be made of it."""
    try:
        return importlib.import_module("showandtell.media.convert.office").make_text(path, media_type, recipe, folder)
    except (BadFile, ImportError):
        with Path(path).open(encoding="utf-8-sig", errors="replace") as stream:
            text = stream.read(TEXT_LIMIT + 1)
        return {"text": text[:TEXT_LIMIT], "cut": len(text) > TEXT_LIMIT}
