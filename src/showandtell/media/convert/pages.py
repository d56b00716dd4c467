"""Pages of PDFs as pictures, drawn by PDFium at the size that is wanted, so that a zoom shows more."""

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

#: Pages that are shown where the recipe doesn't say, and at most.
MOST, CEILING = 5, 32
#: The longer side of a page where the recipe doesn't say, and at most.
SIDE, LARGEST = 1568, 4096
#: A part of a page is drawn at most so many times larger than the page.
ZOOM = 8.0


def make_pages(path: str, _media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """A file for each page. `crop` is in pixels of the page as it is shown without one; `scale` is 1, or the zoom."""
    with open_document(path) as document:
        with contextlib.suppress(pypdfium2.PdfiumError):
            cast("Any", document).init_forms()  # what was filled in is part of the page
        chosen = shapes.choose_pages(len(document), recipe, MOST, CEILING)
        files: dict[int, str] = {}
        scale = 1.0
        for number in chosen:
            with contextlib.suppress(pypdfium2.PdfiumError):  # one damaged page costs itself alone
                picture, whole = draw_page(document, number - 1, recipe)
                files[number], size = write_within(picture, recipe, folder, f"{number:06}")
                scale = shapes.compare(size, whole)
        if not files:
            raise BadFile("", f"has pages that can't be drawn ({', '.join(map(str, chosen))})", "save it anew")
        return {"files": list(files.values()), "scale": scale, "pages": list(files), "total": len(document)}


def draw_page(document: pypdfium2.PdfDocument, index: int, recipe: Conversion) -> tuple[Image.Image, Size]:
    """A page or a part of it, and the size that this has without a zoom."""
    page: Any = document[index]
    with contextlib.closing(page):
        width, height = page.get_size()
        scale = choose_scale(width, height, recipe)
        crop = shapes.clip_crop(recipe.crop, (ceil(width * scale), ceil(height * scale)))
        part = (crop[2] - crop[0], crop[3] - crop[1])
        zoom = min(ZOOM, choose_scale(*part, recipe)) if recipe.crop else 1.0
        margins = (crop[0], ceil(height * scale) - crop[3], ceil(width * scale) - crop[2], crop[1])
        bitmap = page.render(scale=scale * zoom, crop=tuple(margin / scale for margin in margins), rev_byteorder=True)
        with contextlib.closing(bitmap):
            return simplify(bitmap.to_pil()), part


def choose_scale(width: float, height: float, recipe: Conversion) -> float:
    """How many times larger something becomes; PDFium rounds sides up, so a hair less than what would be allowed."""
    scale = min(recipe.side or SIDE, LARGEST) / max(width, height)
    if recipe.pixels:
        # The greatest for which both sides, each one pixel longer, make no more than the pixels.
        sides = width + height
        root = (sides * sides + 4 * width * height * (recipe.pixels - 1)) ** 0.5
        scale = min(scale, max(root - sides, 1e-3) / (2 * width * height))
    return scale * (1 - 1e-6)


def simplify(picture: Image.Image) -> Image.Image:
    """A copy of its own, in greys where there is nothing else: text on paper is a third of the size then."""
    red, green, blue = picture.convert("RGB").split()
    greys = red.tobytes() == green.tobytes() == blue.tobytes()
    return red if greys else picture.convert("RGB")
