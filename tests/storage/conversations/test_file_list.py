"""Finding files: in searches of conversations, and in the list of all files with their places and the storage used."""

import datetime as dt
from typing import get_args

import pytest
from sqlalchemy import update

from showandtell.core.media_types.kinds import DOCUMENTS, TEXTS, kind_of
from showandtell.core.messages.file import File
from showandtell.errors import BadInput
from showandtell.storage.conversations.file_list import Sort, list_files, select_files, storage_use
from showandtell.storage.conversations.library import list_conversations
from showandtell.storage.conversations.search import FileFilter, Search
from showandtell.storage.database.quotas import Account, Quotas
from showandtell.storage.database.tables import attachments
from support.fixtures import pdf, png
from support.postgres import on_sqlite, postgresql_if_thorough
from support.stores import check_not_found, note, post, show, user_draft

pytestmark = pytest.mark.anyio
KINDS = ("image", "document", "audio", "video", "text", "other")
HOSTILE_NAMES = ["<img src=x onerror=alert(1)>.png", "100%_done!.png", "ÄRGER in Łódź.png", "a\"b'c.png", "ΌΔΟΣ.png"]
#: 1 June in Berlin.
EVENING = dt.datetime(2026, 5, 31, 22, 30, tzinfo=dt.UTC)


def image(name, width=16):
    return File.from_bytes(png(width, 9), name=name)


async def matches(store, search, owner="ann"):
    page = await list_conversations(store.database, owner, search)
    return {conversation.id: conversation.match for conversation in page.conversations}


async def names(store, search=Search(), owner="ann", **asked):  # noqa: B008 - it can't be changed
    page = await list_files(store.database, owner, search, **asked)
    return [file.attachment.name for file in page.files], page.next


async def test_a_search_says_where_the_words_are(store):
    conversation = await store.create("ann", title="Invoices of May")
    await post(
        conversation, user_draft("what is in it, and how much is " * 9, image("chart-may.png"), note("x", "b.txt"))
    )
    await post(conversation, user_draft("of total costs, may I ask? " * 20))
    match = (await matches(store, Search("may")))[conversation.id]
    assert (match.title, [file.name for file in match.files], match.more_files) == (True, ["chart-may.png"], 0)
    assert match.message.startswith("of total costs, may I ask?")
    assert match.message.endswith("…")
    assert len(match.message) <= 162
    assert (await matches(store, Search("much")))[conversation.id].message.startswith("what is in it")


async def test_a_search_for_a_kind_or_a_day_finds_files(store):
    one = await show(store, image("a.png"), note("plain", "a.txt"), owner="ann")
    other = await show(store, File.from_bytes(pdf("1"), name="b.pdf"), owner="ann")
    assert set(await matches(store, Search(kind="image"))) == {one.id}
    assert set(await matches(store, Search("b", "document"))) == {other.id}
    assert await matches(store, Search("a", "document")) == {}
    today = dt.datetime.now(dt.UTC).date()
    assert set(await matches(store, Search(since=today, until=today))) == {one.id, other.id}
    assert await matches(store, Search("a", until=today - dt.timedelta(2))) == {}
    assert await matches(store, Search(kind="image"), owner="bob") == {}


async def test_a_period_of_moments_has_the_files_that_were_used_in_it(store, clock):
    clock.now = EVENING.timestamp()
    conversation = await show(store, image("evening.png"), owner="ann")
    await store.database.write(lambda connection: connection.execute(update(attachments).values(date="2026-05-31")))
    hour, night = dt.timedelta(hours=1), dt.timedelta(hours=5)
    for since, until, is_found in (
        (EVENING - hour, EVENING + night, True),
        (EVENING + hour, EVENING + night, False),
        (EVENING - night, EVENING - hour, False),
        (EVENING.date(), EVENING + hour, True),
        (EVENING - dt.timedelta(days=2), EVENING + dt.timedelta(days=2), True),
        (dt.datetime.min.replace(tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC), True),
    ):
        search = Search(since=since, until=until)
        assert set(await matches(store, search)) == ({conversation.id} if is_found else set()), search
        assert (await names(store, search))[0] == (["evening.png"] if is_found else []), search


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_files_are_found_by_any_part_of_their_names_in_either_case(store, name):
    conversation = await show(store, image("other.png"), image(name, 20), owner="ann")
    stored = conversation.attachments[2].name
    for word in stored.split():
        for asked in (word, word.lower(), word.upper()):
            found = await names(store, Search(asked))
            assert found[0] == [stored] or (stored in found[0] and word in ".png")
            assert conversation.id in await matches(store, Search(asked))
    assert (await names(store, Search("%%%")))[0] == []


async def test_the_kind_in_the_database_is_that_of_the_media_type(store):
    types = [*DOCUMENTS, *TEXTS, "image/svg+xml", "image/png", "audio/wav", "video/mp4", "text/csv", "font/woff", "x/y"]
    await show(store, *(File.from_bytes(b"%d" % n, name=f"{n}.bin") for n in range(len(types))), owner="ann")
    await set_types(store, types)
    for kind in KINDS:
        found, _ = await names(store, Search(kind=kind), limit=1000)
        assert {types[int(name.partition(".")[0])] for name in found} == {
            each for each in types if kind_of(each) == kind
        }


async def set_types(store, types):
    """Change the media types of a conversation's files, in order."""

    def transaction(connection):
        for number, media_type in enumerate(types, 1):
            change = update(attachments).where(attachments.c.number == number).values(media_type=media_type)
            connection.execute(change)

    await store.database.write(transaction)


async def test_equal_bytes_are_one_file_with_all_of_its_places(store):
    one = await show(store, image("first.png"), owner="ann")
    other = await show(store, note("x", "note.txt"), image("again.png"), owner="ann")
    await show(store, image("of bob.png"), owner="bob")
    page = await list_files(store.database, "ann", Search(kind="image"))
    (file,) = page.files
    assert file.attachment.name in {"first.png", "again.png"}
    assert {(place.conversation_id, place.number) for place in file.places} == {(one.id, 1), (other.id, 2)}
    assert (await names(store, Search("first")))[0] == ["first.png"]
    assert (await names(store, Search("again")))[0] == ["again.png"]


@pytest.mark.parametrize("sort", ["newest", "oldest", "largest", "smallest", "name"])
async def test_a_list_of_files_goes_on_where_it_ended_and_gives_each_once(store, sort):
    for part in range(3):
        await show(
            store, *(note("x" * (5 * part + number), f"{part}-{number}.txt") for number in range(1, 5)), owner="ann"
        )
    whole = (await names(store, sort=sort))[0]
    seen, before = [], None
    while not seen or before:
        some, before = await names(store, sort=sort, limit=5, before=before)
        seen += some
    assert seen == whole
    assert len({*whole}) == 12
    sizes = [int(name[0]) * 5 + int(name[2]) for name in whole]
    assert sort in {"newest", "oldest"} or sizes == sorted(sizes, reverse=sort == "largest")


async def test_files_are_sorted_by_name_in_either_case(store):
    await show(store, note("1", "b.txt"), note("2", "C.txt"), note("3", "A.txt"), image("a.txt.png"), owner="ann")
    assert (await names(store, sort="name"))[0] == ["A.txt", "a.txt.png", "b.txt", "C.txt"]


@postgresql_if_thorough
async def test_files_of_a_day_are_listed_in_the_order_in_which_they_were_added(store):
    added = [f"{number}.txt" for number in range(6)]
    for name in added:
        await show(store, note(name, name), owner="ann")
    assert (await names(store))[0] == added[::-1]
    assert (await names(store, sort="oldest"))[0] == added


@on_sqlite
async def test_a_page_reads_the_equal_files_of_each_in_order_and_not_all_newer_ones(store):
    wanted = FileFilter.of(Search())
    for sort in get_args(Sort):
        for is_first in (True, False):
            query = select_files(wanted, sort, is_first=is_first).compile(store.database.engine)
            plan = await store.database.write(lambda tables, query=query: explain(tables, query))
            assert not [step for step in plan if "TEMP B-TREE" in step]
            assert [step for step in plan if "SEARCH other" in step] == [
                f"SEARCH other USING INDEX ix_showandtell_attachments_equal (owner=? AND sha256=? AND {rest})"
                for rest in ("added>?", "added=? AND conversation_id>?")
            ]


def explain(connection, query):
    """The steps of SQLite's plan for a query."""
    values = tuple(query.params[name] or "" for name in query.positiontup)
    return [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", values)]


async def test_deleted_files_are_gone_from_lists_and_from_the_storage_used(store):
    conversation = await show(store, note("x" * 100, "a.txt"), note("y" * 50, "b.txt"), owner="ann")
    account = Account("ann", Quotas(owner=1000), store.terms.clock)
    before = await storage_use(store.database, account)
    assert (before.bytes, before.limit, before.files, before.conversations) == (150, 1000, 2, 1)
    await store.delete_file(conversation, 1)
    after = await storage_use(store.database, account)
    assert (after.bytes, after.files) == (50, 1)
    assert (await names(store))[0] == ["b.txt"]
    assert await matches(store, Search("a.txt")) == {}


async def test_files_of_others_are_in_no_list(store):
    conversation = await show(store, image("mine.png"), owner="ann")
    await store.share(conversation.id, "ann", "bob", "writer")
    assert await names(store, owner="bob") == ([], None)
    assert await names(store, owner="bob", before=conversation.attachments[1].id) == ([], None)
    await check_not_found(list_files(store.database, "ann", before="att_x"))
    with pytest.raises(BadInput):
        await list_files(store.database, "ann", limit=0)
