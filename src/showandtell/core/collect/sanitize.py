"""Words as they may be stored: files that are written out among them, as base64, become files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from showandtell.core.collect.values import collect
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft
from showandtell.core.messages.parts import Claimed, Text

#: What may be a file that is written out as base64 among words: no shorter one is a picture.
RUN = re.compile(r"([A-Za-z0-9+/_-]{100,}={0,2})")

#: The words right before a run that is the data of a data URI, which `collect` reads whole.
DATA_URI = re.compile(r"base64\s{0,8},\s*\Z", re.IGNORECASE)


def clean(draft: Draft) -> Draft:
    """A draft that didn't come from `collect`, its words read as that reads them: no base64, no lone surrogate.

    The arguments of calls and opaque items are the model's and the provider's own: they stay as they are.
    """
    parts: list[Claimed] = []
    for part in draft.parts:
        parts += read_words(part) if isinstance(part, Text) else (part,)
    return dataclasses.replace(draft, parts=tuple(parts))


def read_words(part: Text) -> Iterator[Claimed]:
    """Words, and the files that are written out among them, as data URIs or as base64 that proves what it is."""
    words = ""
    for place, piece in enumerate(RUN.split(part.text)):
        found = collect(Text(piece, part.audience)) if place % 2 and not DATA_URI.search(words) else ()
        if any(isinstance(one, File) for one in found):
            yield from collect(Text(words, part.audience))
            yield from found
            words = ""
        else:
            words += piece
    yield from collect(Text(words, part.audience))
