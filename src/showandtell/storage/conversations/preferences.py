"""What each user has set: one record."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, bindparam, select, update

from showandtell.errors import StorageFailed
from showandtell.storage.conversations.access import check_user
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import preferences, upsert

Theme: TypeAlias = Literal["system", "light", "dark"]


class Preferences(Struct, frozen=True, omit_defaults=True):
    """What a user has set: the model that answers where a message names none, instructions for it, the page's look."""

    model: str | None = None
    instructions: str = ""
    theme: Theme = "system"


SELECT_PREFERENCES = select(preferences.c.record).where(preferences.c.owner == bindparam("who"))
LOCKED = SELECT_PREFERENCES.with_for_update()
UPDATE_PREFERENCES = update(preferences).where(preferences.c.owner == bindparam("who")).values(record=bindparam("new"))


async def read_preferences(database: Database, owner: str) -> Preferences:
    """What a user has set, or the usual. Raises `StorageFailed` where it can't be read."""
    rows = await database.read(SELECT_PREFERENCES, who=check_user(owner))
    try:
        return msgspec.json.decode(rows[0][0], type=Preferences) if rows else Preferences()
    except msgspec.DecodeError as error:
        raise StorageFailed(f"stored settings are damaged ({error}): set them again") from error


async def change_preferences(database: Database, owner: str, **changes: object) -> Preferences:
    """Set some of it, by the fields' names, and leave the rest as it is; gives all that is set now.

    Two who change different things at once both get their way. What can't be read any more is as if nobody had set it.
    """
    who = check_user(owner)

    def keep(connection: Connection) -> Preferences:
        # There is a row to lock for whoever is first, too.
        first = upsert(connection, preferences).on_conflict_do_nothing(index_elements=["owner"])
        connection.execute(first, {"owner": who, "record": serialize(Preferences())})
        wanted = replace(read_or_usual(connection.execute(LOCKED, {"who": who}).scalar_one()), **changes)
        connection.execute(UPDATE_PREFERENCES, {"who": who, "new": serialize(wanted)})
        return wanted

    return await database.write(keep)


def read_or_usual(record: str) -> Preferences:
    """What a record says, or the usual where it is damaged."""
    try:
        return msgspec.json.decode(record, type=Preferences)
    except msgspec.DecodeError:
        return Preferences()
