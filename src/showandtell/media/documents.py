"""PDFs by pypdfium2, only in the child: opened without a password, read page by page."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it ships none
from pypdfium2 import raw as untyped  # pyright: ignore[reportMissingTypeStubs] - it ships none

from showandtell.errors import BadFile
from showandtell.media.refusals import torn_document

raw = cast("Any", untyped)

PDF = "application/pdf"
#: What a description reads.
PAGES_READ, TEXT_LIMIT = 20, 100_000
#: A page with one letter in a standard font.
SAMPLE = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources"
    b"<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj "
    b"4 0 obj<</Length 18>>stream\nBT/F 9 Tf(a)Tj ET\n\nendstream endobj trailer<</Root 1 0 R>>"
)


@functools.cache
def load_fonts() -> None:
    """Let PDFium find the system's fonts by drawing a page of our own, so that forks don't each look for them."""
    with contextlib.closing(pypdfium2.PdfDocument(SAMPLE)) as document:
        page: Any = document[0]
        page.render(scale=1).close()
        page.close()


@contextlib.contextmanager
def open_document(path: str) -> Generator[pypdfium2.PdfDocument]:
    """The document, at least one page long; raises `BadFile` if it is locked, empty or not a PDF."""
    # Not PdfDocument(path): for a document without pages it reports the error of an earlier call.
    handle = raw.FPDF_LoadDocument(path.encode("utf-8", "surrogateescape") + b"\0", None)
    if not handle:
        raise explain_failure(raw.FPDF_GetLastError())
    with contextlib.closing(pypdfium2.PdfDocument(handle)) as document:
        if len(document) < 1:
            raise BadFile("", "has no pages", "export it anew from the program that made it")
        yield document


def explain_failure(code: int) -> BadFile:
    """The error for one of PDFium's codes."""
    match code:
        case raw.FPDF_ERR_PASSWORD:
            return BadFile("", "is locked with a password", "save it without one")
        case raw.FPDF_ERR_SECURITY:
            return BadFile("", "is encrypted in a way that can't be read", "save it without encryption")
        case _:
            return torn_document("is torn")


def probe_document(path: str, media_type: str) -> dict[str, Any]:
    """The number of pages of a PDF; nothing of other documents."""
    return {"media_type": media_type} | ({"pages": count_pages(path)} if media_type == PDF else {})


def describe_document(path: str, media_type: str) -> dict[str, Any]:
    """Pages, and the text of the first twenty, at most 100,000 characters; nothing of documents other than PDFs."""
    if media_type != PDF:
        return {}
    with open_document(path) as document:
        texts = (read_page(document, index) for index in range(min(len(document), PAGES_READ)))
        return {"pages": len(document), "text": "\n\n".join(text for text in texts if text)[:TEXT_LIMIT]}


def count_pages(path: str) -> int:
    """The number of pages; the first must exist. Its content is not read: that may take forever."""
    with open_document(path) as document:
        try:
            cast("Any", document).get_page_size(0)
        except pypdfium2.PdfiumError:
            raise explain_failure(raw.FPDF_ERR_FORMAT) from None
        return len(document)


def read_page(document: pypdfium2.PdfDocument, index: int) -> str:
    """The text layer of a page; empty if it has no text layer or is broken."""
    try:
        with contextlib.closing(document[index]) as page, contextlib.closing(page.get_textpage()) as text_page:
            return cast("Any", text_page).get_text_bounded().replace("\r\n", "\n").strip()
    except pypdfium2.PdfiumError:
        return ""
