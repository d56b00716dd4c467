"""What a search looks for, and the files that match it: by name, kind and date."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, Self

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Executable, and_, bindparam, exists, literal, or_, select

from showandtell.core.media_types.kinds import DOCUMENTS, TEXTS, Kind
from showandtell.core.messages.attachments import Attachment
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import (
    any_of,
    decode_in_thread,
    read_all,
    read_any,
    read_attachments,
    searchable,
)
from showandtell.storage.database.tables import attachments, messages

#: Maximum number of search terms, and maximum length of each.
MAX_TERMS, MAX_TERM_LENGTH = 8, 100
#: Escapes wildcards in a pattern.
ESCAPE = "!"
#: Characters of an excerpt before its first term, and in all.
LEAD, EXCERPT = 40, 160
#: Files of a conversation that a search returns.
MAX_FILES = 4
SVG: Final = "image/svg+xml"
#: Seconds of a day, and the ordinal of the first day of 1970.
DAY: Final = 86_400
EPOCH: Final = dt.date(1970, 1, 1).toordinal()


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

    def excerpt(self, text: str) -> str:
        """The part of a text that begins a little before its first term, on one line."""
        text = " ".join(text.split())
        at = min((found for word in self.terms if (found := text.lower().find(word)) >= 0), default=0)
        start = 0 if at <= LEAD else text.find(" ", at - LEAD, at) + 1 or at - LEAD
        part = text[start : start + EXCERPT]
        return f"{'…' if start else ''}{part}{'…' if start + EXCERPT < len(text) else ''}"


class Search(Struct, frozen=True):
    """What to look for: words, the kind of a file, and a period. None of it: everything.

    since: the first day (UTC), or the first moment of the period. until: the last day (UTC), or the moment after it.
    """

    words: str = ""
    kind: Kind | None = None
    since: dt.date | None = None
    until: dt.date | None = None

    @property
    def is_empty(self) -> bool:
        """Whether everything is found."""
        return not self.words.split() and (self.kind, self.since, self.until) == (None, None, None)

    @property
    def period(self) -> tuple[float, float]:
        """The first moment, and the one after the last, in epoch seconds."""
        until = self.until or dt.date.max
        return start_of(self.since or dt.date.min), start_of(until) + (0 if isinstance(until, dt.datetime) else DAY)

    @property
    def days(self) -> tuple[str, str]:
        """The first and last day (UTC) that the period touches, in ISO 8601."""
        since, until = self.period
        return iso_day(math.floor(since / DAY)), iso_day(math.ceil(until / DAY) - 1)

    @property
    def whole_days(self) -> tuple[str, str]:
        """The first and last day (UTC) that the period has as a whole. There is none if the first is after the last."""
        since, until = self.period
        return iso_day(math.ceil(since / DAY)), iso_day(math.floor(until / DAY) - 1)


#: The search that finds everything.
EVERYTHING: Final = Search()


class Match(Struct, frozen=True):
    """Where a search found a conversation: its title, an excerpt of its newest matching message, its first files.

    message_id: that message, as the page knows it: an answer has its question's id, with `ans_` in place of `msg_`.
    """

    title: bool
    message: str | None
    message_id: str | None
    files: tuple[Attachment, ...]
    more_files: int


def start_of(day: dt.date) -> float:
    """The start of a day (UTC), or a moment, in epoch seconds."""
    moment = day if isinstance(day, dt.datetime) else dt.datetime.combine(day, dt.time(), dt.UTC)
    return moment.timestamp()


def iso_day(number: int) -> str:
    """The day with this number since 1970 in ISO 8601, or the first or last one that there is."""
    ordinal = number + EPOCH
    return dt.date.fromordinal(min(max(ordinal, dt.date.min.toordinal()), dt.date.max.toordinal())).isoformat()


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


def name_pattern(term: str) -> str:
    """A LIKE pattern for the words of files, which are stored in lower case."""
    term = searchable(term)
    for character in (ESCAPE, "%", "_"):
        term = term.replace(character, ESCAPE + character)
    return f"%{term}%"


async def find_files(database: Database, ids: Sequence[str], search: Search) -> dict[str, list[Attachment]]:
    """The files with all words in their names or descriptions, of this kind and period, in order of their numbers."""
    wanted = FileFilter.of(search)
    rows = await read_any(database, select_matching_files(wanted), ids, **wanted.values(search))
    found: dict[str, list[Attachment]] = {}
    for row, file in zip(rows, await decode_in_thread(lambda: read_all(read_attachments, rows, 1), rows), strict=True):
        if file.audience != "assistant":
            found.setdefault(row[0], []).append(file)
    return found


class FileFilter(Struct, frozen=True):
    """The form of a search for files: what decides its query, without the values."""

    terms: int
    kind: Kind | None
    has_period: bool
    splits_days: bool

    @classmethod
    def of(cls, search: Search) -> Self:
        """The form of a search."""
        splits_days = any(moment % DAY for moment in search.period)
        return cls(len(SearchTerms(search.words).terms), search.kind, bool(search.since or search.until), splits_days)

    def values(self, search: Search) -> dict[str, object]:
        """The values of a search in `conditions`."""
        terms = SearchTerms(search.words).terms
        values: dict[str, object] = {f"term{index}": name_pattern(term) for index, term in enumerate(terms)}
        if self.has_period:
            values |= zip(("first", "last"), search.days, strict=True)
        if self.splits_days:
            values |= zip(("first_whole", "last_whole"), search.whole_days, strict=True)
            values |= zip(("since", "until"), search.period, strict=True)
        return values

    def conditions(self, columns: Any = attachments.c) -> list[ColumnElement[bool]]:
        """The conditions on a file's row. `columns` are those of the table, or of an alias."""
        conditions = [columns.words.like(bindparam(f"term{index}"), escape=ESCAPE) for index in range(self.terms)]
        if self.kind is not None:
            conditions.append(is_kind(columns.media_type, self.kind))
        if self.has_period:
            conditions.append(columns.date.between(bindparam("first"), bindparam("last")))
        if self.splits_days:
            is_within = columns.date.between(bindparam("first_whole"), bindparam("last_whole"))
            conditions.append(or_(is_within, is_used_in_period(columns)))
        return conditions


@cache
def select_matching_files(wanted: FileFilter) -> Callable[[int], Executable]:
    """The query for the files of conversations."""
    columns = attachments.c

    @cache
    def of(count: int) -> Executable:
        return (
            select(columns.conversation_id, columns.record)
            .where(any_of(columns.conversation_id, count), columns.state != "deleted", *wanted.conditions())
            .order_by(columns.conversation_id, columns.number)
        )

    return of


def is_used_in_period(columns: Any) -> ColumnElement[bool]:
    """Whether a message of the period has the file: its row has the day alone."""
    return exists().where(
        messages.c.conversation_id == columns.conversation_id,
        messages.c.created >= bindparam("since"),
        messages.c.created < bindparam("until"),
        messages.c.record.like(literal('%"attachment_id":"') + columns.id + literal('"%')),
    )


def is_kind(media_type: ColumnElement[str], kind: Kind) -> ColumnElement[bool]:
    """Whether `kind_of` a media type is this kind."""
    match kind:
        case "document":
            return is_one_of(media_type, DOCUMENTS)
        case "text":
            return or_(media_type.like("text/%"), is_one_of(media_type, {*TEXTS, SVG}))
        case "image" | "audio" | "video":
            return and_(media_type.like(f"{kind}/%"), media_type != SVG)
        case "other":
            known = [is_kind(media_type, each) for each in ("document", "text", "image", "audio", "video")]
            return ~or_(*known)


def is_one_of(media_type: ColumnElement[str], types: Iterable[str]) -> ColumnElement[bool]:
    """Whether a media type is one of these."""
    return media_type.in_([literal(each) for each in sorted(types)])
