"""A person's export: all that belongs to them and no secret, and what of it can be imported elsewhere."""

import json
from zipfile import ZipFile

import pytest

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.errors import BadConversation
from showandtell.storage.conversations.archive import is_backup
from showandtell.storage.conversations.backup import exports_in
from showandtell.storage.conversations.imports import import_once
from showandtell.storage.conversations.preferences import change_preferences, read_preferences
from showandtell.storage.conversations.presets import add_preset, list_presets
from showandtell.storage.database.ownership import owned_directly, place_of
from showandtell.storage.database.tables import Place
from showandtell.storage.users.account import Restored, export_user, import_account, read_account
from support.planted import TABLES, Garden
from support.postgres import on_sqlite
from support.stores import note, show

pytestmark = pytest.mark.anyio
BRIEF = ConversationSettings(instructions="Be brief.")


async def write(store, path, user="ann"):
    path.write_bytes(b"".join([chunk async for chunk in export_user(store, user)]))
    return path


async def test_every_column_of_a_person_but_the_secret_ones_is_in_the_account(store):
    garden = Garden(store)
    for person in ("local", "bob"):
        await garden.plant(person)
    written = json.dumps(await read_account(store.database, "local"))
    tables = [table for table in TABLES if place_of(table) is Place.ACCOUNT and owned_directly(table) is not None]
    columns = {f"{table.name.partition('_')[2]}.{column.name}": column for table in tables for column in table.c}
    for word, place in garden.words["local"].items():
        if place in columns:
            assert (word in written) == ("secret" not in columns[place].info), place
    assert not any(word in written for word in garden.words["bob"])


async def fill(store):
    await show(store, note("kiwi"), owner="ann")
    await store.uploads("ann").add(note("not sent", "draft.txt"))
    await add_preset(store.database, "ann", "Brief", BRIEF)
    await change_preferences(store.database, "ann", theme="dark", star="inspector")


@on_sqlite
async def test_conversations_presets_and_settings_are_imported_elsewhere_once(store, tmp_path):
    await fill(store)
    path = await write(store, tmp_path / "ann.zip")
    names = ZipFile(path).namelist()
    assert names == ["conversations/0001 look.zip", "account.json", "uploads/0001.txt"]
    assert ZipFile(path).read("uploads/0001.txt") == b"not sent"
    for expected in (Restored(new=1, preferences=True), Restored(known=1)):
        assert await import_account(store, path, "beth") == expected
    for export in exports_in(path):
        assert (await import_once(store, export.path, "beth")).is_new
    assert [each.settings for each in await list_presets(store.database, "beth")] == [BRIEF]
    assert (await read_preferences(store.database, "beth")).favourites == ("inspector",)


@on_sqlite
async def test_an_import_changes_neither_presets_nor_settings_that_are_here(store, tmp_path):
    await fill(store)
    path = await write(store, tmp_path / "ann.zip")
    await add_preset(store.database, "beth", "Brief", ConversationSettings(instructions="Other."))
    await change_preferences(store.database, "beth", theme="light")
    assert await import_account(store, path, "beth") == Restored(taken=("Brief",))
    assert (await read_preferences(store.database, "beth")).theme == "light"


@on_sqlite
async def test_a_person_without_conversations_has_an_export_too(store, tmp_path):
    await add_preset(store.database, "ann", "Brief", BRIEF)
    path = await write(store, tmp_path / "ann.zip")
    assert is_backup(path)
    assert [*exports_in(path)] == []
    assert (await import_account(store, path, "beth")).new == 1


@on_sqlite
@pytest.mark.parametrize("account", ["no json", '{"presets": [{"name": "x"}]}', '{"presets": 1}'])
async def test_an_account_that_was_not_made_here_is_refused(store, tmp_path, account):
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("account.json", account)
    with pytest.raises(BadConversation, match="can't be read"):
        await import_account(store, tmp_path / "all.zip", "ann")
