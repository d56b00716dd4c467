"""Lists, searches and renames a user's conversations.

Nothing here reads a complete conversation.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from showandtell.errors import BadInput
from showandtell.storage.conversations.access import (
    Right,
    allowed,
    check_id,
    check_user,
    not_found,
    select_by_id,
)
from showandtell.storage.conversations.search import SearchTerms, find_matching
from showandtell.storage.conversations.summaries import SELECT_NEWEST, SELECT_OLDER, Summary, check_limit
from showandtell.storage.conversations.users import UNNAMED
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import aliases, conversations, messages, runs, shares, users
from showandtell.storage.files.file_cache import strip_invisible

#: Maximum length of a title.
MAX_TITLE = 200
#: Conversations searched per query, and per search.
BATCH, MAX_SEARCHED = 200, 5_000

RUNNING: ColumnElement[bool] = exists().where(
    runs.c.conversation_id == conversations.c.id, runs.c.state == literal_column("'running'")
)
#: Hides conversations whose first message isn't stored yet: nothing has been acknowledged.
IS_USED = or_(conversations.c.title != "", exists().where(messages.c.conversation_id == conversations.c.id))
SELECT_FIRST, SELECT_FURTHER = (query.add_columns(RUNNING).where(IS_USED) for query in (SELECT_NEWEST, SELECT_OLDER))


class Listed(Summary, frozen=True):
    """A conversation in a list, and whether it has a running run."""

    running: bool


class ConversationPage(Struct, frozen=True):
    """A page of a list, most recently changed first. `next` is the `before` of the next page, or None.

    A search that reached its limit may have no matches and still have a next page.
    """

    conversations: tuple[Listed, ...]
    next: str | None


async def list_conversations(
    database: Database, owner: str, query: str = "", *, limit: int = 50, before: str | None = None
) -> ConversationPage:
    """An owner's conversations. With `query`, those with every term in the title or in a single message.

    Matching ignores case. Searches at most 5,000 conversations. Raises `BadInput` unless `limit` is 1 to 10,000.
    """
    check_limit(limit)
    terms = SearchTerms(query)
    if not terms.terms:
        page = await read_page(database, owner, limit + 1, before)
        return ConversationPage(page[:limit], page[limit - 1].id if len(page) > limit else None)
    matches: list[Listed] = []
    for _ in range(MAX_SEARCHED // BATCH):
        page = await read_page(database, owner, BATCH, before)
        matching_ids = await find_matching(database, owner, terms, BATCH, before)
        for conversation in page:
            before = conversation.id
            if conversation.id in matching_ids or terms.match(conversation.title):
                matches.append(conversation)
                if len(matches) == limit:
                    return ConversationPage(tuple(matches), before)
        if len(page) < BATCH:
            return ConversationPage(tuple(matches), None)
    return ConversationPage(tuple(matches), before)


async def read_page(database: Database, owner: str, limit: int, before: str | None) -> tuple[Listed, ...]:
    """The first conversations of an owner, or those after `before`."""
    asked = {"who": check_user(owner), "most": limit}
    if before is None:
        rows = await database.read(SELECT_FIRST, **asked)
    else:
        rows = await database.read(SELECT_FURTHER, **asked, before=check_id(before))
    return tuple(Listed(*summary, running=bool(running)) for *summary, running in rows)


class Overview(Struct, frozen=True):
    """A conversation without its messages. `key` is this user's; `model` is that of the last run.

    `shared_by` is the owner's display name; None for the owner.
    """

    id: str
    owner: str
    right: Right
    title: str
    created: float
    changed: float
    key: str | None
    model: str | None
    shared_by: str | None
    running: bool


OWN = conversations.c.owner == bindparam("user")
SELECT_SHARED_RIGHT = (
    select(shares.c.access)
    .where(shares.c.conversation_id == conversations.c.id, shares.c.user_id == bindparam("user"))
    .scalar_subquery()
)
SELECT_KEY = (
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
SELECT_OWNER_NAME = select(users.c.name).where(users.c.id == conversations.c.owner).scalar_subquery()
SHARED_BY = case(
    (OWN, literal_column("NULL", Text)), else_=func.coalesce(SELECT_OWNER_NAME, literal_column(f"'{UNNAMED}'"))
)
#: The fields of `Overview`, in order.
OVERVIEW_COLUMNS: tuple[ColumnElement[Any], ...] = (
    conversations.c.id,
    conversations.c.owner,
    case((OWN, literal_column("'owner'", Text)), else_=SELECT_SHARED_RIGHT).label("right"),
    conversations.c.title,
    conversations.c.created,
    conversations.c.changed,
    SELECT_KEY.label("key"),
    SELECT_LAST_MODEL.label("model"),
    SHARED_BY.label("shared_by"),
    RUNNING.label("running"),
)
SELECT_OVERVIEW = select(*OVERVIEW_COLUMNS).where(conversations.c.id == bindparam("id"), allowed("reader"))


async def overview(database: Database, id: str, user: str) -> Overview:  # noqa: A002 - it is one
    """The overview of a conversation that a user may read. Raises `NotFound`."""
    rows = await database.read(SELECT_OVERVIEW, id=check_id(id), user=check_user(user))
    if not rows:
        raise not_found(id)
    *columns, running = rows[0]
    return Overview(*columns, running=bool(running))


UPDATE_TITLE = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(title=bindparam("title"))
    .returning(conversations.c.id)
)


async def rename(database: Database, id: str, owner: str, title: str) -> str:  # noqa: A002 - it is one
    """Change a conversation's title. Returns the title as stored, on one line.

    Raises `NotFound`, or `BadInput` for an empty title or one of more than 200 characters.
    """
    title = strip_invisible(" ".join(title.split()))
    if not 1 <= len(title) <= MAX_TITLE:
        raise BadInput(f"a title of {len(title)} characters can't be stored: use 1 to {MAX_TITLE}")
    parameters = {"id": check_id(id), "user": check_user(owner)}

    def transaction(connection: Connection) -> None:
        if connection.execute(select_by_id("conv", "owner"), parameters).first() is None:
            raise not_found(id)
        connection.execute(UPDATE_TITLE, {"conversation": id, "title": title})

    await database.write(transaction)
    return title
