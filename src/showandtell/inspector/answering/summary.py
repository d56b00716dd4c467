"""The words for people in an answer: an introduction, sentences on files and results, and exact facts behind a fold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from showandtell.core.display.words import fenced
from showandtell.inspector.answering.pieces import count_pieces
from showandtell.inspector.answering.references import read_title
from showandtell.inspector.answering.report import FileReport
from showandtell.inspector.answering.words import InlinedFile, has_failed, result_text
from showandtell.inspector.request import RequestTurn, Result, TextPart

WHO = "I am the inspector, not a language model: I read what I am sent, run tools, and say what I saw."
INTRODUCTION = f"{WHO} Connect the key of a provider to talk to a real model."
#: The same for somebody who has a key.
WITH_KEYS = f"{WHO} Choose another model to talk to a real one."
#: The language of the fenced block with exact facts. The page folds it.
DETAILS = "details"
#: Maximum number of sentences about files, results and notes; the rest is in the details.
MAX_SENTENCES = 12
#: Maximum characters of a file's text, a tool's text and a name in a sentence.
MAX_TEXT, MAX_RESULT, MAX_NAME = 80, 240, 80
#: The pages of a document in the title of pictures of them.
PAGES = re.compile(r", (pages? \d+(?:(?:, | to )\d+)*)(?:(?: of \d+)? as pictures?\b|$)")
TIMES = "\N{MULTIPLICATION SIGN}"
#: Shares of an image: a colour that is all of it, and one that is named.
ALL, NAMED = 0.95, 0.2


def is_introduced(turns: Sequence[RequestTurn]) -> bool:
    """Whether an earlier answer begins with the introduction, or with as much of it as `max_tokens` let through."""
    texts = (
        part.text.strip()
        for turn in turns
        if turn.role == "assistant"
        for part in turn.parts
        if isinstance(part, TextPart)
    )
    whole = (INTRODUCTION, WITH_KEYS)
    return any(text and (text.startswith(WHO) or any(one.startswith(text) for one in whole)) for text in texts)


def fold(facts: str) -> str:
    """Facts in a block that the page folds. Empty without facts."""
    return fenced(facts, DETAILS)


def join_sentences(sentences: Sequence[str]) -> str:
    """A paragraph for each sentence, at most `MAX_SENTENCES`."""
    more = len(sentences) - MAX_SENTENCES
    shown = [*sentences[:MAX_SENTENCES], *([f"{more:,} more: see the details."] if more > 0 else [])]
    return "\n\n".join(shown)


def summarize_file(title: str, reports: Sequence[FileReport]) -> str:
    """A sentence about a file from the reports of its pieces. `title` is its label, such as in `short_title`."""
    return _end(f"{title}: {', '.join(_list_facts(reports))}")


def short_title(title: str, index: int, *, with_pages: bool = True) -> str:
    """The title of a report in few words: `Image 1, photo.png`, `Document 2, guide.pdf, page 3`."""
    known = next(read_title(title), None)
    if known is None:
        return f"File {index}" if title.startswith(f"file {index}") else f"File {index}, {_shorten(title, MAX_NAME)}"
    pages = PAGES.search(title) if with_pages else None
    return name_file(known.label, known.name) + (f", {pages[1]}" if pages else "")


def name_file(label: str, name: str) -> str:
    """A label and a name as the beginning of a sentence."""
    return f"{label.capitalize()}, {_shorten(name, MAX_NAME)}" if name else label.capitalize()


def summarize_inlined(file: InlinedFile, index: int) -> str:
    """A sentence about a file that came as text."""
    characters = "1 character" if len(file.text) == 1 else f"{len(file.text):,} characters"
    return _end(f"{short_title(file.title, index)}, as text: {characters}, {_quote(file.text, MAX_TEXT)}")


def summarize_result(result: Result, tool: str) -> str:
    """A sentence about the text or the error of a tool. Empty without text."""
    text = result_text(result)
    if has_failed(result):
        return _end(f"The tool {tool} failed{f': {_quote(text, MAX_RESULT)}' if text else ''}")
    return _end(f"The tool {tool} returned {_quote(text, MAX_RESULT)}") if text else ""


def summarize_note(note: str) -> str:
    """The label of a file that was not sent, as a sentence."""
    text = " ".join(note.split())
    return _end(text[:1].upper() + text[1:])


def _list_facts(reports: Sequence[FileReport]) -> Iterator[str]:
    """What a sentence says about a file: its size, main colours and text, or the problem."""
    types = [report.media_type for report in reports]
    if len(reports) > 1:
        yield count_pieces(types)
    if problem := next((report.problem for report in reports if report.problem), ""):
        yield problem
        return
    each = " each" if len(reports) > 1 else ""
    measures = [f"{size}{each}" for size in dict.fromkeys(_measure(report) for report in reports) if size]
    yield from measures if len(measures) == 1 or not each else []
    colours = {_name_colours(report.facts.get("colours")) for report in reports}
    yield from colours - {""} if len(colours) == 1 else []
    text = " ".join(report.text for report in reports if report.text.strip())
    unread = {report.unread for report in reports if report.unread}
    if text:
        yield f"with the text {_quote(text, MAX_TEXT)}"
    elif unread and not any("ask what it says" in reason for reason in unread):
        yield unread.pop()


def _measure(report: FileReport) -> str:
    """Pixels, pages or seconds; the media type and the size in bytes if there are none."""
    match report.facts:
        case {"pixels": [int(width), int(height)]}:
            return f"{width} {TIMES} {height} pixels"
        case {"pages": int(pages)}:
            return f"{pages:,} page{'' if pages == 1 else 's'}"
        case {"seconds": int() | float() as seconds}:
            return f"{seconds:g} second{'' if seconds == 1 else 's'}"
        case _:
            return f"{report.media_type}, {report.size:,} bytes"


def _name_colours(colours: Any) -> str:
    """The colours that cover most of an image: at most two."""
    pairs = msgspec.convert(colours or [], list[tuple[str, float]])
    if pairs and pairs[0][1] >= ALL:
        return f"all {pairs[0][0]}"
    named = [word for word, share in pairs if share >= NAMED][:2]
    return f"mostly {' and '.join(named)}" if named else ""


def _quote(text: str, limit: int) -> str:
    return f"“{_shorten(text, limit)}”"


def _shorten(text: str, limit: int) -> str:
    """The text on one line, truncated."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit].rstrip()}…"


def _end(sentence: str) -> str:
    """The sentence with a full stop, unless it has an end, perhaps before a quotation mark."""
    return sentence if re.search(r"[.!?…][”\"]?$", sentence) else f"{sentence}."
