"""The text of PDFs, by their text layer."""

from __future__ import annotations

import time
from typing import Any

from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion
from showandtell.errors import BadFile
from showandtell.media.documents import open_document, read_page

#: Pages that are not read by then are cut off.
SECONDS = 40.0
#: After this many pages in a row without text, the rest is cut off: 0.1 s. Scanned books have none at all.
MAX_EMPTY_PAGES = 1000


def make_text(path: str, _media_type: str, _conversion: Conversion, _folder: str) -> dict[str, Any]:
    """The text layer of a PDF, each page with text under a line "[page n]".

    Raises `BadFile` if no page has text, or none of the first thousand.
    """
    texts: list[str] = []
    remaining, empty, deadline = MAX_CHARACTERS, 0, time.monotonic() + SECONDS
    with open_document(path) as document:
        total, seen, pages = len(document), 0, list[int]()
        for index in range(total):
            page, seen = read_page(document, index), index + 1
            empty = 0 if page else empty + 1
            if page:
                page = f"[page {index + 1}]\n{page}\n"
                texts.append(page[:remaining])
                pages.append(index + 1)
                remaining -= len(page) + 1
            if remaining <= 0 or empty >= MAX_EMPTY_PAGES or time.monotonic() > deadline:
                break
    if not texts:
        raise BadFile("", "has no text layer", "look at its pages as pictures")
    cut = remaining < 0 or seen < total
    return {"text": "\n".join(texts), "pages": pages, "total": total, "cut": cut}
