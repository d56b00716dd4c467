"""Full-text search: the database preselects records, and the decoded messages decide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
from sqlalchemy import Select, bindparam, select

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import is_for_people
from showandtell.storage.conversations.access import check_id, check_user
from showandtell.storage.conversations.summaries import SELECT_NEWEST, SELECT_OLDER
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import decode_in_thread, read_all, read_messages
from showandtell.storage.database.tables import conversations, messages

#: Maximum number of search terms, and maximum length of each.
MAX_TERMS, MAX_TERM_LENGTH = 8, 100
#: Escapes wildcards in a pattern.
ESCAPE = "!"


class SearchTerms:
    """The distinct terms of a query in lower case, and a LIKE pattern for each that preselects records."""

    def __init__(self, text: str) -> None:
        words = dict.fromkeys(word.lower()[:MAX_TERM_LENGTH] for word in text.split())
        self.terms = tuple(words)[:MAX_TERMS]
        self.patterns = tuple(map(pattern, self.terms))

    def match(self, text: str) -> bool:
        """Whether a text contains all terms."""
        lower = text.lower()
        return all(word in lower for word in self.terms)


def pattern(term: str) -> str:
    """A LIKE pattern that matches every record with this term, and possibly others.

    Non-ASCII letters with two cases become wildcards, because SQLite doesn't fold their case.
    """
    serialized = msgspec.json.encode(term.encode(errors="replace").decode()).decode()[1:-1]
    return f"%{''.join(map(escape_character, serialized))}%"


def escape_character(character: str) -> str:
    """One character of a pattern."""
    if character in {"%", "_", ESCAPE}:
        return ESCAPE + character
    return character if character.isascii() or character.lower() == character.upper() else "%"


async def find_matching(database: Database, owner: str, terms: SearchTerms, limit: int, before: str | None) -> set[str]:
    """The ids of an owner's first conversations (or those after `before`) with a message that contains all terms.

    Only visible text counts: neither field names nor text for the model alone.
    """
    parameters: dict[str, object] = {"who": check_user(owner), "most": limit}
    parameters |= {f"word{index}": like for index, like in enumerate(terms.patterns)}
    if before is not None:
        parameters["before"] = check_id(before)
    rows = await database.read(select_candidates(len(terms.terms), database.is_sqlite, before is None), **parameters)
    return await decode_in_thread(lambda: filter_rows(rows, terms), rows)


def filter_rows(rows: Sequence[Row], terms: SearchTerms) -> set[str]:
    """The ids of the conversations whose messages really match."""
    decoded = read_all(read_messages, rows, 1)
    return {row[0] for row, message in zip(rows, decoded, strict=True) if terms.match(visible_text(message))}


def visible_text(message: Message) -> str:
    """The text of a message that people see."""
    return "\n".join(part.text for part in message.parts if is_for_people(part))


@cache
def select_candidates(count: int, is_sqlite: bool, first: bool) -> Select[str, str]:
    """The query for matching records. On SQLite LIKE ignores case; PostgreSQL needs ILIKE."""
    page = (SELECT_NEWEST if first else SELECT_OLDER).with_only_columns(conversations.c.id).subquery()
    like = messages.c.record.like if is_sqlite else messages.c.record.ilike
    fits = (like(bindparam(f"word{index}"), escape=ESCAPE) for index in range(count))
    return select(messages.c.conversation_id, messages.c.record).where(
        messages.c.conversation_id.in_(select(page.c.id)), *fits
    )
