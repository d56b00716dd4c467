"""Pages of PDFs as images, drawn by PDFium at the requested size, so that a zoom shows more detail."""

from __future__ import annotations

import contextlib
from math import ceil
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it ships none
from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert import shapes
from showandtell.media.convert.shapes import Size
from showandtell.media.convert.writing import write_within
from showandtell.media.documents import open_document

#: Number of pages if the conversion doesn't say, and at most.
DEFAULT_PAGES, MAX_PAGES = 5, 32
#: The longer side of a page if the conversion doesn't say, and at most.
DEFAULT_SIDE, MAX_SIDE = 1568, 4096
#: Maximum scale of a crop, compared with the page.
MAX_ZOOM = 8.0


def make_pages(path: str, _media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """A file for each page. `crop` is in pixels of the page without a crop; `scale` is 1, or the zoom."""
    with open_document(path) as document:
        with contextlib.suppress(pypdfium2.PdfiumError):
            cast("Any", document).init_forms()  # form fields are part of the page
        chosen = shapes.choose_pages(len(document), conversion, DEFAULT_PAGES, MAX_PAGES)
        files: dict[int, str] = {}
        scale = 1.0
        for number in chosen:
            with contextlib.suppress(pypdfium2.PdfiumError):  # a damaged page is skipped
                image, original = draw_page(document, number - 1, conversion)
                files[number], size = write_within(image, conversion, folder, f"{number:06}")
                scale = shapes.compare(size, original)
        if not files:
            raise BadFile("", f"has pages that can't be drawn ({', '.join(map(str, chosen))})", "save it anew")
        return {"files": list(files.values()), "scale": scale, "pages": list(files), "total": len(document)}


def draw_page(document: pypdfium2.PdfDocument, index: int, conversion: Conversion) -> tuple[Image.Image, Size]:
    """A page or a part of it, and its size without a zoom."""
    page: Any = document[index]
    with contextlib.closing(page):
        width, height = page.get_size()
        scale = choose_scale(width, height, conversion)
        crop = shapes.clip_crop(conversion.crop, (ceil(width * scale), ceil(height * scale)))
        part = (crop[2] - crop[0], crop[3] - crop[1])
        zoom = min(MAX_ZOOM, choose_scale(*part, conversion)) if conversion.crop else 1.0
        margins = (crop[0], ceil(height * scale) - crop[3], ceil(width * scale) - crop[2], crop[1])
        bitmap = page.render(scale=scale * zoom, crop=tuple(margin / scale for margin in margins), rev_byteorder=True)
        with contextlib.closing(bitmap):
            return simplify(bitmap.to_pil()), part


def choose_scale(width: float, height: float, conversion: Conversion) -> float:
    """The scale for a page or a part of it, slightly below the limit, because PDFium rounds sides up."""
    scale = min(conversion.side or DEFAULT_SIDE, MAX_SIDE) / max(width, height)
    if conversion.pixels:
        # The largest for which both sides, each one pixel longer, stay within the pixels.
        sides = width + height
        root = (sides * sides + 4 * width * height * (conversion.pixels - 1)) ** 0.5
        scale = min(scale, max(root - sides, 1e-3) / (2 * width * height))
    return scale * (1 - 1e-6)


def simplify(image: Image.Image) -> Image.Image:
    """A copy, in greyscale if it has no colours: text on paper then takes a third of the bytes."""
    red, green, blue = image.convert("RGB").split()
    greys = red.tobytes() == green.tobytes() == blue.tobytes()
    return red if greys else image.convert("RGB")
