"""Reads all that people see of a conversation with one query: its messages with their runs, files and times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import (
    Double,
    Integer,
    Select,
    Text,
    bindparam,
    case,
    cast,
    literal_column,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.sql import Executable

from showandtell.core.events.replay import StepSummary, without_receipts
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.message import Message, starts_turn, without_user_texts
from showandtell.core.planning.values import View
from showandtell.storage.conversations.access import allowed, check_id, check_user, not_found
from showandtell.storage.conversations.conversation_settings import read_or_default
from showandtell.storage.conversations.library import OVERVIEW_COLUMNS, OWN, SELECT_OWNER_NAME, Overview
from showandtell.storage.conversations.load import branch_of, number_of
from showandtell.storage.conversations.runs import RUNNING
from showandtell.storage.conversations.sharing import IS_SHARED
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import (
    decode_in_thread,
    read_all,
    read_attachments,
    read_messages,
    read_steps,
    read_text,
)
from showandtell.storage.database.tables import attachments, conversations, intents, messages, runs

#: The query's columns: the kind of the row, then integers, times and texts, of which each kind uses the first ones.
INTEGERS, TIMES, TEXTS = 3, 2, 10
#: Columns of messages: when it was stored, its id, that of its parent, its record and step.
TIME, ID, PARENT, RECORD, STEP = 4, 6, 7, 8, 9
#: The last column of runs.
REASON = 10


class AnswerRun(Struct, frozen=True):
    """A server's run that answered a message, or answers one now. Then its message's id may be missing."""

    created: float
    ended: float | None
    id: str
    message_id: str | None
    model: str
    status: str | None
    reason: str | None


class Transcript(Struct, frozen=True):
    """A conversation as people see it.

    `messages` are those of the current branch, `everything` those of all branches in the order in which they were
    stored. `times` (epoch seconds) and `summaries` are by message id, `runs` by the message they answer. `author` is
    that of messages without one, and `settings` are None unless the user is the owner, who set some.
    """

    overview: Overview
    messages: list[Message]
    everything: list[Message]
    attachments: dict[int, Attachment]
    started: frozenset[str]
    summaries: dict[str, StepSummary]
    times: dict[str, float]
    runs: dict[str | None, AnswerRun]
    author: str | None
    settings: ConversationSettings | None

    def view(self) -> View:
        """The input of the planner."""
        turn_starts = (message.id for message in reversed(self.messages) if starts_turn(message))
        return View(tuple(self.messages), self.attachments, next(turn_starts, None), self.started)


async def read_transcript(database: Database, id: str, user: str) -> Transcript:  # noqa: A002 - it is one
    """Read a conversation that a user may read.

    Raises `NotFound` if it doesn't exist or the user may not read it, and `StorageFailed` if the stored records
    contradict each other.
    """
    rows = await database.read(select_transcript(), id=check_id(id), user=check_user(user))
    transcript = await decode_in_thread(lambda: decode_transcript(rows), rows)
    if transcript is None:
        raise not_found(id)
    return transcript


@cache
def select_transcript() -> Executable:
    """The query for all rows of a conversation that `user` may read."""
    mine = (
        select(
            *OVERVIEW_COLUMNS,
            conversations.c.head,
            SELECT_OWNER_NAME.label("name"),
            IS_SHARED.label("shared"),
            case((OWN, conversations.c.settings)).label("settings"),
        )
        .where(conversations.c.id == bindparam("id"), allowed("reader"))
        .cte("mine")
    )
    c = mine.c
    texts = (c.id, c.owner, c.right, c.title, c.key, c.model, c.shared_by, c.head, c.name, c.settings)
    m, a, i, r = messages.c, attachments.c, intents.c, runs.c
    return union_all(
        pad("c", (number(c.running), number(c.shared), c.pending), (c.created, c.changed), texts),
        pad("m", (m.seq,), (m.created,), (m.id, m.parent_id, m.record, m.step)).join(mine, c.id == m.conversation_id),
        pad("a", (a.number,), (), (a.record,)).join(mine, c.id == a.conversation_id),
        pad("i", (), (), (i.call_id,)).join(mine, c.id == i.conversation_id),
        pad("r", (), (r.created, r.ended), (r.id, r.message_id, r.model, r.status, r.reason))
        .join(mine, c.id == r.conversation_id)
        .where(or_(r.message_id.is_not(None), r.state == literal_column(f"'{RUNNING}'"))),
    )


def number(condition: Any) -> Any:
    """A condition as 0 or 1."""
    return case((condition, literal_column("1", Integer)), else_=literal_column("0", Integer))


def pad(kind: str, integers: Sequence[Any], times: Sequence[Any], texts: Sequence[Any]) -> Select[*tuple[Any, ...]]:
    """A query for rows of a kind, with all columns."""
    groups = ((Integer, integers, INTEGERS), (Double, times, TIMES), (Text, texts, TEXTS))
    columns = [
        column for type_, given, count in groups for column in (*given, *[cast(null(), type_)] * (count - len(given)))
    ]
    return select(literal_column(f"'{kind}'", Text), *columns)


def decode_transcript(all_rows: Sequence[Row]) -> Transcript | None:
    """Build a transcript from its rows; None without rows."""
    rows: dict[str, list[Row]] = {"c": [], "m": [], "a": [], "i": [], "r": []}
    for row in all_rows:
        rows[row[0]].append(row)
    if not rows["c"]:
        return None
    _, running, is_shared, pending, created, changed, *texts = rows["c"][0]
    id, owner, right, title, key, model, shared_by, head, name, record = texts  # noqa: A001 - it is one
    settings = read_or_default(record).settings
    stored = sorted(rows["m"], key=number_of)
    everything = read_all(read_messages, stored, RECORD)
    messages = branch_of(
        {row[ID]: (message, row[PARENT]) for row, message in zip(stored, everything, strict=True)}, head
    )
    ids = {message.id for message in messages}
    steps = [row for row in stored if row[STEP] is not None and row[ID] in ids]
    answered = sorted([AnswerRun(*row[TIME : REASON + 1]) for row in rows["r"]], key=lambda run: (run.created, run.id))
    has_authors = bool(is_shared) or any(message.author for message in messages)
    transcript = Transcript(
        overview=Overview(id, owner, right, title, created, changed, key, model, shared_by, bool(running), pending),
        messages=messages,
        everything=everything,
        attachments={file.number: file for file in read_all(read_attachments, sorted(rows["a"], key=number_of), ID)},
        started=frozenset(read_text(row[ID]) for row in rows["i"]),
        summaries={row[ID]: step.summary() for row, step in zip(steps, read_all(read_steps, steps, STEP), strict=True)},
        times={row[ID]: row[TIME] for row in stored},
        runs={run.message_id: run for run in answered},
        author=name if has_authors else None,
        settings=settings if settings != ConversationSettings() else None,
    )
    return transcript if right == "owner" else for_others(transcript)


def for_others(transcript: Transcript) -> Transcript:
    """A transcript for others than the owner: without texts, files and receipts of what is for the user alone."""
    private = {number for number, file in transcript.attachments.items() if file.is_private}
    return structs.replace(
        transcript,
        messages=[without_user_texts(message) for message in transcript.messages],
        everything=[without_user_texts(message) for message in transcript.everything],
        attachments={number: file for number, file in transcript.attachments.items() if number not in private},
        summaries=without_receipts(transcript.summaries, private),
    )
