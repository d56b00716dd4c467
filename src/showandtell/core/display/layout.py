"""What is displayed of a value: blocks of text, pictures and lists, within limits.

All texts are untrusted. Whatever formats a block escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.display.words import plain, short

#: Characters of one text, and of all texts.
MAX_TEXT = 4_000
MAX_TOTAL = 20_000
MAX_ROWS = 50
MAX_BLOCKS = 200
#: Pictures that are loaded, and bytes of one and of all.
MAX_PICTURES = 12
MAX_PICTURE_BYTES = 200_000
MAX_TOTAL_BYTES = 1_000_000


class Words(Struct, frozen=True):
    """A text below a heading, such as the role of a message."""

    heading: str
    text: str = ""


class Picture(Struct, frozen=True):
    """A file: its label and name. `load` returns the media type and bytes of an image of it, both empty without one."""

    caption: str
    load: Callable[[], tuple[str, bytes]] = lambda: ("", b"")


class Rows(Struct, frozen=True):
    """A list of lines below a title, such as receipts."""

    title: str
    rows: tuple[str, ...]


Block: TypeAlias = Words | Picture | Rows


def limit(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks within the limits of their texts. What is left out is named."""
    characters = MAX_TOTAL
    for count, block in enumerate(blocks):
        if count == MAX_BLOCKS or characters <= 0:
            yield Words("…", "the rest is not shown")
            return
        match block:
            case Words(heading, text):
                shown = cut(plain(text), min(MAX_TEXT, characters))
                characters -= len(shown)
                yield Words(short(heading), shown)
            case Picture(caption):
                yield replace(block, caption=short(caption))
                characters -= len(caption)
            case Rows(title, rows):
                more = (f"… and {len(rows) - MAX_ROWS} more",) if len(rows) > MAX_ROWS else ()
                yield Rows(short(title), (*map(short, rows[:MAX_ROWS]), *more))
                characters -= sum(map(len, rows[:MAX_ROWS]))


def cut(text: str, length: int) -> str:
    """A text of at most `length` characters, with a note if it was longer."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"
