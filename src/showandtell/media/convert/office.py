"""Converts office files and web pages to text, only in the child. Nothing that they refer to is opened.

Tables, headings, lists and notes are preserved; an image becomes a mark, without its bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from showandtell.core.media_types.converters import UNREADABLE
from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.markup import write_markdown
from showandtell.media.convert.sheets import SPREADSHEET, write_sheets
from showandtell.media.convert.slides import write_slides
from showandtell.media.convert.word import write_document
from showandtell.media.convert.zipped import SAVE_AGAIN
from showandtell.media.encodings import read_start
from showandtell.media.refusals import TOO_DEEP, explain_damage

#: Maximum characters of a page to parse; most of a large page are scripts.
PAGE_LIMIT = 16_000_000
OPENXML = "application/vnd.openxmlformats-officedocument."
MACROS = ".macroenabled.12"
WORKBOOKS = {
    OPENXML + "spreadsheetml.sheet",
    OPENXML + "spreadsheetml.template",
    f"application/vnd.ms-excel.sheet{MACROS}",
    f"application/vnd.ms-excel.template{MACROS}",
    "application/vnd.ms-excel",
    SPREADSHEET,
}
SLIDES = {
    *(OPENXML + f"presentationml.{form}" for form in ("presentation", "slideshow", "template")),
    *(f"application/vnd.ms-powerpoint.{form}{MACROS}" for form in ("presentation", "slideshow", "template")),
}
DOCUMENTS = {
    *(OPENXML + f"wordprocessingml.{form}" for form in ("document", "template")),
    *(f"application/vnd.ms-word.{form}{MACROS}" for form in ("document", "template")),
}


def make_text(path: str, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """The text of a file, mostly Markdown, at most 200,000 characters; `cut` is True if the end is missing.

    Takes docx, xlsx, xls, ods, pptx and HTML. Raises `BadFile` if it is torn, locked, hostile, or none of these.
    """
    del folder
    try:
        text, cut = write_text(path, media_type, conversion.encoding)
    except RecursionError:
        raise BadFile("", TOO_DEEP, SAVE_AGAIN) from None
    except (BadFile, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - these libraries raise anything, such as KeyError for a missing part
        raise BadFile("", f"can't be read: {explain_damage(error)}", SAVE_AGAIN) from None
    if not text.strip():
        raise BadFile("", "has no text", "check that it isn't empty; if it isn't, save it as PDF")
    if not text.replace("[image]", "").strip():
        raise BadFile("", "has only pictures and no words", "save it as PDF, so that its pages can be shown")
    return {"text": text[:MAX_CHARACTERS], "cut": cut or len(text) > MAX_CHARACTERS}


def write_text(path: str, media_type: str, encoding: str | None = None) -> tuple[str, bool]:
    """The text, and whether its end is missing. `encoding` is that of a web page that isn't UTF-8."""
    if media_type in UNREADABLE:
        raise BadFile("", "is in a format that can't be read here", f"save it as {UNREADABLE[media_type]}")
    if media_type in WORKBOOKS:
        return write_sheets(path, media_type, MAX_CHARACTERS)
    if media_type in SLIDES:
        return write_slides(path, MAX_CHARACTERS)
    if media_type in DOCUMENTS:
        return write_document(path)
    if media_type == "text/html":
        return write_page(path, encoding)
    raise BadFile("", f"is of a type that can't be read here ({media_type})", "save it as PDF or as plain text")


def write_page(path: str, encoding: str | None) -> tuple[str, bool]:
    """A web page as Markdown; unchanged if the extra is not installed."""
    with Path(path).open("rb") as stream:
        page = read_start(stream, encoding, PAGE_LIMIT + 1)
    try:
        text, cut = write_markdown(page[:PAGE_LIMIT])
    except BadFile as error:
        if not error.passing:
            raise
        text, cut = page, False
    return text, cut or len(page) > PAGE_LIMIT
