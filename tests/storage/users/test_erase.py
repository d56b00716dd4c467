"""All that is stored of a person is deleted: every row, every byte, and what they leave in the database's files."""

import pytest
from sqlalchemy import func, select

from showandtell import Draft, Text
from showandtell.errors import NotFound, StorageFailed
from showandtell.storage.conversations.users import remember
from showandtell.storage.database.ownership import belongs, place_of
from showandtell.storage.database.tables import Place, known, metadata, runs, shares
from showandtell.storage.users.erase import erase, find_belongings, list_copies
from showandtell.storage.users.listing import list_users
from support.planted import Garden, bytes_of
from support.postgres import kill_after, postgresql_if_thorough
from support.stores import note, post, show

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_every_table_says_whose_its_rows_are(table):
    is_servers = place_of(table) is Place.SERVER
    assert (belongs(table) is None) == is_servers, "mark the column with the person, or its foreign key with CASCADE"
    named = [column for column in table.c if column.name in {"owner", "user_id", "user"}]
    assert all("person" in column.info for column in named)


async def test_no_word_of_a_person_is_left_in_any_table_or_file(place, store):
    garden = Garden(store)
    for person in ("local", "bob"):
        await garden.plant(person)
    await store.delete((await show(store, note(garden.word("local", "a file deleted before")))).id)
    assert await garden.in_tables("local") | garden.in_files("local", place.folder) >= garden.places("local")
    untouched = await garden.rows_of("bob"), bytes_of("bob", place.folder)
    async with place.store() as server:  # another process
        await server.list("bob")
        await erase(server, "local")
    assert await garden.in_tables("local") | garden.in_files("local", place.folder) == set()
    assert (await garden.rows_of("bob"), bytes_of("bob", place.folder)) == untouched


async def test_what_a_killed_upload_has_left_goes_too(store, monkeypatch):
    await remember(store.database, "ann", "Ann", 1.0)
    upload = store.blobs.for_owner("ann").receive("a.txt", 100)
    upload.write(b"half of a letter")
    monkeypatch.setattr("showandtell.storage.users.erase.SPOOL_SECONDS", -1.0)
    assert store.blobs.count_spools() == 1
    await erase(store, "ann")
    assert store.blobs.count_spools() == 0
    upload.discard()


async def test_what_they_wrote_in_conversations_of_others_stays_and_is_counted(store):
    await remember(store.database, "ann", "Ann", 1.0)
    theirs = await store.create("bob")
    await store.share(theirs.id, "bob", "ann", "writer")
    await post(await store.open(theirs.id, "ann"), Draft("user", (Text("from Ann"),), author="Ann"))
    await post(await store.open(theirs.id, "bob"), Draft("user", (Text("from Bob"),), author="Bob"))
    assert (await find_belongings(store, "ann")).written == 1
    assert await erase(store, "ann") == {"users": 1, "shares": 1}
    assert [message.text for message in (await store.open(theirs.id, "bob")).messages] == ["from Ann", "from Bob"]


async def test_what_others_have_in_their_conversations_goes_with_these(store):
    mine = await show(store, note("kiwi"), owner="ann")
    await store.share(mine.id, "ann", "bob", "reader")
    deleted = await erase(store, "ann")
    assert deleted == {"conversations": 1, "messages": 1, "attachments": 1, "blobs": 1, "shares": 1}
    assert await store.database.read(select(func.count()).select_from(shares)) == [(0,)]
    with pytest.raises(NotFound):
        await store.open(mine.id, "bob")


@pytest.mark.parametrize("user", ["nobody", "", "Ann"])
async def test_somebody_of_whom_nothing_is_stored_is_an_error(store, user):
    await remember(store.database, "ann", "Ann", 1.0)
    with pytest.raises(NotFound, match="showandtell users list"):
        await find_belongings(store, user)


@postgresql_if_thorough
@pytest.mark.parametrize("statements", [0, 3, 9, 30])
async def test_a_deletion_that_was_killed_can_be_run_again(place, store, statements):
    garden = Garden(store)
    await garden.plant("ann")
    async with place.store() as dying:
        kill_after(dying.database, statements)
        with pytest.raises(StorageFailed, match="killed"):
            await erase(dying, "ann")
    assert (await find_belongings(store, "ann")).rows
    await erase(store, "ann")
    assert await garden.in_tables("ann") | garden.in_files("ann", place.folder) == set()


async def test_running_answers_are_asked_to_stop_and_have_some_time(store, clock):
    garden = Garden(store)
    await garden.plant("ann")
    await store.database.write(lambda connection: connection.execute(runs.update().values(state="running")))
    before = clock()
    await erase(store, "ann")
    assert clock() - before == pytest.approx(10)


async def test_all_people_are_listed_with_what_they_have(store):
    await remember(store.database, "ann", "Ann", 5.0)
    await show(store, note("twelve bytes"), owner="ann")
    await show(store, note("kiwi"), owner="telegram:1")
    found = [(one.id, one.name, one.seen, one.conversations, one.bytes) for one in await list_users(store.database)]
    assert found == [("ann", "Ann", 5.0, 1, 12), ("telegram:1", None, None, 1, 4)]


async def test_copies_at_providers_are_known_before_also_beside_a_damaged_record(store):
    garden = Garden(store)
    await garden.plant("ann")
    [(_, copy)] = await list_copies(store.database, "ann")
    assert garden.words["ann"][copy.file_id] == "known.record"
    await store.database.write(lambda connection: connection.execute(known.update().values(record="no JSON")))
    assert await list_copies(store.database, "ann") == ()
    await erase(store, "ann")
