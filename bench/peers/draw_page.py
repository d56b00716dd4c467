"""Pages of a PDF as WebP of at most 1568 pixels, one for each round, by the library that is named, without a server."""

from __future__ import annotations

import io
import sys
from itertools import cycle
from typing import Any

from PIL import Image
from rounds import answer_lines

LIBRARY, PATH, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SIDE = 1568
numbers = cycle(range(COUNT))


def by_pypdfium2(number: int) -> Image.Image:
    import pypdfium2

    with pypdfium2.PdfDocument(PATH) as document:
        page = document[number]
        return page.render(scale=SIDE / max(page.get_size())).to_pil()


def by_pymupdf(number: int) -> Image.Image:
    import pymupdf

    with pymupdf.open(PATH) as document:
        page: Any = document[number]
        scale = SIDE / max(page.rect.width, page.rect.height)
        drawn = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale))
        return Image.frombytes("RGB", (drawn.width, drawn.height), drawn.samples)


def work() -> None:
    drawn = {"pypdfium2": by_pypdfium2, "pymupdf": by_pymupdf}[LIBRARY](next(numbers))
    buffer = io.BytesIO()
    drawn.save(buffer, "WEBP")
    assert len(buffer.getvalue()) > 1000


answer_lines(LIBRARY, work)
