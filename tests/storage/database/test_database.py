"""The database itself: migrations, its errors, files that vanish, URLs that show no password."""

import asyncio
import gc
import re
import threading

import pytest
from sqlalchemy import event, insert, select, text

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, Busy, StorageFailed, StorageFull
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import HEAD, conversations, messages, metadata, revisions
from support.commandline import spawn
from support.folder_copies import FolderCopies
from support.postgres import kill_after, new_database, on_sqlite
from support.stores import Place, post, user_draft

pytestmark = pytest.mark.anyio


async def test_the_migrated_schema_is_that_of_the_tables(place):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def differences(connection):
        options = {"compare_type": True, "version_table": revisions.name}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with place.store() as store:
        assert await store.database.write(differences) == []
        assert await store.database.read(text("SELECT version_num FROM showandtell_version")) == [(HEAD,)]


def test_a_migration_that_is_killed_at_any_statement_leaves_the_old_or_the_new(tmp_path):
    snapshot = FolderCopies(tmp_path / "live", tmp_path)

    async def migrate():
        (tmp_path / "live").mkdir()
        database = Database(f"sqlite:///{tmp_path}/live/test.db")
        event.listen(database.engine, "after_cursor_execute", snapshot)
        await database.open()
        await database.close()

    async def use(folder):
        async with Store(f"sqlite:///{folder}/test.db", folder / "blobs") as store:
            await post(await store.create(), user_draft("works"))
            return len(await store.list())

    asyncio.run(migrate())
    assert snapshot.taken > len(metadata.tables)
    assert [asyncio.run(use(folder)) for folder in snapshot.folders] == [1] * len(snapshot.folders)


def test_a_migration_of_postgresql_is_done_or_not(tmp_path):
    url = new_database("postgresql", tmp_path)

    async def migrate(statements):
        database = Database(url)
        kill_after(database, statements)
        try:
            await database.open()
        except StorageFailed:
            return [row[0] for row in await peek(url)]
        finally:
            await database.close()
        return None

    async def peek(url):
        database = Database(url)
        with database.engine.connect() as connection:
            rows = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).all()
        await database.close()
        return rows

    left = [asyncio.run(migrate(statements)) for statements in range(0, 90, 3)]
    assert left[0] == []
    assert None in left
    tables = {*metadata.tables, revisions.name}  # all of them, once the migration is done
    assert all(item is None or {*item} in (set(), tables) for item in left)


def test_programs_that_start_at_once_migrate_once(database, tmp_path):
    place, failed = Place(database, tmp_path), []

    async def start():
        async with place.store() as store:
            await store.create()

    def work():
        try:
            asyncio.run(start())
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert failed == []


def test_a_database_that_does_not_answer_is_named_without_its_password(tmp_path):
    async def run(url):
        async with Store(url, tmp_path / "blobs"):
            pass

    with pytest.raises(StorageFailed) as received:
        asyncio.run(run("postgresql://ann:geheim@127.0.0.1:1/history"))
    assert "postgresql://ann:***@127.0.0.1:1/history" in str(received.value)
    assert "geheim" not in str(received.value)
    with pytest.raises(StorageFailed, match="unable to open"):
        asyncio.run(run(f"sqlite:///{tmp_path}/no/such/folder/test.db"))


@pytest.mark.parametrize("url", ["mysql://ann:geheim@host/name", "sqlite://", "sqlite:///:memory:", "history.db", ""])
def test_a_url_that_names_no_database_is_refused_with_what_to_write(url, tmp_path):
    with pytest.raises(BadInput, match=re.escape("write sqlite:///path/to/file.db, or postgresql://")) as received:
        Store(url, tmp_path)
    assert "geheim" not in str(received.value)


SECRETS = (
    "postgresql://127.0.0.1:1/name?user=ann&password=geheim",
    "postgresql://ann:geheim@127.0.0.1:1/name?sslpassword=geheim",
    "postgresql://ann:geheim@127.0.0.1:1/name?bogus=1",
    "postgresql://ann:geheim@127.0.0.1:port/name",
    "postgresql://ann:x@geheim:5@127.0.0.1:1/name",
    "postgresql://ann:@geheim@127.0.0.1:1/name",
    "sqlite:///history.db?password=geheim",
    "sqlite://ann:geheim@host/history.db",
)


@pytest.mark.parametrize("url", SECRETS)
def test_no_error_shows_a_password_that_stands_anywhere_in_a_url(url, tmp_path):
    async def run():
        async with Store(url, tmp_path / "blobs"):
            pass

    with pytest.raises((BadInput, StorageFailed)) as received:
        asyncio.run(run())
    assert "geheim" not in str(received.value)


@pytest.mark.parametrize(("query", "idle"), [("", "5"), ("?keepalives_idle=7", "7")])
async def test_a_connection_to_postgresql_learns_when_nobody_is_there_any_more(query, idle, tmp_path):
    url = new_database("postgresql", tmp_path)
    database = Database(url + (query if "?" not in url else query.replace("?", "&")))
    with database.engine.connect() as connection:
        known = connection.connection.driver_connection.info.get_parameters()
    await database.close()
    assert (known["keepalives_idle"], known["tcp_user_timeout"]) == (idle, "8000")


WRONG = {
    "a double": insert(conversations).from_select(["id"], select(conversations.c.id)),
    "no such table": text("SELECT secret_column FROM no_such_table"),
    "no statement": text("SELEKT secret_column"),
}


@pytest.mark.parametrize("what", WRONG)
async def test_whatever_a_database_refuses_is_reported_without_the_statement(store, what):
    await store.create()
    with pytest.raises(StorageFailed, match=r"rejected a statement|does not answer") as received:
        await store.database.write(lambda connection: connection.execute(WRONG[what]))
    assert not re.search("secret_column FROM|INSERT", str(received.value))
    assert "sqlalchemy" not in type(received.value.__cause__).__module__
    with pytest.raises(StorageFailed):
        await store.database.read(WRONG["no such table"])


async def test_another_process_that_closes_last_leaves_the_log_of_an_open_database_alone(tmp_path):
    """A second store in this process must not give up the first one's lock on the file."""
    async with Store.at(tmp_path) as store:
        async with Store.at(tmp_path):
            pass
        log = (tmp_path / "showandtell.db-wal").stat().st_ino
        assert (await asyncio.to_thread(spawn, tmp_path, "list", "--data", str(tmp_path))).returncode == 0
        assert (tmp_path / "showandtell.db-wal").stat().st_ino == log
        await store.create()


async def test_nothing_is_written_to_a_log_that_was_deleted(tmp_path):
    async with Store.at(tmp_path) as store:
        (tmp_path / "showandtell.db-wal").unlink()
        with pytest.raises(StorageFailed, match="deleted or replaced"):
            await store.create()


@pytest.mark.parametrize("what", ["deleted", "replaced"])
async def test_nothing_is_written_to_a_file_that_was_deleted_or_replaced(what, tmp_path):
    async with Store.at(tmp_path) as store:
        conversation = await store.create()
        await post(conversation, user_draft("one"))
        for path in tmp_path.glob("showandtell.db*"):
            path.unlink()
        if what == "replaced":
            (tmp_path / "showandtell.db").touch()
        with pytest.raises(StorageFailed, match="deleted or replaced"):
            await post(conversation, user_draft("two"))
        assert [message.text for message in conversation.messages] == ["one"]
    assert what == "replaced" or not [*tmp_path.glob("showandtell.db*")]


async def test_a_file_is_found_again_wherever_the_program_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with Store("sqlite:///history.db", tmp_path / "blobs") as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        await post(await store.create(), user_draft("one"))
    assert (tmp_path / "history.db").is_file()
    assert not [*(tmp_path / "elsewhere").iterdir()]


async def hold(store):
    """A writer that has the database until its gate is opened."""
    has, gate = threading.Event(), threading.Event()
    holding = asyncio.create_task(store.database.write(lambda _: has.set() or gate.wait(60)))
    await asyncio.to_thread(has.wait, 10)
    return holding, gate


async def together(store, *works):
    """What becomes of works that all wait while another one holds the database, and how many transactions that takes."""
    begun, (holding, gate) = [], await hold(store)
    event.listen(store.database.engine, "begin", begun.append)
    others = [asyncio.create_task(store.database.write(work)) for work in works]
    await asyncio.sleep(0)
    gate.set()
    await holding
    return await asyncio.gather(*others, return_exceptions=True), len(begun)


def store_title(title, error=None):
    def work(connection):
        row = {"owner": "local", "title": title, "next_seq": 0, "version": 0, "created": 1.0, "changed": 1.0}
        connection.execute(insert(conversations), {**row, "id": new_id("conv")})
        if error is not None:
            raise error
        return title

    return work


@on_sqlite
async def test_writers_that_wait_are_stored_at_once_and_one_that_fails_undoes_itself_alone(store):
    works = store_title("one"), store_title("two", Busy("no")), store_title("three")
    (one, two, three), begun = await together(store, *works)
    assert (one, type(two), three) == ("one", Busy, "three")
    assert begun == 2  # again, because one of them failed
    assert sorted(found.title for found in await store.list()) == ["one", "three"]


@on_sqlite
async def test_where_sqlite_gives_up_a_transaction_no_writer_in_it_takes_it_for_stored(store):
    def give_up(connection):
        connection.exec_driver_sql("ROLLBACK")  # as it does by itself where the disk is full
        raise StorageFull("the disk is full")

    received, _ = await together(store, store_title("one"), give_up, store_title("three"))
    assert all(isinstance(item, StorageFailed) for item in received)
    assert await store.list() == ()
    await store.create(title="works again")


@on_sqlite
async def test_a_writer_that_is_cancelled_while_it_waits_is_stored_or_not_and_harms_nobody(store):
    first, gate = await hold(store)
    second, third = (asyncio.create_task(store.database.write(store_title(item))) for item in ("two", "three"))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    assert [type(item) for item in await asyncio.gather(first, second, third, return_exceptions=True)] == [
        bool,
        asyncio.CancelledError,
        str,
    ]
    assert "three" in {found.title for found in await store.list()}


@on_sqlite
async def test_statements_that_are_made_anew_do_not_pile_up(store):
    for number in range(50):
        await store.database.read(select(messages.c.id).where(messages.c.seq == number))
    gc.collect()
    assert len(store.database._compiled) < 10
