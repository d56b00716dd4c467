"""A store in a schema of its own, and with the connections of a program's own engine."""

import asyncio
import sqlite3

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool, StaticPool

from showandtell.errors import BadInput, StorageFailed
from showandtell.server.runs.notifications import Notifications
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.connect import read_url
from showandtell.storage.database.tables import metadata, revisions
from support.postgres import new_database
from support.stores import note, post, show, user_draft

pytestmark = pytest.mark.anyio

TABLES = text(
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
)
SCHEMAS = ["chat", 'Ours "and" theirs']


@pytest.fixture
def url(tmp_path):
    return new_database("postgresql", tmp_path)


@pytest.fixture
def engine(url):
    made = create_engine(read_url(url))
    yield made
    made.dispose()


def tables(engine):
    """All tables as (schema, name)."""
    with engine.connect() as connection:
        return {tuple(row) for row in connection.execute(TABLES)}


async def use(store):
    """Use most kinds of statements of a store."""
    conversation = await show(store, note("hello"))
    await post(conversation, user_draft("again"))
    assert [found.title for found in await store.list()] == ["look"]
    assert (await store.collect(grace=0)).blobs == 0
    assert await store.fsck() == ()
    await store.delete(conversation.id)
    assert await store.list() == ()


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_a_store_in_a_schema_has_its_tables_there_and_nowhere_else(schema, url, engine, tmp_path):
    for _ in range(2):  # made, and found again
        async with Store(url, tmp_path / "blobs", schema=schema) as store:
            await use(store)
    assert tables(engine) == {(schema, name) for name in (*metadata.tables, revisions.name)}


async def test_stores_in_two_schemas_of_a_database_do_not_see_each_other(url, tmp_path):
    async with (
        Store(url, tmp_path / "one") as one,
        Store(url, tmp_path / "two", schema="two") as two,
        Store(url, tmp_path / "three", schema="three") as three,
    ):
        await one.create(title="in one")
        await three.create(title="in three")
        listed = [[found.title for found in await store.list()] for store in (one, two, three)]
    assert listed == [["in one"], [], ["in three"]]


async def test_a_schema_without_rights_is_refused_and_nothing_is_made(url, engine, tmp_path):
    with engine.begin() as connection:
        name = connection.scalar(text("SELECT 'guest_' || current_database()"))
        connection.execute(
            text(f"CREATE ROLE {name} LOGIN; CREATE SCHEMA chat; REVOKE ALL ON SCHEMA public FROM PUBLIC")
        )
    guest = read_url(url).set(username=name)
    for schema in (None, "chat", "new"):
        with pytest.raises(StorageFailed, match=r"gives this user no right to do that .*showandtell db upgrade"):
            async with Store(guest, tmp_path / "blobs", schema=schema):
                pass
    assert tables(engine) == set()


@pytest.mark.parametrize("schema", ["", "x" * 64, "a\0b"])
def test_a_name_that_no_schema_can_have_is_refused(schema, url, tmp_path):
    with pytest.raises(BadInput, match="a schema can't be called"):
        Store(url, tmp_path, schema=schema)


def test_sqlite_has_no_schemas(tmp_path):
    with pytest.raises(BadInput, match="SQLite has no schemas"):
        Store.at(tmp_path, schema="chat")


@pytest.mark.parametrize("pool", [None, NullPool, StaticPool])
@pytest.mark.parametrize("schema", [None, "chat"])
async def test_a_store_connects_as_the_programs_engine_does_and_leaves_its_pool_alone(pool, schema, url, tmp_path):
    engine, used, connected = create_engine(read_url(url), poolclass=pool), [], []
    event.listen(engine, "connect", lambda connection, _: connected.append(connection))
    event.listen(engine, "begin", used.append)
    async with Store(engine, tmp_path / "blobs", schema=schema) as store:
        await use(store)
        (timeout,) = await store.database.read(text("SHOW statement_timeout"))
    assert connected
    assert all(connection.closed for connection in connected)
    assert not used
    assert timeout == ("7s",)
    with engine.connect() as connection:
        assert connection.scalar(text("SHOW statement_timeout")) == "0"
    engine.dispose()


async def test_a_password_that_only_the_engine_knows_is_enough(url, tmp_path):
    real = read_url(url)
    engine = create_engine("postgresql+psycopg://nobody@nowhere.invalid/nothing")

    @event.listens_for(engine, "do_connect")
    def connect(dialect, _record, _arguments, _options):
        arguments, options = dialect.create_connect_args(real)
        return dialect.connect(*arguments, **options)

    async with Store(engine, tmp_path / "blobs") as store:
        await use(store)
        assert store.database.name == "postgresql://nobody@nowhere.invalid/nothing"


async def test_a_worker_with_an_engine_hears_of_others_at_once(engine, tmp_path):
    stopped = asyncio.Event()
    async with Store(engine, tmp_path / "blobs") as store:
        notifications = Notifications(store.database, lambda _: stopped.set())
        await notifications.open()
        first = notifications.subscribe("run_1")
        await asyncio.wait_for(first.wait(), 60)  # it listens
        await runs.request_stop(store.database, "run_1")
        await asyncio.wait_for(stopped.wait(), 60)
        await notifications.close()


def closed_connection():
    """A connection of SQLite's driver."""
    connection = sqlite3.connect(":memory:")
    connection.close()
    return connection


OTHERS = {
    "SQLite": lambda _, folder: create_engine(f"sqlite:///{folder}/test.db"),
    "a connection": lambda *_: closed_connection(),
    "asyncio": lambda url, _: create_engine(read_url(url).set(drivername="postgresql+psycopg_async")),
}


@pytest.mark.parametrize("what", OTHERS)
def test_any_other_engine_is_refused_with_what_to_hand_in(what, url, tmp_path):
    with pytest.raises(BadInput, match=r"database.*: give a URL, or a sync Engine"):
        Store(OTHERS[what](url, tmp_path), tmp_path)
