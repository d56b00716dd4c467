"""Who shares which conversation with whom, with the display names of the people."""

from __future__ import annotations

from typing import Literal, cast

from msgspec import Struct
from sqlalchemy import bindparam, exists, select

from showandtell.errors import BadInput
from showandtell.storage.conversations import users as people
from showandtell.storage.conversations.access import check_id, check_user, resolve
from showandtell.storage.conversations.library import RUNNING, Listed
from showandtell.storage.conversations.store import DELETE_SHARE, Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.conversations.summaries import COUNTS, IS_AFTER, check_limit
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import conversations, shares, users

SELECT_SHARES = (
    select(shares.c.user_id, users.c.name, shares.c.access)
    .select_from(shares.outerjoin(users, users.c.id == shares.c.user_id))
    .where(shares.c.conversation_id == bindparam("conversation"))
    .order_by(shares.c.user_id)
)
SELECT_IS_SHARED = select(exists().where(shares.c.conversation_id == bindparam("conversation")))
#: Whether the conversation of a row is shared.
IS_SHARED = exists().where(shares.c.conversation_id == conversations.c.id)
SELECT_SHARED = (
    select(
        conversations.c.id,
        conversations.c.title,
        conversations.c.created,
        conversations.c.changed,
        *COUNTS,
        RUNNING,
        shares.c.access,
        users.c.name,
    )
    .select_from(
        conversations.join(shares, shares.c.conversation_id == conversations.c.id).outerjoin(
            users, users.c.id == conversations.c.owner
        )
    )
    .where(shares.c.user_id == bindparam("who"))
    .order_by(conversations.c.changed.desc(), conversations.c.id.desc())
    .limit(bindparam("most"))
)
SELECT_SHARED_FURTHER = SELECT_SHARED.where(IS_AFTER)


class Share(Struct, frozen=True):
    """What a person may do in another's conversation. `user` is the account id, which only the server may see."""

    user: str
    name: str
    right: Literal["reader", "writer"]


class SharedConversation(Listed, frozen=True):
    """A conversation that its owner shares with somebody: what they may do, and the owner's display name."""

    right: Literal["reader", "writer"]
    shared_by: str


class SharedPage(Struct, frozen=True):
    """A page of a list, most recently changed first. `next` is the `before` of the next page, or None."""

    conversations: tuple[SharedConversation, ...]
    next: str | None


async def list_shares(database: Database, id: str, owner: str) -> tuple[Share, ...]:  # noqa: A002 - it is one
    """With whom a conversation is shared, by name. Each has another name. Raises `NotFound` except for its owner."""
    await resolve(database, id, owner, "owner")
    found: list[Share] = []
    for user, name, right in await database.read(SELECT_SHARES, conversation=id):
        taken = [share.name for share in found]
        found.append(Share(user, name or people.free_name(people.UNNAMED, taken), cast("Literal['reader']", right)))
    return tuple(sorted(found, key=lambda share: share.name.casefold()))


async def share(store: Store, id: str, owner: str, other: str, right: Literal["reader", "writer"] | None) -> None:  # noqa: A002 - it is one
    """Share a conversation with a person, given by account id or display name; None revokes it.

    Raises `NotFound` if nobody has signed in as that, `BadInput` if several people are called so.
    """
    present = await list_shares(store.database, id, owner)
    named = [share.user for share in present if other == share.user or other.casefold() == share.name.casefold()]
    user = named[0] if named else await people.lookup(store.database, other)
    if user == owner:
        raise BadInput("this conversation is yours already: share it with somebody else")
    await store.share(id, owner, user, right)


async def leave(database: Database, id: str, user: str) -> None:  # noqa: A002 - it is one
    """Give back the access that another person gave. Raises `NotFound`, or `BadInput` for one's own conversation."""
    _, owner = await resolve(database, id, user)
    if owner == user:
        raise BadInput("this conversation is yours: delete it, or stop sharing it")
    await database.write(lambda connection: connection.execute(DELETE_SHARE, {"conversation": id, "whom": user}))


async def list_shared(database: Database, user: str, *, limit: int = 50, before: str | None = None) -> SharedPage:
    """The conversations that others share with a user. Raises `BadInput` unless `limit` is 1 to 10,000."""
    parameters = {"who": check_user(user), "most": check_limit(limit) + 1}
    if before is None:
        rows = await database.read(SELECT_SHARED, **parameters)
    else:
        await resolve(database, before, user)
        rows = await database.read(SELECT_SHARED_FURTHER, **parameters, before=check_id(before))
    found = tuple(
        SharedConversation(*row[:6], running=bool(row[6]), right=row[7], shared_by=row[8] or people.UNNAMED)
        for row in rows[:limit]
    )
    return SharedPage(found, found[-1].id if len(rows) > limit else None)


async def author_of(store: Store, conversation: StoredConversation, user: str) -> str | None:
    """The display name for a user's new message; None in a conversation of one person.

    Earlier messages never get one, so that the prompt stays as it was.
    """
    if not await has_authors(store.database, conversation):
        return None
    name = await people.name_of(store.database, user)
    return name or await people.remember(store.database, user, "", store.terms.clock())


async def default_author(database: Database, conversation: StoredConversation) -> str | None:
    """The display name that people see at messages without an author: those from before the conversation was shared.

    It is the owner's; None in a conversation of one person.
    """
    return await people.name_of(database, conversation.owner) if await has_authors(database, conversation) else None


async def has_authors(database: Database, conversation: StoredConversation) -> bool:
    """Whether new messages get an author: the conversation is shared, or was when somebody wrote in it."""
    if any(message.author for message in conversation.messages):
        return True
    return bool((await database.read(SELECT_IS_SHARED, conversation=conversation.id))[0][0])
