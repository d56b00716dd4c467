"""Settings of one conversation, stored with it as one record. Only its owner reads and changes them."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, select, update

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.errors import Busy, StorageFailed
from showandtell.storage.conversations.access import allowed, check_id, check_user, not_found
from showandtell.storage.database.database import Database
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import conversations


class EditedElsewhere(Busy):
    """An edit of something that was changed since it was read, by another tab or device."""

    def __init__(self, what: str, it: str = "them") -> None:
        super().__init__(f"{what} changed elsewhere since you opened {it}: look at {it} again, then save")


class SettingsRecord(Struct, frozen=True, omit_defaults=True):
    """The settings of a conversation as they are stored. `revision` counts the changes."""

    revision: int = 0
    settings: ConversationSettings = ConversationSettings()


SELECT_SETTINGS = select(conversations.c.settings).where(conversations.c.id == bindparam("id"), allowed("owner"))
SELECT_LOCKED = SELECT_SETTINGS.with_for_update()
UPDATE_SETTINGS = (
    update(conversations).where(conversations.c.id == bindparam("which")).values(settings=bindparam("new"))
)
NO_SETTINGS = SettingsRecord()


def decode_settings(record: str | None) -> SettingsRecord:
    """Decode a record; without one, return the defaults. Raises `StorageFailed` if it is damaged."""
    try:
        return NO_SETTINGS if record is None else msgspec.json.decode(record, type=SettingsRecord)
    except msgspec.DecodeError as error:
        raise StorageFailed(f"the settings of a conversation are damaged ({error}): set them again") from error


def encode_settings(settings: ConversationSettings, revision: int = 1) -> str | None:
    """The record of the settings of a new conversation; None for the defaults."""
    return None if settings == ConversationSettings() else serialize(SettingsRecord(revision, settings))


async def read_settings(database: Database, id: str, owner: str) -> SettingsRecord:  # noqa: A002 - it is one
    """The settings of an owner's conversation. Raises `NotFound`, or `StorageFailed` if they are damaged."""
    rows = await database.read(SELECT_SETTINGS, id=check_id(id), user=check_user(owner))
    if not rows:
        raise not_found(id)
    return decode_settings(rows[0][0])


async def change_settings(
    database: Database,
    id: str,  # noqa: A002 - it is one
    owner: str,
    settings: ConversationSettings,
    revision: int | None = None,
) -> SettingsRecord:
    """Replace the settings of an owner's conversation. Damaged ones count as the defaults.

    Raises `NotFound`, or `EditedElsewhere` if `revision` is not that of the stored ones.
    """
    parameters = {"id": check_id(id), "user": check_user(owner)}

    def transaction(connection: Connection) -> SettingsRecord:
        row = connection.execute(SELECT_LOCKED, parameters).first()
        if row is None:
            raise not_found(id)
        stored = read_or_default(row[0])
        if revision is not None and revision != stored.revision:
            raise EditedElsewhere("the settings of this conversation")
        changed = SettingsRecord(stored.revision + 1, settings)
        connection.execute(UPDATE_SETTINGS, {"which": id, "new": serialize(changed)})
        return changed

    return await database.write(transaction)


def read_or_default(record: str | None) -> SettingsRecord:
    """Decode a record, or return the defaults if it is damaged."""
    try:
        return decode_settings(record)
    except StorageFailed:
        return NO_SETTINGS
