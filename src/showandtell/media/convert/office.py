"""Converts office files and web pages to text, only in the child. Nothing that they refer to is opened.

Tables, headings, lists and notes are preserved; an image becomes a mark, without its bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.extras import missing
from showandtell.media.convert.markup import write_markdown
from showandtell.media.convert.sheets import SPREADSHEET, write_sheets
from showandtell.media.convert.slides import write_slides
from showandtell.media.convert.zipped import SAVE_AGAIN, Shortener, copy_markup, open_archive

try:
    import mammoth as untyped_mammoth  # pyright: ignore[reportMissingTypeStubs] - it ships none
    from mammoth import html as untyped_elements  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    untyped_mammoth = untyped_elements = None

mammoth: Any = untyped_mammoth
elements: Any = untyped_elements

#: Maximum characters of a page to parse; most of a large page are scripts.
PAGE_LIMIT = 16_000_000
#: Measured: 140,000 take 3 to 5 s and 180 MiB; 200,000 characters of running text have half as many.
MAX_ELEMENTS = 150_000
OPENXML = "application/vnd.openxmlformats-officedocument."
WORKBOOKS = {OPENXML + "spreadsheetml.sheet", "application/vnd.ms-excel", SPREADSHEET}
#: Types that can't be read, and the format to save them in.
UNREADABLE = {
    "application/msword": ".docx",
    "application/vnd.ms-powerpoint": ".pptx",
    "application/vnd.oasis.opendocument.text": ".docx",
    "application/vnd.oasis.opendocument.presentation": ".pptx",
    "application/epub+zip": "HTML or PDF",
}


def make_text(path: str, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """The text of a file, mostly Markdown, at most 200,000 characters; `cut` is True if the end is missing.

    Takes docx, xlsx, xls, ods, pptx and HTML. Raises `BadFile` if it is torn, locked, hostile, or none of these.
    """
    del conversion, folder
    try:
        text, cut = write_text(path, media_type)
    except RecursionError:
        raise BadFile("", "is nested too deeply to be read", SAVE_AGAIN) from None
    except (BadFile, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - these libraries raise anything, such as KeyError for a missing part
        raise BadFile("", f"can't be read ({type(error).__name__}: {error})"[:200], SAVE_AGAIN) from None
    if not text.strip():
        raise BadFile("", "has no text", "look at it as a PDF or as pictures")
    return {"text": text[:MAX_CHARACTERS], "cut": cut or len(text) > MAX_CHARACTERS}


def write_text(path: str, media_type: str) -> tuple[str, bool]:
    """The text, and whether its end is missing."""
    if media_type in UNREADABLE:
        raise BadFile("", "is in a format that can't be read here", f"save it as {UNREADABLE[media_type]}")
    if media_type in WORKBOOKS:
        return write_sheets(path, media_type, MAX_CHARACTERS)
    if media_type == OPENXML + "presentationml.presentation":
        return write_slides(path, MAX_CHARACTERS)
    if media_type == OPENXML + "wordprocessingml.document":
        return write_document(path)
    if media_type == "text/html":
        return write_page(path)
    raise BadFile("", f"has no text that can be read here ({media_type})", "save it as PDF or as plain text")


def write_document(path: str) -> tuple[str, bool]:
    """A .docx as Markdown; without its comments and headers."""
    if mammoth is None:
        raise missing("office")
    shortener = Shortener(MAX_ELEMENTS)
    with open_archive(path) as archive:
        copy = copy_markup(archive, shortener.shorten)
    result = mammoth.convert_to_html(copy, convert_image=mark_image, external_file_access=False)
    text, cut = write_markdown(result.value)
    return text, cut or shortener.cut


def mark_image(image: Any) -> list[Any]:
    """The mark for an embedded image, with its alt text; its bytes are not read."""
    alt = " ".join((image.alt_text or "").split())
    return [elements.text(f"[image: {alt}]" if alt else "[image]")]


def write_page(path: str) -> tuple[str, bool]:
    """A web page as Markdown; unchanged if the extra is not installed."""
    with Path(path).open(encoding="utf-8-sig", errors="replace") as stream:
        page = stream.read(PAGE_LIMIT + 1)
    try:
        text, cut = write_markdown(page[:PAGE_LIMIT])
    except BadFile as error:
        if not error.passing:
            raise
        text, cut = page, False
    return text, cut or len(page) > PAGE_LIMIT
