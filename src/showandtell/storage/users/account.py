"""Exports all that belongs to a person as one zip file: conversations, files that were not sent yet, and other rows.

The rows are in `account.json`, by table. Columns with secrets are left out, such as keys and what signs in.
"""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, select

from showandtell.core.messages.conversation_settings import ConversationSettings, check_temperature
from showandtell.errors import BadConversation, FileChanged
from showandtell.storage.conversations.access import check_user
from showandtell.storage.conversations.archive import ACCOUNT, CHUNK_SIZE, DAMAGED
from showandtell.storage.conversations.backup import UPLOAD, Report, back_up
from showandtell.storage.conversations.preferences import Preferences
from showandtell.storage.conversations.presets import add_preset, list_presets
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.uploads import Upload, read_upload
from showandtell.storage.database.database import Database
from showandtell.storage.database.ownership import WHO, owned_directly, place_of, short_name
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import Place, metadata, preferences, uploads
from showandtell.storage.database.upserts import upsert

#: Rows of a person, by table: each has its columns by name.
Account = Mapping[str, list[dict[str, Any]]]
#: Maximum size of `account.json` that is read, in bytes.
MAX_ACCOUNT = 64 * 1024 * 1024
SELECT_UPLOADS = select(uploads.c.record).where(uploads.c.owner == bindparam(WHO)).order_by(uploads.c.created)


class PresetRow(msgspec.Struct):
    """A preset in `account.json`."""

    name: str
    record: ConversationSettings


class PreferencesRow(msgspec.Struct):
    """A person's settings in `account.json`."""

    record: Preferences


class AccountRecord(msgspec.Struct):
    """What an import reads of `account.json`."""

    presets: list[PresetRow] = []
    preferences: list[PreferencesRow] = []


async def export_user(store: Store, user: str, report: Report | None = None) -> AsyncGenerator[bytes]:
    """Yield the zip file of all that belongs to a person. Its conversations can be imported as those of `back_up`."""

    async def rest(archive: zipfile.ZipFile) -> AsyncGenerator[None]:
        rows = await read_account(store.database, user)
        archive.writestr(ACCOUNT, msgspec.json.format(msgspec.json.encode(rows), indent=2), zipfile.ZIP_DEFLATED)
        yield
        for number, (record,) in enumerate(await store.database.read(SELECT_UPLOADS, who=user), 1):
            with suppress(FileChanged):  # its bytes are missing or damaged
                async for _ in add_upload(archive, store, number, read_upload(record)):
                    yield

    async for chunk in back_up(store, check_user(user), report=report, more=rest):
        yield chunk


async def add_upload(archive: zipfile.ZipFile, store: Store, number: int, upload: Upload) -> AsyncGenerator[None]:
    """Add the bytes of a file that was not sent yet, under its number in the order of the uploads."""
    name = f"uploads/{number:04}{PurePosixPath(upload.name).suffix}"
    source = await asyncio.to_thread(store.blobs.for_owner(upload.owner).open, upload.facts)
    with (
        source,
        archive.open(name if UPLOAD.fullmatch(name) else f"uploads/{number:04}", "w", force_zip64=True) as sink,
    ):
        while chunk := await asyncio.to_thread(source.read, CHUNK_SIZE):
            sink.write(chunk)
            yield


async def read_account(database: Database, user: str) -> Account:
    """A person's rows, but for those that their conversations contain, and without secrets."""
    found: dict[str, list[dict[str, Any]]] = {}
    for table in metadata.sorted_tables:
        directly = owned_directly(table)
        if directly is not None and place_of(table) is Place.ACCOUNT:
            columns = [column for column in table.c if "secret" not in column.info]
            rows = await database.read(select(*columns).where(directly), who=user)
            names = [column.name for column in columns]
            found[short_name(table)] = [dict(zip(names, map(readable, row), strict=True)) for row in rows]
    return found


def readable(value: object) -> object:
    """A value of a column; a record as the JSON that it is."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(value)
    return value


class Restored(msgspec.Struct, frozen=True):
    """What an import stored of an account: `new` presets, those that were here already, and whether the settings.

    `taken` are the names of presets that have other settings here: these stay.
    """

    new: int = 0
    known: int = 0
    taken: tuple[str, ...] = ()
    preferences: bool = False


async def import_account(store: Store, path: Path, user: str) -> Restored:
    """Store the presets of an export that are not here yet, and its settings if the person has none here.

    Nothing else is stored: what signs in and keys are not in it, and files that were not sent expire. Raises
    `BadConversation` for a damaged file.
    """
    record = await asyncio.to_thread(read_record, path)
    here = {preset.name: preset.settings for preset in await list_presets(store.database, user)}
    new = [preset for preset in record.presets if preset.name not in here]
    for preset in new:
        check_temperature(preset.record.temperature)
        await add_preset(store.database, user, preset.name, preset.record)
    taken = tuple(each.name for each in record.presets if here.get(each.name, each.record) != each.record)
    known = len(record.presets) - len(new) - len(taken)
    return Restored(len(new), known, taken, await restore_preferences(store.database, user, record))


async def restore_preferences(database: Database, user: str, record: AccountRecord) -> bool:
    """Store settings, unless there are none in the record, or some here. Returns whether they were stored."""
    rows = [{"owner": check_user(user), "record": serialize(each.record)} for each in record.preferences[:1]]

    def transaction(connection: Connection) -> bool:
        statement = upsert(connection, preferences).on_conflict_do_nothing(index_elements=["owner"])
        return connection.execute(statement.returning(preferences.c.owner), rows[0]).first() is not None

    return bool(rows) and await database.write(transaction)


def read_record(path: Path) -> AccountRecord:
    """What can be imported of `account.json`; nothing if the zip file has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            if ACCOUNT not in archive.namelist():
                return AccountRecord()
            with archive.open(ACCOUNT) as source:
                data = source.read(MAX_ACCOUNT + 1)
        if len(data) > MAX_ACCOUNT:
            raise BadConversation(f"{ACCOUNT} has more than {MAX_ACCOUNT} bytes: it was not made here")
        return msgspec.json.decode(data, type=AccountRecord)
    except DAMAGED as error:
        raise BadConversation(f"{ACCOUNT} of {path.name} can't be read ({error})") from error
