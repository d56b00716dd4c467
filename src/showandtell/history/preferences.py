"""What each user has set: one record."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, select

from showandtell.errors import StorageFailed
from showandtell.history.access import check_user
from showandtell.history.database import Database
from showandtell.history.loading import spell
from showandtell.history.tables import preferences, upsert

Theme: TypeAlias = Literal["system", "light", "dark"]


class Preferences(Struct, frozen=True, omit_defaults=True):
    """What a user has set: the model that answers where a message names none, instructions for it, the page's look."""

    model: str | None = None
    instructions: str = ""
    theme: Theme = "system"


SET = select(preferences.c.record).where(preferences.c.owner == bindparam("who"))


async def read_preferences(database: Database, owner: str) -> Preferences:
    """What a user has set, or the usual. Raises `StorageFailed` where it can't be read."""
    rows = await database.read(SET, who=check_user(owner))
    try:
        return msgspec.json.decode(rows[0][0], type=Preferences) if rows else Preferences()
    except msgspec.DecodeError as error:
        raise StorageFailed(f"stored settings are damaged ({error}): set them again") from error


async def write_preferences(database: Database, owner: str, wanted: Preferences) -> None:
    """Keep what a user has set, in the place of all that was set before."""
    row = {"owner": check_user(owner), "record": spell(wanted)}

    def keep(connection: Connection) -> None:
        fresh = upsert(connection, preferences)
        kept = fresh.on_conflict_do_update(index_elements=["owner"], set_={"record": fresh.excluded.record})
        connection.execute(kept, row)

    await database.write(keep)
