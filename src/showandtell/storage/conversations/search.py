"""Which conversations hold some words: the database picks records that may, and what was really said decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
from sqlalchemy import Select, bindparam, select

from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Text
from showandtell.storage.conversations.access import check_id, check_user
from showandtell.storage.conversations.store import OLDER, SELECT_NEWEST
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import decode_in_thread, read_all, read_messages
from showandtell.storage.database.tables import conversations, messages

#: So many words are looked for, and so many letters of each.
MOST_WORDS, MOST_LETTERS = 8, 100
#: What makes a sign of a pattern an ordinary letter.
ESCAPE = "!"


class Words:
    """What somebody looks for: `each` word once, in lower case, and a pattern for each that finds records with it."""

    def __init__(self, text: str) -> None:
        words = dict.fromkeys(word.lower()[:MOST_LETTERS] for word in text.split())
        self.each = tuple(words)[:MOST_WORDS]
        self.patterns = tuple(map(pattern, self.each))

    def are_in(self, text: str) -> bool:
        """Whether all of them stand in a text."""
        lower = text.lower()
        return all(word in lower for word in self.each)


def pattern(word: str) -> str:
    """A pattern for LIKE, which fits every record with this word, and perhaps others.

    A letter beyond ASCII that has two cases may be anything: SQLite doesn't know which belong together.
    """
    spelled = msgspec.json.encode(word.encode(errors="replace").decode()).decode()[1:-1]
    return f"%{''.join(map(sign, spelled))}%"


def sign(letter: str) -> str:
    """One letter of a pattern."""
    if letter in {"%", "_", ESCAPE}:
        return ESCAPE + letter
    return letter if letter.isascii() or letter.lower() == letter.upper() else "%"


async def matching(database: Database, owner: str, words: Words, most: int, before: str | None) -> set[str]:
    """The ids of those conversations, among an owner's first or those behind one, in a message of which all words are.

    Only what a person sees counts: neither names of fields nor words for the model alone.
    """
    asked: dict[str, object] = {"who": check_user(owner), "most": most}
    asked |= {f"word{index}": one for index, one in enumerate(words.patterns)}
    if before is not None:
        asked["before"] = check_id(before)
    rows = await database.read(records_with(len(words.each), database.is_sqlite, before is None), **asked)
    return await decode_in_thread(lambda: sift(rows, words), rows)


def sift(rows: Sequence[Row], words: Words) -> set[str]:
    """The ids of the conversations whose records really say the words."""
    said = read_all(read_messages, rows, 1)
    return {row[0] for row, message in zip(rows, said, strict=True) if words.are_in(seen(message))}


def seen(message: Message) -> str:
    """What a person sees of a message's words."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and part.audience != "model")


@cache
def records_with(count: int, is_sqlite: bool, first: bool) -> Select[str, str]:
    """The query for records that fit so many patterns: on SQLite LIKE knows no case, on PostgreSQL ILIKE doesn't."""
    page = (SELECT_NEWEST if first else OLDER).with_only_columns(conversations.c.id).subquery()
    like = messages.c.record.like if is_sqlite else messages.c.record.ilike
    fits = (like(bindparam(f"word{index}"), escape=ESCAPE) for index in range(count))
    return select(messages.c.conversation_id, messages.c.record).where(
        messages.c.conversation_id.in_(select(page.c.id)), *fits
    )
