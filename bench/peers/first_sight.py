"""What others do to know that a file is whole: Pillow's `verify` or `load`, pypdf's pages, mutagen's seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rounds import answer_lines

WAY, PATH, TIMES = sys.argv[1], sys.argv[2], int(sys.argv[3])


def verify() -> None:
    from PIL import Image

    with Image.open(PATH) as image:
        image.verify()


def load() -> None:
    from PIL import Image

    with Image.open(PATH) as image:
        image.load()


def count_pages() -> None:
    from pypdf import PdfReader

    assert len(PdfReader(PATH).pages) > 0


def measure() -> None:
    from mutagen import File

    assert File(PATH).info.length > 0


WAYS: dict[str, tuple[str, Callable[[], None]]] = {
    "verify": ("pillow", verify),
    "load": ("pillow", load),
    "pypdf": ("pypdf", count_pages),
    "mutagen": ("mutagen", measure),
}
distribution, once = WAYS[WAY]


def work() -> None:
    for _ in range(TIMES):
        once()


answer_lines(distribution, work)
