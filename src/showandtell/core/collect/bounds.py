"""Bounds the text of a tool's result: a long one becomes its start, its end, and a file with all of it.

What is left out is one range of the joined text, so text, files and their order stay as they are on both sides of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

import msgspec

from showandtell.core.messages.file import EncodedText, File, Reader
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import DraftPart, Json, Text

Words: TypeAlias = Text | Json

#: A cut may be this share earlier (of the start) or later (of the end) to be at the end of a line or a word.
SLACK = 8
#: JSON that would grow by more than this when it is written in lines stays as it is.
MAX_GROWTH = 2
#: Maximum length of a JSON pointer in text. Keys may have any length.
MAX_POINTER = 200
#: Variation selectors, skin tones and the joiner of emoji belong to the character before them.
JOINER = "\u200d"
JOINED = frozenset({JOINER, "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))})


def for_model(part: DraftPart) -> TypeGuard[Words]:
    """Whether a part is text that the model gets."""
    return isinstance(part, Json) or (isinstance(part, Text) and part.audience != "user")


def for_user(part: DraftPart) -> TypeGuard[Words]:
    """Whether a part is text for the user alone."""
    return isinstance(part, Text) and part.audience == "user"


def count_characters(draft: Draft, is_read: Callable[[DraftPart], TypeGuard[Words]] = for_model) -> int:
    """The number of characters of text and JSON together."""
    return sum(len(part.text) for part in draft.parts if is_read(part))


def bound_text(draft: Draft, limit: int) -> Draft:
    """The draft of a result with at most `limit` characters of text and JSON, and a line that says what is left out.

    Text for the user alone is bounded in the same way, apart from the rest.
    """
    for is_read in (for_model, for_user):
        if count_characters(draft, is_read) > limit:
            draft = replace(draft, parts=tuple(bound_parts(draft, is_read, limit)))
    return draft


def bound_parts(draft: Draft, is_read: Callable[[DraftPart], TypeGuard[Words]], limit: int) -> Iterator[DraftPart]:
    """The parts with the start and the end of the text; in between a line, and the file with all of it."""
    words = [part for part in draft.parts if is_read(part)]
    texts = [in_lines(part.text) if isinstance(part, Json) else part.text for part in words]
    whole = "\n".join(texts)
    start, end = find_cuts(whole, limit)
    remaining, last, is_cut = iter(texts), -1, False
    for part in draft.parts:
        if not is_read(part):
            yield part
            continue
        first = last + 1
        last = first + len(next(remaining))
        if last > start and not is_cut:
            is_cut = True
            yield from slice_of(part, whole[first:start] if first < start else "")
            yield from describe_omission(draft.tool, words, whole, end - start)
        if last <= start or first >= end:
            yield part
            continue
        yield from slice_of(part, whole[max(first, end) : last])
        if isinstance(part, Json):
            for pointer, file in part.files:
                yield from (Text(f"{pointer[:MAX_POINTER]}:"), file)


def slice_of(part: Words, text: str) -> Iterator[Text]:
    """A piece of a part's text, for the same audience; nothing if it is empty."""
    if text:
        yield Text(text, part.audience if isinstance(part, Text) else "both")


def describe_omission(tool: str | None, words: Sequence[Words], whole: str, omitted: int) -> Iterator[DraftPart]:
    """The line that says how much is left out, and the file with all of it."""
    audiences = {part.audience if isinstance(part, Text) else "both" for part in words}
    audience = "both" if audiences == {"both"} else "user" if audiences == {"user"} else "assistant"
    is_json = len(words) == 1 and isinstance(words[0], Json)
    media_type, suffix = ("application/json", "json") if is_json else ("text/plain", "txt")
    data, name = whole.encode(), f"{tool or 'result'}.{suffix}"
    yield Text(f"[{omitted:,} of {len(whole):,} characters are left out here; {name} has all of them]", audience)
    source = Reader(EncodedText(data), len(data))
    yield File(source, media_type, name, audience=audience, in_context=False)


def in_lines(json: str) -> str:
    """JSON with a line for each value, so that it can be cut and read; unchanged if it would grow too much."""
    lines = msgspec.json.format(json, indent=1)
    return lines if len(lines) <= MAX_GROWTH * len(json) else json


def find_cuts(text: str, limit: int) -> tuple[int, int]:
    """The range to leave out so that at most `limit` characters remain: between lines or words, if any are near."""
    head = limit // 2
    return last_break(text, head), first_break(text, len(text) - (limit - head))


def last_break(text: str, at: int) -> int:
    """The last position up to `at` where a line or a word begins; else `at`, or the start of the character there."""
    low = at - at // SLACK
    for separator in ("\n", " "):
        found = text.rfind(separator, low, at)
        if found >= 0:
            return found + 1
    cut = at
    while cut > low and is_joined(text, cut):
        cut -= 1
    return cut if cut > low else at


def first_break(text: str, at: int) -> int:
    """The first position from `at` on where a line or a word begins; else `at`, or the end of the character there."""
    high = at + (len(text) - at) // SLACK
    for separator in ("\n", " "):
        found = text.find(separator, at - 1, high)
        if found >= 0:
            return found + 1
    cut = at
    while cut < high and is_joined(text, cut):
        cut += 1
    return cut if cut < high else at


def is_joined(text: str, at: int) -> bool:
    """Whether the code point at a position belongs to the character before it."""
    before, here = text[at - 1], text[at]
    return here in JOINED or before == JOINER or (before, here) == ("\r", "\n") or bool(unicodedata.combining(here))
