"""The text of PDFs, by their text layer."""

from __future__ import annotations

import time
from typing import Any

from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion
from showandtell.errors import BadFile
from showandtell.media.documents import open_document, read_page

#: Pages that are not read by then are cut off.
SECONDS = 40.0


def make_text(path: str, _media_type: str, _conversion: Conversion, _folder: str) -> dict[str, Any]:
    """The text layer of a PDF, each page with text under a line "[page n]"; raises `BadFile` if no page has text."""
    texts: list[str] = []
    remaining, deadline = MAX_CHARACTERS, time.monotonic() + SECONDS
    with open_document(path) as document:
        total, pages = len(document), list[int]()
        for index in range(total):
            page = read_page(document, index)
            if page:
                page = f"[page {index + 1}]\n{page}\n"
                texts.append(page[:remaining])
                pages.append(index + 1)
                remaining -= len(page) + 1
            if remaining <= 0 or time.monotonic() > deadline:
                return {
                    "text": "\n".join(texts),
                    "pages": pages,
                    "total": total,
                    "cut": remaining < 0 or index + 1 < total,
                }
    if not texts:
        raise BadFile("", "has no text layer", "look at its pages as pictures")
    return {"text": "\n".join(texts), "pages": pages, "total": total}
