"""Full-text search of messages: the database preselects records, and the decoded messages decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

from msgspec import Struct
from sqlalchemy import Executable, bindparam, select

from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import is_for_people
from showandtell.storage.conversations.search import ESCAPE, Search, SearchTerms
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import any_of, decode_in_thread, read_all, read_any, read_messages
from showandtell.storage.database.tables import messages

#: Messages of an answer that are read at most to find its question.
MAX_STEPS = 200


class FoundMessage(Struct, frozen=True):
    """A message with all words of a search, and the part of it that has them."""

    message: Message
    excerpt: str


async def find_messages(database: Database, ids: Sequence[str], search: Search) -> dict[str, FoundMessage]:
    """The newest message that contains all words, for those of these conversations that have one.

    Only visible text counts: neither field names nor text for the model alone.
    """
    terms, (since, until) = SearchTerms(search.words), search.period
    if not terms.terms or search.kind is not None:
        return {}
    parameters: dict[str, object] = {f"word{index}": like for index, like in enumerate(terms.patterns)}
    select_messages = select_candidates(len(terms.terms), database.is_sqlite)
    rows = await read_any(database, select_messages, ids, since=since, until=until, **parameters)
    return await decode_in_thread(lambda: newest_matches(rows, terms), rows)


def newest_matches(rows: Sequence[Row], terms: SearchTerms) -> dict[str, FoundMessage]:
    """The message of each conversation that really matches. The last row of one counts."""
    decoded = read_all(read_messages, rows, 1)
    texts = ((row[0], message, visible_text(message)) for row, message in zip(rows, decoded, strict=True))
    return {id: FoundMessage(message, terms.excerpt(text)) for id, message, text in texts if terms.match(text)}  # noqa: A001 - it is one


def visible_text(message: Message) -> str:
    """The text of a message that people see."""
    return "\n".join(part.text for part in message.parts if is_for_people(part))


@cache
def select_candidates(terms: int, is_sqlite: bool) -> Callable[[int], Executable]:
    """The query for matching records. On SQLite LIKE ignores case; PostgreSQL needs ILIKE."""
    like = messages.c.record.like if is_sqlite else messages.c.record.ilike

    @cache
    def of(count: int) -> Executable:
        return (
            select(messages.c.conversation_id, messages.c.record)
            .where(
                any_of(messages.c.conversation_id, count),
                messages.c.created >= bindparam("since"),
                messages.c.created < bindparam("until"),
                *(like(bindparam(f"word{index}"), escape=ESCAPE) for index in range(terms)),
            )
            .order_by(messages.c.conversation_id, messages.c.seq)
        )

    return of


@cache
def select_records(count: int) -> Executable:
    """The query for messages by their ids."""
    return select(messages.c.id, messages.c.record).where(any_of(messages.c.id, count))


async def find_questions(database: Database, found: Collection[Message]) -> Mapping[str, str]:
    """The ids of the users' messages that these messages answer, by their own ids. A user's message has its own.

    Those that no question leads to have none.
    """
    questions: dict[str, str] = {}
    waiting = {message.id: message for message in found}
    for _ in range(MAX_STEPS):
        questions |= {id: message.id for id, message in waiting.items() if starts_turn(message)}  # noqa: A001 - it is one
        parents = {id: message.parent_id for id, message in waiting.items() if id not in questions}  # noqa: A001 - it is one
        wanted = [*{parent for parent in parents.values() if parent is not None}]
        if not wanted:
            break
        rows = await read_any(database, select_records, wanted)
        records = await decode_in_thread(lambda rows=rows: read_all(read_messages, rows, 1), rows)
        known = {message.id: message for message in records}
        waiting = {id: known[parent] for id, parent in parents.items() if parent in known}  # noqa: A001 - it is one
    return questions
