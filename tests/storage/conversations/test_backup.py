"""All conversations in one zip file, and back."""

import io
import json
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from showandtell import Draft, File, Store, Text
from showandtell.errors import BadConversation, BadInput
from showandtell.storage.conversations import organizing
from showandtell.storage.conversations.archive import is_backup
from showandtell.storage.conversations.backup import back_up, exports_in
from showandtell.storage.conversations.transfer import import_conversation
from support.fixtures import png

pytestmark = pytest.mark.anyio


async def add(store, text, *files, owner="local"):
    conversation = await store.create(owner)
    draft = Draft("user", (Text(text), *files))
    await conversation.record(draft, await conversation.probe(draft))
    return conversation


async def write_backup(store, path, owner="local"):
    path.write_bytes(b"".join([chunk async for chunk in back_up(store, owner)]))
    return path


async def test_everything_comes_back_with_titles_times_pins_archive_and_tags(tmp_path):
    async with Store.at(tmp_path / "one", clock=iter(range(1000, 9000)).__next__) as store:
        first = await add(store, "the first", File.from_bytes(png(), name="kiwi.png"))
        second = await add(store, "the second")
        await organizing.organize(
            store.database, first.id, "local", 5, title="Kiwis / 2026", pinned=True, tags=["a", "b"]
        )
        await organizing.organize(store.database, second.id, "local", 5, archived=True)
        before = [await each.read_details() for each in (first, second)]
        path = await write_backup(store, tmp_path / "all.zip")
    assert is_backup(path)
    async with Store.at(tmp_path / "two") as store:
        found = [await import_conversation(store, export.path) for export in exports_in(path)]
        assert [await each.read_details() for each in found] == before
        assert found[0].file(1).read() == png()


async def test_the_inner_files_are_named_by_number_and_title_and_open_by_themselves(tmp_path):
    async with Store.at(tmp_path / "one") as store:
        await add(store, "kiwi: «это» ../../x")
        with ZipFile(await write_backup(store, tmp_path / "all.zip")) as archive:
            (entry,) = archive.infolist()
            assert entry.filename == "conversations/0001 kiwi это .. .. x.zip"
            assert ZipFile(io.BytesIO(archive.read(entry))).namelist() == ["conversation.json", "source.json"]


async def test_a_backup_has_only_the_conversations_of_its_owner(tmp_path):
    async with Store.at(tmp_path / "one") as store:
        shared = await add(store, "of eve", owner="eve")
        await store.share(shared.id, "eve", "anna", "writer")
        await add(store, "of anna", owner="anna")
        with ZipFile(await write_backup(store, tmp_path / "all.zip", "anna")) as archive:
            assert archive.namelist() == ["conversations/0001 of anna.zip"]


async def test_a_conversation_that_is_deleted_meanwhile_is_left_out(tmp_path):
    async with Store.at(tmp_path / "one") as store:
        old, new = await add(store, "old"), await add(store, "new")
        done = []
        chunks = back_up(store, report=lambda *counts: done.append(counts))
        data = await anext(chunks)
        await store.delete(old.id)
        data += b"".join([chunk async for chunk in chunks])
        assert ZipFile(io.BytesIO(data)).namelist() == ["conversations/0001 new.zip"]
        assert done == [(1, 2), (2, 2)]
        assert new.id != old.id


async def test_an_empty_store_makes_an_empty_zip_file(tmp_path):
    async with Store.at(tmp_path / "one") as store:
        path = await write_backup(store, tmp_path / "all.zip")
    assert (is_backup(path), ZipFile(path).namelist()) == (False, [])


FOREIGN = {
    "another file": [("conversations/0001.zip", b"x", 0), ("readme.txt", b"x", 0)],
    "a path outside": [("conversations/0001.zip", b"x", 0), ("conversations/../../x.zip", b"x", 0)],
    "compressed": [("conversations/0001.zip", bytes(10_000_000), ZIP_DEFLATED)],
}


@pytest.mark.parametrize("case", FOREIGN)
def test_what_a_backup_never_contains_is_refused(tmp_path, case):
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, data, method in FOREIGN[case]:
            archive.writestr(name, data, method)
    with pytest.raises(BadConversation, match="which exports never contain"):
        list(exports_in(tmp_path / "all.zip"))


@pytest.mark.parametrize("cut", [1, 30, 200])
async def test_a_backup_that_broke_off_is_refused(tmp_path, cut):
    async with Store.at(tmp_path / "one") as store:
        await add(store, "kiwi")
        path = await write_backup(store, tmp_path / "all.zip")
    path.write_bytes(path.read_bytes()[:-cut])
    assert is_backup(path)
    with pytest.raises(BadConversation, match="is damaged"):
        list(exports_in(path))


async def test_a_key_of_an_import_is_checked_like_any_other(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text('{"version": 1, "messages": []}')
    async with Store.at(tmp_path / "one") as store:
        with pytest.raises(BadInput, match="can't have the key"):
            await import_conversation(store, path, key="")
        assert await store.list() == ()


INVALID = {
    "a long title": ({"title": "x" * 201}, "a title of 201 characters"),
    "a long tag": ({"tags": ["x" * 41]}, "a tag of 41 characters"),
    "many tags": ({"tags": [*map(str, range(21))]}, "21 tags"),
    "a time without its zone": ({"created": "2026-03-01T10:00:00"}, "timezone"),
    "unknown": ({"owner": "eve"}, "unknown field"),
}


@pytest.mark.parametrize("case", INVALID)
async def test_invalid_details_are_refused_and_leave_nothing(tmp_path, case):
    details, words = INVALID[case]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"version": 1, "messages": [], "details": details}))
    async with Store.at(tmp_path / "one") as store:
        with pytest.raises(BadConversation, match=words):
            await import_conversation(store, path)
        assert await store.list() == ()


async def test_times_in_the_future_and_before_1970_become_possible_ones(tmp_path):
    details = {"created": "0001-01-01T00:00:00Z", "changed": "9999-12-31T23:59:59-12:00"}
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"version": 1, "messages": [], "details": details}))
    async with Store.at(tmp_path / "one", clock=lambda: 1000.0) as store:
        await import_conversation(store, path)
        (found,) = await store.list()
        assert (found.created, found.changed) == (0.0, 1000.0)
