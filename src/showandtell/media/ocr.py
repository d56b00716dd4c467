"""Words in pictures and in scanned pages by RapidOCR, for the OCR child only; an extra, loaded at first need."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from showandtell.media.documents import open_document, read_page
from showandtell.media.pictures import FORMATS, open_picture, turn_picture

try:
    from rapidocr import RapidOCR  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    RapidOCR = None

PAGES_READ = 3
DOTS_PER_INCH = 150
#: Recognition scales down to this anyway; a smaller copy keeps memory small.
SIDE_LIMIT = 2000


@functools.cache
def load_engine() -> Any:
    """Detection and recognition, without the turning of words upside down."""
    settings = {
        "Det.limit_side_len": 1280,
        "Det.limit_type": "max",
        "Global.use_cls": False,
        "Global.log_level": "critical",
        "EngineConfig.onnxruntime.intra_op_num_threads": 2,
    }
    return RapidOCR(params=settings) if RapidOCR else None


def read_words(path: str, media_type: str) -> str | None:
    """A line for each line of words, top to bottom; empty where there are none, None where nothing can read here."""
    if load_engine() is None or not (media_type in FORMATS or media_type == "application/pdf"):
        return None
    pictures = list_pages(path) if media_type == "application/pdf" else list_picture(path, media_type)
    return "\n".join(line for picture in pictures for line in read_picture(picture))


def read_picture(picture: Any) -> tuple[str, ...]:
    """The lines in one picture."""
    return load_engine()(picture).txts or ()


def list_picture(path: str, media_type: str) -> Iterator[Any]:
    """The picture as it is displayed, made smaller where it is large."""
    with open_picture(path, media_type) as image:
        image.thumbnail((SIDE_LIMIT, SIDE_LIMIT))
        yield turn_picture(image).convert("RGB")


def list_pages(path: str) -> Iterator[Any]:
    """Those of the first three pages that have no text layer, as pictures of 150 dots an inch or less."""
    with open_document(path) as document:
        for index in range(min(len(document), PAGES_READ)):
            if not read_page(document, index):
                page: Any = document[index]
                scale = min(DOTS_PER_INCH / 72, SIDE_LIMIT / max(*page.get_size(), 1))
                yield page.render(scale=scale).to_pil().convert("RGB")
