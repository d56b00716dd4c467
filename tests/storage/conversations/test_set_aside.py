"""A file whose bytes changed is marked as damaged in the database, so that all readers of its conversation know."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import select

from showandtell import Agent
from showandtell.core.messages.file import File
from showandtell.errors import NotFound
from showandtell.storage.conversations.transfer import export_conversation
from showandtell.storage.database.tables import attachments
from support.fixtures import png
from support.postgres import each_database
from support.stores import Place, post, two_stores, user_draft

STATES = select(attachments.c.state, attachments.c.record)


@asynccontextmanager
async def picture_lost(database, folder):
    """Two programs that have a conversation open with a picture in it, and where its bytes lay that are gone now."""
    async with two_stores(Place(database, folder)) as (one, two):
        conversation = await one.create("ann")
        await post(conversation, user_draft("look", File.from_bytes(png(16, 9), name="red.png")))
        (blob,) = (folder / "blobs").rglob(conversation.attachments[1].facts.sha256)
        lost = blob.rename(folder / "lost")
        yield one, conversation, await two.open(conversation.id, "ann"), lambda: lost.rename(blob)


async def stored_state(store):
    """The state in a file's row; its record says the same."""
    ((state, record),) = await store.database.read(STATES)
    assert f'"state":"{state}"' in record
    assert ('"problem":null' in record) == (state == "ready")
    return state


@each_database
def test_a_damaged_file_is_marked_for_other_programs_until_a_run_finds_it_intact(database, tmp_path):
    async def run():
        async with picture_lost(database, tmp_path) as (store, here, there, put_back):
            before = here.attachments[1]
            assert [*await here.check([before.facts])] == [before.facts]
            assert await stored_state(store) == "missing"
            async with there.turn:
                assert there.attachments[1] == here.attachments[1]
                assert "is missing" in there.attachments[1].problem
            put_back()
            shown = await Agent("inspector").run("What is in image 1?", conversation=there)
            assert [receipt.delivery for receipt in shown.receipts] == ["native"]
            assert await stored_state(store) == "ready"
            assert (await store.open(here.id, "ann")).attachments[1] == before

    asyncio.run(run())


@each_database
def test_a_file_that_was_deleted_meanwhile_is_not_marked(database, tmp_path):
    async def run():
        async with picture_lost(database, tmp_path) as (store, here, there, _):
            await store.delete_file(here, 1)
            await there.check([there.attachments[1].facts])
            assert await stored_state(store) == "deleted"
            await there.refresh()
            assert there.attachments[1] == here.attachments[1]
            await here.check(())
            assert await stored_state(store) == "deleted"

    asyncio.run(run())


@each_database
def test_a_reader_marks_lost_files_for_itself_only(database, tmp_path):
    async def run():
        async with picture_lost(database, tmp_path) as (store, here, _, _):
            await store.share(here.id, "ann", "bob", "reader")
            read = await store.open(here.id, "bob")
            await export_conversation(read, tmp_path / "album.zip")
            assert read.attachments[1].state == "missing"
            assert await stored_state(store) == "ready"

    asyncio.run(run())


@each_database
def test_files_of_a_deleted_conversation_are_not_marked(database, tmp_path):
    async def run():
        async with picture_lost(database, tmp_path) as (store, here, there, _):
            await store.delete(here.id, "ann")
            with pytest.raises(NotFound):
                await there.check([there.attachments[1].facts])
            assert there.attachments[1].state == "ready"

    asyncio.run(run())
