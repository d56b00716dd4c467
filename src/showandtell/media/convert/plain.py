"""Words of PDFs, by their text layer."""

from __future__ import annotations

import time
from typing import Any

from showandtell.core.messages.conversion import MOST_CHARACTERS, Conversion
from showandtell.errors import BadFile
from showandtell.media.documents import open_document, read_page

#: What is not read by then is cut.
SECONDS = 40.0


def make_text(path: str, _media_type: str, _recipe: Conversion, _folder: str) -> dict[str, Any]:
    """The text layer of a PDF, each page with words under a line "[page n]"; raises `BadFile` where none has any."""
    words: list[str] = []
    room, until = MOST_CHARACTERS, time.monotonic() + SECONDS
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
