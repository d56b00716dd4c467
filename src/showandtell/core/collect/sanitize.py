"""Sanitizes drafts that weren't built by `collect`: base64 in their text becomes files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from showandtell.core.collect.base64_text import split_text
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import DraftPart, Text

#: A run of base64 that may be a file. No image is shorter.
RUN = re.compile(r"([A-Za-z0-9+/_-]{100,}={0,2})")

#: The end of the text before a run that belongs to a data URI. `split_text` reads data URIs as a whole.
DATA_URI = re.compile(r"base64\s{0,8},\s*\Z", re.IGNORECASE)


def clean(draft: Draft) -> Draft:
    """Sanitize the text parts of a draft as `collect` does: no base64, no lone surrogates.

    Arguments of calls and opaque items belong to the model and the provider, and stay as they are.
    """
    parts: list[DraftPart] = []
    for part in draft.parts:
        parts += clean_text(part) if isinstance(part, Text) else (part,)
    return dataclasses.replace(draft, parts=tuple(parts))


def clean_text(part: Text) -> Iterator[DraftPart]:
    """Split a text part into text and files: data URIs, and base64 whose signature is known."""
    text = ""
    for index, piece in enumerate(RUN.split(part.text)):
        parts = split_text(Text(piece, part.audience)) if index % 2 and not DATA_URI.search(text) else []
        if any(isinstance(item, File) for item in parts):
            yield from split_nonempty(Text(text, part.audience))
            yield from parts
            text = ""
        else:
            text += piece
    yield from split_nonempty(Text(text, part.audience))


def split_nonempty(part: Text) -> Iterator[Text | File]:
    """Like `split_text`, without empty text."""
    return (piece for piece in split_text(part) if isinstance(piece, File) or piece.text)
