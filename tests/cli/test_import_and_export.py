"""Small promises of a store that nothing else would notice if they broke: who may look, and what survives a power cut."""

import asyncio
import json
import zipfile
from dataclasses import replace

import pytest

from showandtell import File, NotFound
from showandtell.cli.transcript import transcript
from showandtell.core.messages.derivations import DerivationRequest, Failed
from showandtell.errors import BadConversation, StorageFailed
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.transfer import export_conversation, import_conversation
from showandtell.storage.files.conversation_file import load
from support.fixtures import png
from support.stores import post, user_draft


def in_store(folder, work):
    async def go():
        async with Store.at(folder) as store:
            return await work(store)

    return asyncio.run(go())


def test_the_data_folder_is_for_its_owner_alone(tmp_path):
    in_store(tmp_path / "data", lambda store: store.create())
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data" / "showandtell.db").stat().st_mode & 0o077 == 0


def test_a_reader_opens_what_was_shared_without_asking_for_a_right(tmp_path):
    async def work(store):
        conversation = await store.create("anna")
        await store.share(conversation.id, "anna", "bob", "reader")
        return (await store.open(conversation.id, "bob")).id == conversation.id

    assert in_store(tmp_path, work)


def test_a_folder_of_blobs_that_can_not_be_read_is_reported(tmp_path, monkeypatch):
    async def work(store):
        monkeypatch.setattr("os.scandir", refuse)  # root may read any folder
        with pytest.raises(StorageFailed, match="Permission denied"):
            await store.fsck()

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    in_store(tmp_path, work)


def test_sqlite_waits_for_the_disk_with_every_transaction(tmp_path):
    async def work(store):
        return await store.database.write(
            lambda connection: [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in SETTINGS]
        )

    assert in_store(tmp_path, work) == [*SETTINGS.values()]


#: FULL is 2: NORMAL loses acknowledged rows at a power cut.
SETTINGS = {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1}


@pytest.mark.parametrize("deed", ["learn", "forget", "everything", "probe"])
def test_whose_right_was_taken_back_can_do_nothing_more(tmp_path, deed):
    want = DerivationRequest("0" * 64, "text")

    async def work(store):
        conversation = await store.create("anna")
        await store.share(conversation.id, "anna", "bob", "writer")
        of_bob = await store.open(conversation.id, "bob", "writer")
        await store.share(conversation.id, "anna", "bob", None)
        given = {
            "learn": ({want: Failed("no")},),
            "forget": ([want],),
            "everything": (),
            "probe": (user_draft("x", KIWI),),
        }
        with pytest.raises(NotFound):
            await getattr(of_bob, deed)(*given[deed])

    in_store(tmp_path, work)


KIWI = File.from_bytes(png(), name="kiwi.png")


def test_an_export_holds_what_others_wrote_meanwhile(tmp_path):
    async def work(store):
        mine = await store.create()
        await post(await store.open(mine.id), user_draft("from elsewhere", KIWI))
        await export_conversation(mine, tmp_path / "talk.zip")
        return await import_conversation(store, tmp_path / "talk.zip")

    assert [message.text for message in in_store(tmp_path / "data", work).messages] == ["from elsewhere"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_packed_in_another_way_than_ours_is_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "talk.zip", "w", method) as archive:
        archive.writestr("conversation.json", '{"version":1,"messages":[]}')

    async def work(store):
        with pytest.raises(BadConversation):
            await import_conversation(store, tmp_path / "talk.zip")

    in_store(tmp_path / "data", work)


def test_an_export_says_who_wrote_what_and_who_shared_a_file(tmp_path):
    async def work(store):
        conversation = await store.create()
        file = replace(File.from_bytes(png(), name="chart.png"), shared_by="Carol")
        await post(conversation, replace(user_draft("look", file), author="Ann"))
        await post(conversation, user_draft("alone"))
        await export_conversation(conversation, tmp_path / "talk.zip")
        again = await import_conversation(store, tmp_path / "talk.zip")
        return [message.author or None for message in again.messages], [*transcript(again)]

    authors, lines = in_store(tmp_path / "data", work)
    assert authors == ["Ann", None]
    assert [line for line in lines if "look" in line or "alone" in line] == ["Ann: look", "you: alone"]
    assert 'chart.png (image/png, 77 bytes), from a conversation shared by "Carol"' in "\n".join(lines)


def test_a_name_in_a_conversation_file_is_cleaned_like_any_other(tmp_path):
    record = {"role": "user", "parts": [{"type": "text", "text": "hi"}], "author": "A\u202en⟧n\n@"}
    file = tmp_path / "talk.json"
    for author, expected in ((record["author"], None), ("A\u202enn ⟦x⟧", "Ann (x)")):
        file.write_text(json.dumps({"version": 1, "messages": [record | {"author": author}]}))
        assert [draft.author for draft in load(file)] == [expected]
