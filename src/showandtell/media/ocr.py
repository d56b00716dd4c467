"""Text in images and in scanned pages by RapidOCR, only in the OCR child. RapidOCR is an extra, loaded at first use."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from showandtell.media.documents import open_document, read_page
from showandtell.media.pictures import FORMATS, open_image, turn_image

try:
    from rapidocr import RapidOCR  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    RapidOCR = None

PAGES_READ = 3
DOTS_PER_INCH = 150
#: Recognition scales down to this anyway; a smaller copy saves memory.
SIDE_LIMIT = 2000


@functools.cache
def load_engine() -> Any:
    """Detection and recognition, without the step that turns upside-down text.

    Measured with a page of 30 lines: lines one by one take half the memory of six at once, whose shorter ones are
    filled up, and less time; detection at 960 pixels takes 100 MiB less than at 1280, and finds the same lines.
    """
    settings = {
        "Det.limit_side_len": 960,
        "Det.limit_type": "max",
        "Rec.rec_batch_num": 1,
        "Global.use_cls": False,
        "Global.log_level": "critical",
        "EngineConfig.onnxruntime.intra_op_num_threads": 2,
    }
    return RapidOCR(params=settings) if RapidOCR else None


def read_text(path: str, media_type: str) -> str | None:
    """The lines of text, top to bottom; empty if no text, None if OCR is not installed or the type has no decoder."""
    if load_engine() is None or not (media_type in FORMATS or media_type == "application/pdf"):
        return None
    images = list_pages(path) if media_type == "application/pdf" else list_image(path, media_type)
    return "\n".join(line for image in images for line in read_image(image))


def read_image(image: Any) -> tuple[str, ...]:
    """The lines of text in an image."""
    return load_engine()(image).txts or ()


def list_image(path: str, media_type: str) -> Iterator[Any]:
    """The image as it is displayed, scaled down if it is large."""
    with open_image(path, media_type) as image:
        image.thumbnail((SIDE_LIMIT, SIDE_LIMIT))
        yield turn_image(image).convert("RGB")


def list_pages(path: str) -> Iterator[Any]:
    """Those of the first three pages that have no text layer, as images of at most 150 dots per inch."""
    with open_document(path) as document:
        for index in range(min(len(document), PAGES_READ)):
            if not read_page(document, index):
                page: Any = document[index]
                scale = min(DOTS_PER_INCH / 72, SIDE_LIMIT / max(*page.get_size(), 1))
                yield page.render(scale=scale).to_pil().convert("RGB")
