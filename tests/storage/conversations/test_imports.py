"""What is here already is recognized when it is imported, by conversation, message and hash: nothing is doubled."""

import asyncio
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, update

from showandtell import Draft, Text
from showandtell.core.messages.fingerprints import fingerprint_all
from showandtell.core.messages.parts import Shown
from showandtell.errors import Busy
from showandtell.storage.conversations.imports import import_once
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.transfer import export_conversation
from showandtell.storage.database.lease import Terms
from showandtell.storage.database.tables import conversations, messages
from support.postgres import copy_tables
from support.properties import examples
from support.stores import ELSEWHERE, note, post, two_stores, user_draft, write_row
from support.talks import talk, turns

pytestmark = pytest.mark.anyio


async def exported(store, conversation, path, owner="local"):
    await export_conversation(await store.open(conversation.id, owner), path)
    return path


async def state(store, conversation, owner="local"):
    """What a conversation says, on all branches, and the bytes of its files."""
    found = await store.open(conversation.id, owner)
    files = {number: file.facts and file.facts.sha256 for number, file in found.attachments.items()}
    return sorted(fingerprint_all(await found.everything())), files


def counts(imported):
    return imported.is_new, imported.added, imported.known


CHANGES = st.lists(st.tuples(st.sampled_from(["say", "branch", "title", "delete a file"]), turns()), max_size=3)


async def change(store, conversation, kind, turn):
    """Change a conversation as its owner would."""
    current = await store.open(conversation.id, "ann")
    match kind:
        case "say" | "branch":
            await talk(current, [(*turn[:-1], 0.0 if kind == "branch" else None)])
        case "delete a file" if current.attachments:
            await store.delete_file(current, max(current.attachments))
        case _:
            await store.set_metadata(current.id, {"changed": True}, "ann")


@given(st.lists(turns(), min_size=1, max_size=3), CHANGES)
@examples(10)
def test_an_export_is_recognized_everywhere_whatever_was_done_meanwhile(spoken, changes):
    async def run(folder):
        for name in ("here", "there"):
            copy_tables(folder / name / "showandtell.db")
        async with Store.at(folder / "here") as here, Store.at(folder / "there") as there:
            mine = await here.create("ann")
            await talk(mine, spoken)
            count = len(await mine.everything())
            old = await exported(here, mine, folder / "old.zip", "ann")
            assert counts(await import_once(here, old, "ann")) == (False, 0, count)
            copy = await import_once(there, old, "ann")
            assert counts(copy) == (True, count, 0)
            assert counts(await import_once(there, old, "ann")) == (False, 0, count)
            for kind, turn in changes:
                await change(here, mine, kind, turn)
            before = await state(here, mine, "ann")
            assert counts(await import_once(here, old, "ann")) == (False, 0, count)
            assert await state(here, mine, "ann") == before
            new = await exported(here, mine, folder / "new.zip", "ann")
            newer = await import_once(there, new, "ann")
            more = len(before[0]) - count
            assert (newer.conversation.id, *counts(newer)) == (copy.conversation.id, False, more, count)
            assert (await state(there, copy.conversation, "ann"))[0] == before[0]
            back = await exported(there, copy.conversation, folder / "back.zip", "ann")
            assert counts(await import_once(here, back, "ann")) == (False, 0, len(before[0]))
            assert counts(await import_once(here, back, "bob"))[0]
            assert counts(await import_once(here, new, "bob")) == (False, 0, len(before[0]))
            assert await state(here, mine, "ann") == before

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def two_messages(store, owner="local"):
    mine = await store.create(owner)
    await post(mine, user_draft("look", note("kiwi")))
    await post(mine, Draft("assistant", (Text("A kiwi."),), stop="end"))
    return mine


async def test_a_message_that_is_gone_comes_back_alone(store, tmp_path):
    mine = await two_messages(store)
    path = await exported(store, mine, tmp_path / "one.zip")
    first, last = mine.messages

    def drop(connection):
        connection.execute(delete(messages).where(messages.c.id == last.id))
        connection.execute(update(conversations).values(head=first.id, version=99))

    await store.database.write(drop)
    assert counts(await import_once(store, path)) == (False, 1, 1)
    again = await store.open(mine.id)
    assert [message.text for message in again.messages] == ["look", "A kiwi."]
    assert counts(await import_once(store, path)) == (False, 0, 2)


async def test_a_newer_export_continues_the_branch_that_is_shown(place, tmp_path):
    async with two_stores(place) as (one, _):
        mine = await two_messages(one)
        copy = (await import_once(one, await exported(one, mine, tmp_path / "1.zip"), "bob")).conversation
        await post(mine, user_draft("and this?", note("nut")))
        await post(mine, Draft("assistant", (Shown(1, mine.attachments[1].id), Text("A nut.")), stop="end"))
        added = await import_once(one, await exported(one, mine, tmp_path / "2.zip"), "bob")
        assert counts(added) == (False, 2, 2)
        found = await one.open(copy.id, "bob")
        assert [message.text for message in found.messages] == ["look", "A kiwi.", "and this?", "A nut."]
        assert found.file(2).read() == b"nut"


async def test_another_branch_is_added_beside_the_one_that_is_shown(store, tmp_path):
    mine = await two_messages(store)
    copy = (await import_once(store, await exported(store, mine, tmp_path / "1.zip"), "bob")).conversation
    await post(await store.open(copy.id, "bob"), user_draft("mine alone"))
    await mine.lead(None)
    await post(mine, user_draft("another beginning"))
    assert counts(await import_once(store, await exported(store, mine, tmp_path / "2.zip"), "bob")) == (False, 1, 2)
    found = await store.open(copy.id, "bob")
    assert [message.text for message in found.messages] == ["look", "A kiwi.", "mine alone"]
    assert len(await found.everything()) == 4


async def test_a_number_that_means_another_file_makes_a_copy_and_later_none(store, tmp_path):
    mine = await two_messages(store)
    copy = (await import_once(store, await exported(store, mine, tmp_path / "1.zip"), "bob")).conversation
    await post(await store.open(copy.id, "bob"), user_draft("mine", note("another second file")))
    await post(mine, user_draft("yours", note("the second file")))
    path = await exported(store, mine, tmp_path / "2.zip")
    assert counts(await import_once(store, path, "bob")) == (True, 3, 0)
    assert counts(await import_once(store, path, "bob")) == (False, 0, 3)
    assert len(await store.list("bob")) == 2


async def test_other_bytes_under_the_same_number_are_another_conversation(store, tmp_path):
    mine = await two_messages(store)
    path = await exported(store, mine, tmp_path / "1.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "2.zip", "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, b"nuts" if name.startswith("files/") else archive.read(name))
    assert counts(await import_once(store, tmp_path / "2.zip")) == (True, 2, 0)
    assert counts(await import_once(store, tmp_path / "2.zip")) == (False, 0, 2)
    assert (await store.open(mine.id)).file(1).read() == b"kiwi"


async def test_an_export_of_an_older_version_is_recognized_by_when_it_began(store, tmp_path):
    mine = await two_messages(store)
    path = await exported(store, mine, tmp_path / "1.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "2.zip", "w") as older:
        for name in archive.namelist():
            if name != "source.json":
                older.writestr(name, archive.read(name))
    imported = await import_once(store, tmp_path / "2.zip")
    assert (imported.conversation.id, *counts(imported)) == (mine.id, False, 0, 2)


@pytest.mark.parametrize("source", [b"no json", b'{"id": "../x"}', b'{"id": 1}', b"x" * 2000])
async def test_what_an_archive_says_about_its_origin_is_only_a_claim(store, tmp_path, source):
    mine = await two_messages(store)
    path = await exported(store, mine, tmp_path / "1.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "2.zip", "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, source if name == "source.json" else archive.read(name))
    assert counts(await import_once(store, tmp_path / "2.zip", "bob")) == (True, 2, 0)
    assert (await store.open(mine.id)).messages == mine.messages


async def test_nothing_is_added_while_an_answer_runs_and_what_is_here_is_recognized(place, tmp_path):
    async with place.store(terms=Terms(timeout=0.0)) as store:
        mine = await two_messages(store)
        old = await exported(store, mine, tmp_path / "1.zip")
        copy = (await import_once(store, old, "bob")).conversation
        await post(mine, user_draft("more"))
        new = await exported(store, mine, tmp_path / "2.zip")
        await write_row(store, **ELSEWHERE, lease_until=store.terms.clock() + 60)
        assert counts(await import_once(store, old, "bob")) == (False, 0, 2)
        with pytest.raises(Busy):
            await import_once(store, new, "bob")
        assert len((await store.open(copy.id, "bob")).messages) == 2
