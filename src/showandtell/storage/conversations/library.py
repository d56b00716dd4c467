"""A user's conversations as a list with search, what is known of each without reading it, and clients' names of them.

Nothing here reads a whole conversation.
"""

from __future__ import annotations

import re

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Text, bindparam, case, exists, literal_column, select, update

from showandtell.errors import BadInput
from showandtell.storage.conversations.access import (
    ID,
    NO_TEXT,
    Right,
    allowed,
    check_id,
    check_user,
    not_found,
    question,
)
from showandtell.storage.conversations.search import Words, matching
from showandtell.storage.conversations.store import OLDER, SELECT_NEWEST, Summary, check_limit
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import aliases, conversations, messages, runs, shares
from showandtell.storage.files.file_cache import drop_unseen

#: The most letters of a title that a person gives, and of a client's name for a conversation.
MOST_TITLE, MOST_ALIAS = 200, 200
#: So many conversations are searched at a time, and by one question.
SOME, MOST_SEARCHED = 200, 5_000

RUNNING: ColumnElement[bool] = exists().where(
    runs.c.conversation_id == conversations.c.id, runs.c.state == literal_column("'running'")
)
FIRST, FURTHER = SELECT_NEWEST.add_columns(RUNNING), OLDER.add_columns(RUNNING)


class Listed(Summary, frozen=True):
    """A conversation in a list, and whether a run goes on in it."""

    running: bool


class Found(Struct, frozen=True):
    """Some of a list, the one that changed last first; `next` is what to ask for what comes `before` it, if anything.

    A search that has looked through many may have found none, and still go on there.
    """

    conversations: tuple[Listed, ...]
    next: str | None


async def list_conversations(
    database: Database, owner: str, words: str = "", *, limit: int = 50, before: str | None = None
) -> Found:
    """An owner's own conversations; with `words`, those in whose title, or in one message, each of them stands.

    Upper and lower case are the same. At most 5,000 are searched at once. Raises `BadInput` for a limit below 1 or
    above 10,000.
    """
    check_limit(limit)
    sought = Words(words)
    if not sought.each:
        page = await read_page(database, owner, limit + 1, before)
        return Found(page[:limit], page[limit - 1].id if len(page) > limit else None)
    found: list[Listed] = []
    for _ in range(MOST_SEARCHED // SOME):
        page = await read_page(database, owner, SOME, before)
        said = await matching(database, owner, sought, SOME, before)
        for one in page:
            before = one.id
            if one.id in said or sought.are_in(one.title):
                found.append(one)
                if len(found) == limit:
                    return Found(tuple(found), before)
        if len(page) < SOME:
            return Found(tuple(found), None)
    return Found(tuple(found), before)


async def read_page(database: Database, owner: str, most: int, before: str | None) -> tuple[Listed, ...]:
    """The first conversations of an owner, or those that come behind one."""
    asked = {"who": check_user(owner), "most": most}
    if before is None:
        rows = await database.read(FIRST, **asked)
    else:
        rows = await database.read(FURTHER, **asked, before=check_id(before))
    return tuple(Listed(*known, running=bool(running)) for *known, running in rows)


class Overview(Struct, frozen=True):
    """A conversation without what was said in it. `alias` is this user's client's name; `model` answered last."""

    id: str
    owner: str
    right: Right
    title: str
    created: float
    changed: float
    alias: str | None
    model: str | None
    running: bool


OWN = conversations.c.owner == bindparam("user")
SELECT_SHARED_RIGHT = (
    select(shares.c.access)
    .where(shares.c.conversation_id == conversations.c.id, shares.c.user_id == bindparam("user"))
    .scalar_subquery()
)
SELECT_ALIAS = (
    select(aliases.c.alias)
    .where(aliases.c.conversation_id == conversations.c.id, aliases.c.owner == bindparam("user"))
    .order_by(aliases.c.alias)
    .limit(literal_column("1"))
    .scalar_subquery()
)
SELECT_LAST_MODEL = (
    select(runs.c.model)
    .where(runs.c.conversation_id == conversations.c.id)
    .order_by(runs.c.created.desc(), runs.c.id.desc())
    .limit(literal_column("1"))
    .scalar_subquery()
)
SELECT_OVERVIEW = select(
    conversations.c.id,
    conversations.c.owner,
    case((OWN, literal_column("'owner'", Text)), else_=SELECT_SHARED_RIGHT),
    conversations.c.title,
    conversations.c.created,
    conversations.c.changed,
    SELECT_ALIAS,
    SELECT_LAST_MODEL,
    RUNNING,
).where(conversations.c.id == bindparam("id"), allowed("reader"))


async def overview(database: Database, id: str, user: str) -> Overview:  # noqa: A002 - it is one
    """What is known of a conversation that a user may read. Raises `NotFound`."""
    rows = await database.read(SELECT_OVERVIEW, id=check_id(id), user=check_user(user))
    if not rows:
        raise not_found(id)
    *known, running = rows[0]
    return Overview(*known, running=bool(running))


SELECT_MESSAGE_TIMES = select(messages.c.id, messages.c.created).where(
    messages.c.conversation_id == bindparam("conversation")
)


async def times_of(database: Database, conversation_id: str) -> dict[str, float]:
    """When each message of a conversation was stored, in epoch seconds, by id.

    Whoever asks has been found to be allowed to.
    """
    return {row[0]: row[1] for row in await database.read(SELECT_MESSAGE_TIMES, conversation=conversation_id)}


UPDATE_TITLE = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(title=bindparam("words"))
    .returning(conversations.c.id)
)


async def rename(database: Database, id: str, owner: str, title: str) -> str:  # noqa: A002 - it is one
    """Give a conversation of this owner's another title; gives it as it is kept, on one line.

    Raises `NotFound`, and `BadInput` for a title without a letter, or of more than 200.
    """
    words = drop_unseen(" ".join(title.split()))
    if not 1 <= len(words) <= MOST_TITLE:
        raise BadInput(f"a title of {len(words)} letters can't be kept: write 1 to {MOST_TITLE}")
    asked = {"id": check_id(id), "user": check_user(owner)}

    def work(connection: Connection) -> None:
        if connection.execute(question("conv", "owner"), asked).first() is None:
            raise not_found(id)
        connection.execute(UPDATE_TITLE, {"conversation": id, "words": words})

    await database.write(work)
    return words


SELECT_BY_ALIAS = select(aliases.c.conversation_id).where(
    aliases.c.owner == bindparam("who"), aliases.c.alias == bindparam("name")
)


async def find_alias(database: Database, user: str, alias: str) -> str | None:
    """The id of the conversation that a user's client calls so; None where it is none of its names."""
    rows = await database.read(SELECT_BY_ALIAS, who=check_user(user), name=check_alias(alias))
    return rows[0][0] if rows else None


def check_alias(alias: str) -> str:
    """The same name. Raises `BadInput` for what a database doesn't take, `NotFound` for what looks like an id of ours.

    Nobody's client may call its own conversation by the id of another.
    """
    if re.match(r"(conv|msg|att)_", alias) and ID.fullmatch(alias):
        raise not_found(alias)
    if not 1 <= len(alias) <= MOST_ALIAS or NO_TEXT.search(alias):
        raise BadInput(f"a conversation can't be called {alias!r:.40}: use 1 to {MOST_ALIAS} letters without NUL")
    return alias
