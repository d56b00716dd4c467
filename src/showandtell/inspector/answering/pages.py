"""Go through a document page by page: one call of a tool that shows pages for each page, one a step."""

from __future__ import annotations

import re
from typing import Any

from showandtell.inspector.answering.arguments import items_of, json_types, properties, required
from showandtell.inspector.answering.context import AnswerContext, Examine
from showandtell.inspector.answering.references import KnownFile, read_title
from showandtell.inspector.answering.words import title_of
from showandtell.inspector.request import Call, OfferedTool, files_of

PAGE_BY_PAGE = re.compile(r"\bpage by page\b|\b(?:each|every) page\b", re.IGNORECASE)
#: Maximum number of pages that are shown.
MAX_PAGES = 10


def show_next_page(context: AnswerContext, examine: Examine) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
    """The call for the next page of a document, with a text. None if no page is left, or the user asks for none."""
    tool = next(filter(shows_pages, context.tools), None)
    document = _choose_document(context)
    if tool is None or document is None or not PAGE_BY_PAGE.search(context.text):
        return None
    count = min(_count_pages(document.number, context, examine), MAX_PAGES)
    page = sum(isinstance(part, Call) and part.tool == tool.name for turn in context.current for part in turn.parts) + 1
    number = required(tool)[0]
    arguments = {number: document.number, "pages": [page]}
    return (f"Page {page} of {count}:", [(tool.name, arguments)]) if page <= count else None


def shows_pages(tool: OfferedTool) -> bool:
    """Whether a tool takes the number of a file and a list of page numbers."""
    known, needed = properties(tool), required(tool)
    return (
        len(needed) == 1
        and json_types(known[needed[0]]) == {"integer"}
        and "array" in json_types(known.get("pages", {}))
        and json_types(items_of(known["pages"])) == {"integer"}
    )


def _choose_document(context: AnswerContext) -> KnownFile | None:
    """The document that the user means: one that the text names, else the newest."""
    candidates = context.mentioned.files or tuple(reversed(context.files))
    return next((file for file in candidates if file.kind == "document" and file.pieces), None)


def _count_pages(number: int, context: AnswerContext, examine: Examine) -> int:
    """The number of pages, from where the document itself came rather than its pages. 0 if it never did."""
    for file in (file for turn in context.request.turns for file in files_of(turn)):
        if any(known.number == number for known in read_title(title_of(file, number))):
            pages = examine(file, number, read=False).facts.get("pages")
            if isinstance(pages, int):
                return pages
    return 0
