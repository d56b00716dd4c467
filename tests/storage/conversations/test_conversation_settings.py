"""Settings of one conversation, as they are stored, exported and imported."""

import asyncio
import json
from zipfile import ZipFile

import pytest
from sqlalchemy import update

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.errors import BadConversation, StorageFailed
from showandtell.storage.conversations.conversation_settings import EditedElsewhere, change_settings, read_settings
from showandtell.storage.conversations.heads import read_head
from showandtell.storage.conversations.transfer import export_conversation, import_conversation
from showandtell.storage.database.tables import conversations
from support.stores import check_not_found, post, user_draft

pytestmark = pytest.mark.anyio
SETTINGS = ConversationSettings("inspector", "Be brief.", 0.5, ("chart",))


async def talk(store, **more):
    conversation = await store.create("ann", **more)
    await post(conversation, user_draft("hello"))
    return conversation


async def test_settings_are_read_with_the_head_of_a_conversation(store):
    conversation = await talk(store, key="chat")
    assert (await read_head(store.database, "ann", "chat", None)).settings == ConversationSettings()
    await change_settings(store.database, conversation.id, "ann", SETTINGS)
    assert (await read_head(store.database, "ann", "chat", None)).settings == SETTINGS
    assert (await read_head(store.database, "ann", conversation.id, None)).settings == SETTINGS


async def test_of_two_edits_of_one_revision_one_is_refused(store):
    conversation = await talk(store)
    edits = [
        change_settings(store.database, conversation.id, "ann", ConversationSettings(instructions=words), 0)
        for words in ("one", "two", "three")
    ]
    found = await asyncio.gather(*edits, return_exceptions=True)
    assert [type(one) for one in found].count(EditedElsewhere) == 2
    stored = await read_settings(store.database, conversation.id, "ann")
    assert stored.revision == 1
    assert stored in found


async def test_only_the_owner_reads_and_changes_them(store):
    conversation = await talk(store)
    await store.share(conversation.id, "ann", "bob", "writer")
    await check_not_found(
        read_settings(store.database, conversation.id, "bob"),
        change_settings(store.database, conversation.id, "bob", SETTINGS),
    )


async def test_damaged_settings_are_an_error_until_they_are_set_again(store):
    conversation = await talk(store)
    await store.database.write(lambda connection: connection.execute(update(conversations).values(settings="{")))
    with pytest.raises(StorageFailed, match="set them again"):
        await read_settings(store.database, conversation.id, "ann")
    assert (await change_settings(store.database, conversation.id, "ann", SETTINGS)).settings == SETTINGS


async def test_an_export_has_the_settings_for_the_owner_alone(store, tmp_path):
    conversation = await talk(store)
    await change_settings(store.database, conversation.id, "ann", SETTINGS)
    await store.share(conversation.id, "ann", "bob", "reader")
    await export_conversation(conversation, tmp_path / "own.zip")
    await export_conversation(await store.open(conversation.id, "bob"), tmp_path / "shared.zip")
    own, shared = (
        json.loads(ZipFile(tmp_path / name).read("conversation.json"))["details"] for name in ("own.zip", "shared.zip")
    )
    assert own["settings"] == {
        "model": "inspector",
        "instructions": "Be brief.",
        "temperature": 0.5,
        "tools": ["chart"],
    }
    assert "settings" not in shared
    copy = await import_conversation(store, tmp_path / "own.zip", "bob")
    assert (await read_settings(store.database, copy.id, "bob")).settings == SETTINGS


@pytest.mark.parametrize(
    "settings", [{"temperature": 3}, {"instructions": "x" * 20_001}, {"tools": ["x"] * 501}, {"operator": "me"}]
)
async def test_settings_that_no_conversation_can_have_are_not_imported(store, tmp_path, settings):
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"version": 1, "messages": [], "details": {"settings": settings}}))
    with pytest.raises(BadConversation):
        await import_conversation(store, file)
    assert await store.list() == ()
