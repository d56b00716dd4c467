"""Presets: named settings that a user can give to conversations."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection, bindparam, delete, func, select, update

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, NotFound
from showandtell.storage.conversations.access import NO_TEXT, check_user
from showandtell.storage.conversations.conversation_settings import EditedElsewhere
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import presets
from showandtell.storage.database.upserts import upsert
from showandtell.storage.files.file_cache import strip_invisible

#: Maximum number of presets of a user, and maximum length of a name.
MAX_PRESETS, MAX_NAME = 50, 60


class Preset(Struct, frozen=True):
    """Named settings. `revision` counts the changes."""

    id: str
    name: str
    revision: int
    settings: ConversationSettings


SELECT_PRESETS = (
    select(presets.c.id, presets.c.name, presets.c.revision, presets.c.record)
    .where(presets.c.owner == bindparam("who"))
    .order_by(func.lower(presets.c.name), presets.c.id)
)
SELECT_PRESET = (
    select(presets.c.id, presets.c.name, presets.c.revision, presets.c.record)
    .where(presets.c.owner == bindparam("who"), presets.c.id == bindparam("which"))
    .with_for_update()
)
SELECT_COUNT = select(func.count()).where(presets.c.owner == bindparam("who"))
SELECT_NAMESAKE = select(presets.c.id).where(
    presets.c.owner == bindparam("who"), presets.c.name == bindparam("name"), presets.c.id != bindparam("which")
)
UPDATE_PRESET = (
    update(presets)
    .where(presets.c.id == bindparam("which"))
    .values(name=bindparam("new_name"), record=bindparam("new_record"), revision=bindparam("new_revision"))
)
DELETE_PRESET = (
    delete(presets)
    .where(presets.c.owner == bindparam("who"), presets.c.id == bindparam("which"))
    .returning(presets.c.id)
)


async def list_presets(database: Database, owner: str) -> tuple[Preset, ...]:
    """A user's presets by name. One that is damaged has no settings."""
    rows = await database.read(SELECT_PRESETS, who=check_user(owner))
    return tuple(Preset(id, name, revision, decode(record)) for id, name, revision, record in rows)  # noqa: A001


def decode(record: str) -> ConversationSettings:
    """Decode settings; the defaults if they are damaged."""
    try:
        return msgspec.json.decode(record, type=ConversationSettings)
    except msgspec.DecodeError:
        return ConversationSettings()


async def add_preset(database: Database, owner: str, name: str, settings: ConversationSettings) -> Preset:
    """Store a new preset. Raises `BadInput` for an invalid name, one that is taken, or too many presets."""
    preset = Preset(new_id("preset"), clean_name(name), 1, settings)
    user = check_user(owner)

    def transaction(connection: Connection) -> Preset:
        if connection.execute(SELECT_COUNT, {"who": user}).scalar_one() >= MAX_PRESETS:
            raise BadInput(f"you have {MAX_PRESETS} presets: delete one of them first")
        row = {"id": preset.id, "owner": user, "name": preset.name, "record": serialize(settings), "revision": 1}
        statement = upsert(connection, presets).on_conflict_do_nothing(index_elements=["owner", "name"])
        if connection.execute(statement.returning(presets.c.id), row).first() is None:
            raise name_taken(preset.name)
        return preset

    return await database.write(transaction)


async def change_preset(
    database: Database,
    owner: str,
    id: str,  # noqa: A002 - it is one
    revision: int,
    *,
    name: str | UnsetType = UNSET,
    settings: ConversationSettings | UnsetType = UNSET,
) -> Preset:
    """Change the name or the settings of a user's preset.

    Raises `NotFound`, `EditedElsewhere` if `revision` is not that of the stored one, and `BadInput` for an invalid
    name, or one that is taken.
    """
    new_name = name if name is UNSET else clean_name(name)
    parameters = {"who": check_user(owner), "which": check_text(id)}

    def transaction(connection: Connection) -> Preset:
        row = connection.execute(SELECT_PRESET, parameters).first()
        if row is None:
            raise not_found(id)
        _, old_name, stored, record = row
        if stored != revision:
            raise EditedElsewhere(f"the preset {old_name!r}", "it")
        chosen = old_name if new_name is UNSET else new_name
        if connection.execute(SELECT_NAMESAKE, {**parameters, "name": chosen}).first() is not None:
            raise name_taken(chosen)
        changed = Preset(id, chosen, revision + 1, decode(record) if settings is UNSET else settings)
        new = {"new_name": chosen, "new_record": serialize(changed.settings), "new_revision": changed.revision}
        connection.execute(UPDATE_PRESET, {"which": id, **new})
        return changed

    return await database.write(transaction)


async def delete_preset(database: Database, owner: str, id: str) -> None:  # noqa: A002 - it is one
    """Delete a user's preset. Raises `NotFound`."""
    parameters = {"who": check_user(owner), "which": check_text(id)}

    def transaction(connection: Connection) -> bool:
        return connection.execute(DELETE_PRESET, parameters).first() is not None

    if not await database.write(transaction):
        raise not_found(id)


def clean_name(name: str) -> str:
    """The name on one line. Raises `BadInput` if it is empty or too long."""
    name = strip_invisible(" ".join(name.split()))
    if not 1 <= len(name) <= MAX_NAME:
        raise BadInput(f"a name of {len(name)} characters can't be stored: use 1 to {MAX_NAME}")
    return name


def check_text(id: str) -> str:  # noqa: A002 - it is one
    """Return an id. Raises `NotFound` for text that some databases reject."""
    if NO_TEXT.search(id):
        raise not_found(id)
    return id


def name_taken(name: str) -> BadInput:
    """The error for a name that another preset has."""
    return BadInput(f"you have a preset {name!r} already: choose another name, or change that one")


def not_found(id: str) -> NotFound:  # noqa: A002 - it is one
    """The error for an id."""
    return NotFound(f"there is no preset {id[:40]!r}: it may have been deleted")
