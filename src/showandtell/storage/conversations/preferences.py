"""Each user's settings, stored as one record."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, bindparam, select, update

from showandtell.errors import BadInput, StorageFailed
from showandtell.storage.conversations.access import check_user
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import preferences
from showandtell.storage.database.upserts import upsert

Theme: TypeAlias = Literal["system", "light", "dark"]

#: Maximum number of favourite models: they are read with each message.
MAX_FAVOURITES = 50


class Preferences(Struct, frozen=True, omit_defaults=True):
    """A user's settings: the default model, instructions for it, titles by it, the page's theme and its language.

    `favourites` are ids of models. `used` is the real model that the user used last.
    """

    model: str | None = None
    instructions: str = ""
    theme: Theme = "system"
    language: str | None = None
    titles: bool = False
    favourites: tuple[str, ...] = ()
    used: str | None = None


SELECT_PREFERENCES = select(preferences.c.record).where(preferences.c.owner == bindparam("who"))
SELECT_LOCKED = SELECT_PREFERENCES.with_for_update()
UPDATE_PREFERENCES = update(preferences).where(preferences.c.owner == bindparam("who")).values(record=bindparam("new"))


async def read_preferences(database: Database, owner: str) -> Preferences:
    """A user's settings, or the defaults. Raises `StorageFailed` if they can't be read."""
    rows = await database.read(SELECT_PREFERENCES, who=check_user(owner))
    return decode_preferences(rows[0][0] if rows else None)


def decode_preferences(record: str | None) -> Preferences:
    """Decode a record; without one, return the defaults. Raises `StorageFailed` if it is damaged."""
    try:
        return Preferences() if record is None else msgspec.json.decode(record, type=Preferences)
    except msgspec.DecodeError as error:
        raise StorageFailed(f"stored settings are damaged ({error}): set them again") from error


async def change_preferences(
    database: Database, owner: str, *, star: str | None = None, unstar: str | None = None, **changes: object
) -> Preferences:
    """Change some settings, by field name, and return all of them. `star` adds a favourite, `unstar` removes one.

    Concurrent changes of different fields, and of different favourites, don't overwrite each other. A damaged record
    counts as the defaults. Raises `BadInput` for too many favourites.
    """
    user = check_user(owner)

    def transaction(connection: Connection) -> Preferences:
        # So that the first change has a row to lock.
        first = upsert(connection, preferences).on_conflict_do_nothing(index_elements=["owner"])
        connection.execute(first, {"owner": user, "record": serialize(Preferences())})
        stored = read_or_default(connection.execute(SELECT_LOCKED, {"who": user}).scalar_one())
        changed = replace(stored, **changes, favourites=change_favourites(stored.favourites, star, unstar))
        connection.execute(UPDATE_PREFERENCES, {"who": user, "new": serialize(changed)})
        return changed

    return await database.write(transaction)


def change_favourites(favourites: tuple[str, ...], star: str | None, unstar: str | None) -> tuple[str, ...]:
    """The favourites with another one, and without one. Raises `BadInput` for too many."""
    if star is not None and star not in favourites:
        favourites = (*favourites, star)
    favourites = tuple(model for model in favourites if model != unstar)
    if len(favourites) > MAX_FAVOURITES:
        raise BadInput(f"you have {MAX_FAVOURITES} favourites: take the star from one of them first")
    return favourites


def read_or_default(record: str) -> Preferences:
    """Decode a record, or return the defaults if it is damaged."""
    try:
        return msgspec.json.decode(record, type=Preferences)
    except msgspec.DecodeError:
        return Preferences()
