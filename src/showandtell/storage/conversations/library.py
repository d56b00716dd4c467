"""Lists and searches a user's conversations.

Nothing here reads a complete conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, Select, Text, bindparam, case, exists, func, literal_column, or_, select

from showandtell.core.messages.message import Message
from showandtell.core.ui_stream.ui_stream import answer_id
from showandtell.storage.conversations.access import Right, allowed, check_id, check_user, not_found
from showandtell.storage.conversations.message_search import find_messages, find_questions
from showandtell.storage.conversations.organizing import MAX_PINS, check_tag
from showandtell.storage.conversations.search import EVERYTHING, MAX_FILES, Match, Search, SearchTerms, find_files
from showandtell.storage.conversations.summaries import SELECT_NEWEST, SELECT_OLDER, Summary, check_limit
from showandtell.storage.conversations.users import UNNAMED
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import any_of, read_any
from showandtell.storage.database.tables import (
    aliases,
    conversations,
    messages,
    pending_messages,
    runs,
    shares,
    tags,
    users,
)

#: Conversations searched per query, and per search.
BATCH, MAX_SEARCHED = 200, 5_000

RUNNING: ColumnElement[bool] = exists().where(
    runs.c.conversation_id == conversations.c.id, runs.c.state == literal_column("'running'")
)
#: Hides conversations whose first message isn't stored yet: nothing has been acknowledged.
IS_USED = or_(conversations.c.title != "", exists().where(messages.c.conversation_id == conversations.c.id))


class Listed(Summary, frozen=True):
    """A conversation in a list, and whether it has a running run."""

    running: bool


class OwnConversation(Listed, frozen=True):
    """One of the user's own conversations. `match` says where a search found it; None without a search."""

    pinned: bool
    archived: bool
    tags: tuple[str, ...] = ()
    match: Match | None = None


class ConversationPage(Struct, frozen=True):
    """A page of a list, most recently changed first. `next` is the `before` of the next page, or None.

    The first page begins with the pinned ones, which don't count. A search that reached its limit may have no matches
    and still have a next page.
    """

    conversations: tuple[OwnConversation, ...]
    next: str | None


#: Which conversations are listed: `listed` are neither pinned nor archived.
View: TypeAlias = Literal["pinned", "listed", "archived", "all"]
VIEWS: dict[View, tuple[ColumnElement[bool], ...]] = {
    "pinned": (conversations.c.pinned.is_not(None), conversations.c.archived.is_(None)),
    "listed": (conversations.c.pinned.is_(None), conversations.c.archived.is_(None)),
    "archived": (conversations.c.archived.is_not(None),),
    "all": (),
}
HAS_TAG = exists().where(tags.c.conversation_id == conversations.c.id, tags.c.tag == bindparam("tag"))


@cache
def select_tags(count: int) -> Select[str, str]:
    """The query for the tags of conversations."""
    query = select(tags.c.conversation_id, tags.c.tag).where(any_of(tags.c.conversation_id, count))
    return query.order_by(tags.c.conversation_id, tags.c.tag)


@cache
def select_page(view: View, *, is_first: bool, has_tag: bool) -> Select[Any]:
    """The query for a page of the list."""
    query = SELECT_NEWEST if is_first else SELECT_OLDER
    query = query.add_columns(RUNNING, conversations.c.pinned, conversations.c.archived)
    return query.where(IS_USED, *VIEWS[view], *([HAS_TAG] if has_tag else []))


async def list_conversations(
    database: Database,
    owner: str,
    search: Search = EVERYTHING,
    *,
    archived: bool = False,
    tag: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> ConversationPage:
    """An owner's conversations, without the archived ones, or only those.

    A search without `archived` finds archived ones, too: those with every word in the title, in one message, or in the
    name of one file; with a kind, only by files. Matching ignores case. Searches at most 5,000 conversations at a time.
    Raises `BadInput` unless `limit` is 1 to 10,000.
    """
    check_limit(limit)
    if not search.is_empty:
        view: View = "archived" if archived else "all"
        return await search_conversations(database, owner, search, view, tag=tag, limit=limit, before=before)
    view = "archived" if archived else "listed"
    page = await read_page(database, owner, view, limit + 1, before=before, tag=tag)
    following = page[limit - 1].id if len(page) > limit else None
    page = page[:limit]
    if view == "listed" and before is None:
        page = [*await read_page(database, owner, "pinned", MAX_PINS, tag=tag), *page]
    return ConversationPage(await with_tags(database, page), following)


async def search_conversations(
    database: Database, owner: str, search: Search, view: View, *, tag: str | None, limit: int, before: str | None
) -> ConversationPage:
    """A page of a search."""
    matches: list[Matching] = []
    for _ in range(MAX_SEARCHED // BATCH):
        page = await read_page(database, owner, view, BATCH, before=before, tag=tag)
        for matching in await find_matching(database, page, search):
            matches.append(matching)
            if len(matches) == limit:
                return ConversationPage(await complete(database, matches), matching.conversation.id)
        if len(page) < BATCH:
            return ConversationPage(await complete(database, matches), None)
        before = page[-1].id
    return ConversationPage(await complete(database, matches), before)


class Matching(Struct, frozen=True):
    """A conversation that a search found, and its newest matching message."""

    conversation: OwnConversation
    message: Message | None


async def find_matching(database: Database, page: Sequence[OwnConversation], search: Search) -> list[Matching]:
    """Those of a page that match, in order. Their matches have no message's id yet."""
    ids, terms, (since, until) = [each.id for each in page], SearchTerms(search.words), search.period
    texts = await find_messages(database, ids, search)
    files = await find_files(database, ids, search)
    matches: list[Matching] = []
    for each in page:
        is_then = each.created < until and each.changed >= since
        title = search.kind is None and is_then and terms.match(each.title)
        found, text = files.get(each.id, []), texts.get(each.id)
        if title or found or text:
            shown = tuple(found[:MAX_FILES])
            match = Match(title, text and text.excerpt, None, shown, len(found) - len(shown))
            matches.append(Matching(structs.replace(each, match=match), text and text.message))
    return matches


async def complete(database: Database, matches: Sequence[Matching]) -> tuple[OwnConversation, ...]:
    """The conversations with their tags, and with the ids of the messages that match."""
    questions = await find_questions(database, [each.message for each in matches if each.message])

    def located(matching: Matching) -> OwnConversation:
        conversation, message = matching.conversation, matching.message
        if conversation.match is None or message is None or message.id not in questions:
            return conversation
        question = questions[message.id]
        message_id = question if question == message.id else answer_id(question)
        return structs.replace(conversation, match=structs.replace(conversation.match, message_id=message_id))

    return await with_tags(database, [located(each) for each in matches])


async def read_page(
    database: Database, owner: str, view: View, limit: int, *, before: str | None = None, tag: str | None
) -> list[OwnConversation]:
    """The first conversations of a view, or those after `before`. Without their tags."""
    parameters: dict[str, object] = {"who": check_user(owner), "most": limit}
    if before is not None:
        parameters["before"] = check_id(before)
    if tag is not None:
        parameters["tag"] = check_tag(tag)
    query = select_page(view, is_first=before is None, has_tag=tag is not None)
    return [
        OwnConversation(*summary, running=bool(running), pinned=pinned is not None, archived=archived is not None)
        for *summary, running, pinned, archived in await database.read(query, **parameters)
    ]


async def with_tags(database: Database, page: Sequence[OwnConversation]) -> tuple[OwnConversation, ...]:
    """The conversations with their tags."""
    found: dict[str, list[str]] = {}
    for id, tag in await read_any(database, select_tags, [each.id for each in page]):  # noqa: A001 - it is one
        found.setdefault(id, []).append(tag)
    return tuple(structs.replace(each, tags=tuple(found[each.id])) if each.id in found else each for each in page)


SELECT_COUNT = select(func.count()).where(conversations.c.owner == bindparam("who"))


async def count_conversations(database: Database, owner: str) -> int:
    """The number of an owner's conversations."""
    return (await database.read(SELECT_COUNT, who=check_user(owner)))[0][0]


class Overview(Struct, frozen=True):
    """A conversation without its messages. `key` is this user's; `model` is that of the last run.

    `shared_by` is the owner's display name; None for the owner. `pending` counts this user's pending messages.
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
    pending: int


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
COUNT_PENDING = (
    select(func.count())
    .where(pending_messages.c.conversation_id == conversations.c.id, pending_messages.c.user_id == bindparam("user"))
    .scalar_subquery()
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
    COUNT_PENDING.label("pending"),
)
SELECT_OVERVIEW = select(*OVERVIEW_COLUMNS).where(conversations.c.id == bindparam("id"), allowed("reader"))


async def overview(database: Database, id: str, user: str) -> Overview:  # noqa: A002 - it is one
    """The overview of a conversation that a user may read. Raises `NotFound`."""
    rows = await database.read(SELECT_OVERVIEW, id=check_id(id), user=check_user(user))
    if not rows:
        raise not_found(id)
    *columns, running, pending = rows[0]
    return Overview(*columns, running=bool(running), pending=pending)
