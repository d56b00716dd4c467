"""fsck reads the database as a whole: damage is found, wherever it is, and leftovers of killed uploads are none."""

import asyncio
import random
import re
import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import text

from showandtell.storage.conversations.store import Store
from showandtell.storage.database.database import Database
from showandtell.storage.database.fsck import check_database, check_files
from support.postgres import postgresql_if_thorough, server
from support.stores import note, post, show, user_draft

pytestmark = pytest.mark.anyio

SECTOR = 512


async def fill(store):
    """Conversations with long and short messages and with files."""
    for number in range(6):
        conversation = await show(store, note(f"file {number}"), owner=f"user {number % 2}")
        for size in (20, 300, 6000):
            await post(conversation, user_draft(f"{number} " * size))


def contents(path):
    """All that the database says, or None if it can't be read."""
    try:
        with closing(sqlite3.connect(path)) as database:
            return [*database.iterdump()]
    except (sqlite3.Error, UnicodeDecodeError):
        return None


async def damage_of(path):
    return await check_database(Database(f"sqlite:///{path}"))


def oid(name):
    """The number of a PostgreSQL database, which is the name of its folder."""
    query = f"COPY (SELECT oid FROM pg_database WHERE datname = '{name}') TO STDOUT"  # noqa: S608 - our own name
    return re.search(r"\d+", server().psql(query))[0]


@pytest.fixture
async def original(tmp_path):
    """The file of a closed SQLite database."""
    async with Store.at(tmp_path / "data") as store:
        await fill(store)
        assert await store.fsck() == ()
    return tmp_path / "data" / "showandtell.db"


@pytest.mark.parametrize("size", [pytest.param(SECTOR, marks=pytest.mark.thorough), 4096])
async def test_noise_in_any_page_is_found_unless_nothing_reads_it(original, tmp_path, size):
    """What is not in use holds no data: an empty place in a page, or a free page."""
    whole, random_places, found = original.read_bytes(), random.Random(size), 0  # noqa: S311 - for tests
    before = contents(original)
    copy = tmp_path / "copy.db"
    places = range(0, len(whole), size)
    for place in random_places.sample(places, min(len(places), 60)):
        copy.write_bytes(whole[:place] + random_places.randbytes(size) + whole[place + size :])
        damage = await damage_of(copy)
        assert damage or contents(copy) == before, f"at {place}"
        assert {item.kind for item in damage} <= {"database"}
        found += bool(damage)
    assert found >= (15 if size == SECTOR else 50)


async def test_a_file_that_is_cut_or_no_database_is_damage(original, tmp_path):
    copy = tmp_path / "copy.db"
    for data in (original.read_bytes()[:-8192], original.read_bytes()[: 4096 + 100], b"noise" * 4096):
        copy.write_bytes(data)
        assert await damage_of(copy)


@postgresql_if_thorough
async def test_what_is_deleted_during_a_check_is_not_missing(place):
    async with place.store() as store:
        await fill(store)
        listed = [(owner, item.id) for owner in ("user 0", "user 1") for item in await store.list(owner)]

        async def delete_all():
            async with place.store() as other:
                for owner, conversation in listed:
                    await other.delete(conversation, owner)

        def after_the_first(step, *_):
            if step == "files" and thread.ident is None:
                thread.start()
                thread.join()

        thread = threading.Thread(target=asyncio.run, args=(delete_all(),))
        assert await check_files(store.database, store.blobs, progress=after_the_first) == ()
        assert await store.list("user 0") == ()


STATEMENTS = {
    "a record that is no JSON": (
        "UPDATE showandtell_messages SET record = 'x' || record",
        "table showandtell_messages has a damaged record",
    ),
    "a record of another kind": (
        "UPDATE showandtell_attachments SET record = '[]'",
        "table showandtell_attachments has a damaged record",
    ),
    "a step of a message": (
        "UPDATE showandtell_messages SET step = '{'",
        "table showandtell_messages has a damaged step",
    ),
    "more than anybody reads": (
        "UPDATE showandtell_messages SET record = '1'",
        "table showandtell_messages has 4 more damaged values",
    ),
}


@postgresql_if_thorough
@pytest.mark.parametrize("case", STATEMENTS)
async def test_records_that_can_not_be_decoded_are_damage(store, case):
    statement, words = STATEMENTS[case]
    await fill(store)
    await store.database.write(lambda connection: connection.execute(text(statement)))
    found = await store.fsck()
    assert any(item.problem.startswith(words) for item in found), found
    assert {item.kind for item in found} == {"database"}


async def test_rows_that_refer_to_nothing_are_damage(original):
    with closing(sqlite3.connect(original)) as database:
        database.execute("DELETE FROM showandtell_blobs")
        database.commit()
    assert {item.problem for item in await damage_of(original)} == {
        "table showandtell_attachments refers to a row that doesn't exist"
    }


@pytest.mark.parametrize("database", ["postgresql"])
@pytest.mark.parametrize("what", ["showandtell_messages", "uq_showandtell_messages_conversation_id_seq"])
async def test_postgresql_is_read_to_the_last_page_of_tables_and_indexes(place, what):
    async with place.store() as store:
        await fill(store)
        assert await store.fsck() == ()
        await store.database.write(lambda connection: connection.execute(text("CREATE EXTENSION amcheck")))
        assert await store.fsck() == ()
        ((number,),) = await store.database.read(text("SELECT pg_relation_filenode(:what)"), what=what)
        original = store.database.url.database
    damaged = f"{original}_damaged"
    server().psql(f"CREATE DATABASE {damaged} TEMPLATE {original} STRATEGY file_copy;")  # nothing of it is cached
    (data,) = server().pgdata.glob(f"base/{oid(damaged)}/{number}")
    data.write_bytes(data.read_bytes()[:-4096] + random.Random(1).randbytes(4096))  # noqa: S311 - for tests
    (found, *_) = await check_database(Database(server().get_uri(damaged)))
    assert found.problem.startswith("table showandtell_messages ")
    assert found.kind == "database"
