"""Lists the people of whom something is stored."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import func, select

from showandtell.storage.database.database import SLOW_SECONDS, Database
from showandtell.storage.database.ownership import list_people
from showandtell.storage.database.tables import blobs, conversations, users

SELECT_USERS = select(users.c.id, users.c.name, users.c.seen)
COUNT_CONVERSATIONS = select(conversations.c.owner, func.count()).group_by(conversations.c.owner)
SUM_BYTES = select(blobs.c.owner, func.sum(blobs.c.size)).group_by(blobs.c.owner)


class Person(Struct, frozen=True):
    """A person: account id, display name, the last sign-in (epoch seconds), own conversations and bytes of files.

    `name` and `seen` are None for those who have not signed in with an account.
    """

    id: str
    name: str | None
    seen: float | None
    conversations: int
    bytes: int


async def list_users(database: Database) -> list[Person]:
    """All people of whom anything is stored, by account id."""
    ids = sorted(row[0] for row in await database.read(list_people(), SLOW_SECONDS))
    known = {row[0]: (row[1], row[2]) for row in await database.read(SELECT_USERS)}
    counts = {row[0]: row[1] for row in await database.read(COUNT_CONVERSATIONS, SLOW_SECONDS)}
    sizes = {row[0]: int(row[1]) for row in await database.read(SUM_BYTES, SLOW_SECONDS)}
    return [Person(id, *known.get(id, (None, None)), counts.get(id, 0), sizes.get(id, 0)) for id in ids]  # noqa: A001
