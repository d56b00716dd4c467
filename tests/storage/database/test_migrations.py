"""Databases that older programs wrote: one of each revision lies in tests/databases, and opens with what is in it."""

import asyncio
import hashlib
import re
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, inspect, select, text

from showandtell.errors import BadInput, Busy, StorageFailed
from showandtell.storage.conversations.store import Store
from showandtell.storage.database import migrations
from showandtell.storage.database.connect import read_url
from showandtell.storage.database.database import Database
from showandtell.storage.database.migrations import carry_over
from showandtell.storage.database.tables import HEAD, metadata, revisions
from showandtell.storage.database.upgrade import OLD_SCRIPTS, SCRIPTS, make_config, run_alembic, write_sql
from support.folder_copies import FolderCopies
from support.paths import TESTS
from support.postgres import each_database, kill_after, new_database, postgresql_if_thorough

SAMPLES = TESTS / "databases"
#: Databases that these revisions have made exist: they are never changed.
FROZEN = {
    "carry_over.py": "f9d46685757efd23182e616cf9dc094b076d3d59ee8a15629aae30a8c4b4f9c8",
    "versions/first.py": "cc284698e4db9972a7e167d756f9054adb568ff99a6469d69a15259e8d5e7f2b",
    "versions/chat.py": "a43fcd250b9ef2c54ae67494ee741e52b7de027f21ee6aadc37b1273b23a1f12",
    "versions/accounts.py": "4c1232235cf5144158869f6b1abf86023bd5bdbf0f3d5923e3f0831ebe981245",
    "versions/settings_of_runs.py": "f6d15e3298bf01168ad820b3425a7060b3decec6221ea21441f31c6594665d10",
    "prefixed/versions/first_prefixed.py": "185783a39f7369a46e855dc690f3b3996645d200d891fef8e8dc123623313fb8",
    "prefixed/versions/metadata_of_conversations.py": "0765d313b6e9829ff88eee5f1b8f65d398a7c3af893b4ab7e2c88abff7d2b279",
    "prefixed/versions/provider_keys.py": "28080d33ff72a58089db025e745a9a2c6ac73d74697c744c7babb51f20d967bb",
    "prefixed/versions/pins_tags_and_files.py": "4c02984d67a7affeaa66c006d1927517002733a62cef33252203c45d4da75704",
    "prefixed/versions/presets.py": "76be7fa1e3c27a06f7dd5c26130d396f6271793a5d6213bda27f7bd0ee6ca528",
    "prefixed/versions/order_of_files.py": "8203da12b16c7ec782b25ae36a985fdebaafad41152a45e8a9629855bfa2d100",
    "prefixed/versions/pending_messages.py": "036f113ee0c45121d21a562db2df50e3398196a70f26c653c57e0ee367103b24",
}
NEW = "dump one of it, as the first lines of the others say, before the next revision is written"
SET_BEAT = (
    "UPDATE runs SET state = 'running', status = NULL, ended = NULL, beat = {} WHERE id = (SELECT min(id) FROM runs)"
)


def revisions_of(scripts):
    """The ids of all revisions in a folder, the newest first."""
    return [revision.revision for revision in ScriptDirectory.from_config(make_config(scripts)).walk_revisions()]


OLD, PREFIXED = revisions_of(OLD_SCRIPTS), revisions_of(SCRIPTS)
each_revision = pytest.mark.parametrize("revision", [*OLD, *PREFIXED])
each_old_revision = pytest.mark.parametrize("revision", [OLD[-1], pytest.param(OLD[0], marks=pytest.mark.thorough)])


def make_old(database, folder, revision):
    """The URL of a database of a revision."""
    url = new_database(database, folder)
    sample = (SAMPLES / f"{revision}.sql").read_text()
    if database == "sqlite":
        with closing(sqlite3.connect(folder / "test.db")) as connection, connection:
            connection.executescript(sample)
        connection.close()
        return url
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        run_alembic(OLD_SCRIPTS if revision in OLD else SCRIPTS, revision, connection=connection)
        connection.execute(text("SET session_replication_role = replica"))  # rows in any order
        for row in re.findall(r"^INSERT INTO (?!\"\w*version\").*;$", sample, re.MULTILINE):
            connection.exec_driver_sql(row.replace("%", "%%"))
    engine.dispose()
    return url


def execute(url, statement):
    """Execute a statement."""
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def names(url):
    """The names of all tables, constraints and indexes."""
    engine = create_engine(read_url(url))
    found = inspect(engine)
    tables = found.get_table_names()
    keys = [key for table in tables for key in (*found.get_indexes(table), *found.get_foreign_keys(table))]
    keys += [found.get_pk_constraint(table) for table in tables]
    keys += [key for table in tables for key in found.get_unique_constraints(table)]
    engine.dispose()
    return {*tables, *(key["name"] for key in keys if key["name"])}


async def read(store):
    """What is in the only conversation of a store."""
    (listed,) = await store.list("ann")
    conversation = await store.open(listed.id, "ann")
    rows = await store.database.read(select(revisions.c.version_num))
    assert conversation.view().started == {"call_2"}
    assert len(conversation.known()) == 1
    return (
        [row[0] for row in rows],
        listed.title,
        [(message.role, message.text) for message in conversation.messages],
        [(attachment.name, attachment.facts.size) for attachment in conversation.attachments.values()],
    )


CONTENT = (
    [HEAD],
    "Draw a house",
    [("user", "Draw a house"), ("assistant", ""), ("tool", "drawn"), ("assistant", "There it is.")],
    [("plan.txt", 6), ("house.txt", 5)],
)


def opened(url, folder):
    """What is in a store, once it is opened."""

    async def open_it():
        async with Store(url, folder / "blobs") as store:
            return await read(store)

    return asyncio.run(open_it())


def test_there_is_a_sample_of_each_revision():
    assert PREFIXED[0] == HEAD
    assert OLD[0] == carry_over.OLD_REVISIONS[-1]
    assert {path.stem for path in SAMPLES.glob("*.sql")} == {*OLD, *PREFIXED}, NEW


@each_revision
@each_database
def test_a_database_of_each_revision_opens_with_its_conversations(database, revision, tmp_path):
    assert opened(make_old(database, tmp_path, revision), tmp_path) == CONTENT


SELECT_FILES = "SELECT words, media_type, date, size, name, added FROM showandtell_attachments ORDER BY number"
HOSTILE = r"""UPDATE showandtell_attachments SET record = replace(record, '"house.txt"', '"a\u0000b \\u0000.txt"')"""


@each_database
@pytest.mark.parametrize("is_printed", [False, True])
def test_files_from_before_get_their_columns_from_their_records(database, is_printed, tmp_path):
    url = make_old(database, tmp_path, "showandtell_0003")
    execute(url, HOSTILE)
    if is_printed:
        engine = create_engine(read_url(url))
        with engine.begin() as connection:
            for statement in write_sql(database, "showandtell_0003").split("\n\n")[1:-1]:
                connection.exec_driver_sql(statement.replace("%", "%%"))
        engine.dispose()
    opened(url, tmp_path)
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        rows = [(row[0][:8], *row[1:4], row[4][:8], row[5]) for row in connection.execute(text(SELECT_FILES))]
    engine.dispose()
    plain, added = ("text/plain", "2026-11-22"), "2026-11-22"
    assert rows == [("plan.txt", *plain, 6, "plan.txt", added), (r"a b \u00", *plain, 5, r"a b \u00", added)]


def test_a_revision_never_changes():
    folder = Path(migrations.__file__).parent
    files = {folder / "carry_over.py", *folder.rglob("versions/[!_]*.py")}
    found = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    changed = {name for name in {*found, *FROZEN} if found.get(name) != FROZEN.get(name)}
    assert not changed, (
        "databases of this revision exist: restore its file, write a new revision, and add that to FROZEN"
    )


def test_tables_that_got_their_prefix_have_the_names_of_new_ones(tmp_path):
    old, new = make_old("postgresql", tmp_path, OLD[0]), new_database("postgresql", tmp_path)

    async def make():
        database = Database(new)
        await database.open()
        await database.close()

    opened(old, tmp_path)
    asyncio.run(make())
    assert names(old) == names(new)
    assert all(len(name) <= 63 and "showandtell_" in name for name in names(new))


@each_old_revision
def test_the_move_of_sqlite_is_done_or_not_whenever_it_is_killed(revision, tmp_path):
    (tmp_path / "live").mkdir()
    url, snapshot = make_old("sqlite", tmp_path / "live", revision), FolderCopies(tmp_path / "live", tmp_path)

    async def migrate():
        database = Database(url)
        event.listen(database.engine, "after_cursor_execute", snapshot)
        event.listen(database.engine, "commit", snapshot)
        await database.open()
        await database.close()

    before = names(url)
    asyncio.run(migrate())
    snapshot()
    after, copies = names(url), snapshot.folders
    assert snapshot.taken > 2 * len(metadata.tables)
    assert len(copies) > 1
    states = [names(f"sqlite:///{folder}/test.db") for folder in copies]
    assert states == [before] * (len(copies) - 1) + [after]
    assert [opened(f"sqlite:///{folder}/test.db", folder) for folder in copies] == [CONTENT] * len(copies)


@pytest.mark.parametrize(
    ("revision", "step"),
    [
        (OLD[-1], 17),
        pytest.param(OLD[-1], 3, marks=pytest.mark.thorough),
        pytest.param(OLD[0], 3, marks=pytest.mark.thorough),
    ],
)
def test_the_move_of_postgresql_is_done_or_not_whenever_it_is_killed(revision, step, tmp_path):
    url = make_old("postgresql", tmp_path, revision)
    before = names(url)

    async def migrate(statements):
        database = Database(url)
        kill_after(database, statements)
        try:
            await database.open()
        except StorageFailed:
            return False
        finally:
            await database.close()
        return True

    statements = 0
    while not asyncio.run(migrate(statements)):
        assert names(url) == before
        statements += step
    assert statements > 2 * len(metadata.tables)
    assert opened(url, tmp_path) == CONTENT


@postgresql_if_thorough
@pytest.mark.parametrize("seconds", [0, 10, -600])
def test_tables_keep_their_names_while_a_worker_of_an_older_version_is_alive(database, seconds, tmp_path):
    url = make_old(database, tmp_path, OLD[0])
    execute(url, SET_BEAT.format(time.time() - seconds))
    before = names(url)
    with pytest.raises(Busy, match=r"used by a server of an older version, .*: stop all servers, then start again"):
        opened(url, tmp_path)
    assert names(url) == before


@postgresql_if_thorough
@pytest.mark.parametrize("seconds", ["released", 60, -86_400])
def test_runs_that_nobody_executes_any_more_hold_up_no_move(database, seconds, tmp_path):
    url = make_old(database, tmp_path, OLD[0])
    execute(url, SET_BEAT.format(0 if seconds == "released" else time.time() - seconds))
    assert opened(url, tmp_path) == CONTENT


@each_database
def test_programs_that_open_an_older_database_at_once_move_it_once(database, tmp_path):
    url, contents = make_old(database, tmp_path, OLD[-1]), []
    threads = [threading.Thread(target=lambda: contents.append(opened(url, tmp_path))) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert contents == [CONTENT] * 4


#: Changes to older tables after which nobody knows what they are, and the words that say so.
CHANGED = {
    "a column less": ("ALTER TABLE messages DROP COLUMN step", "table messages has no column step"),
    "a column more": ("ALTER TABLE runs ADD COLUMN color text", "table runs has an unknown column color"),
    "a table less": ("DROP TABLE login_codes", "there is no table login_codes"),
    "an index less": ("DROP INDEX ix_runs_running", "ix_runs_running"),
    "another revision": (
        "UPDATE alembic_version SET version_num = 'c0ffee'",
        "its revision 'c0ffee' in alembic_version",
    ),
    "an older revision": (
        "UPDATE alembic_version SET version_num = '0003'",
        "table runs has an unknown column settings",
    ),
    "no revision": ("DELETE FROM alembic_version", "its revision '' in alembic_version is unknown"),
    "a newer revision": ("UPDATE alembic_version SET version_num = '0005'", "a newer version"),
}


@postgresql_if_thorough
@pytest.mark.parametrize("what", CHANGED)
def test_older_tables_that_no_release_made_are_refused_and_left_as_they_are(database, what, tmp_path):
    statement, words = CHANGED[what]
    url = make_old(database, tmp_path, OLD[0])
    execute(url, statement)
    before = names(url)
    with pytest.raises(BadInput, match=re.escape(words)):
        opened(url, tmp_path)
    assert names(url) == before


@each_database
def test_a_table_that_has_a_name_of_ours_already_holds_up_the_move(database, tmp_path):
    url = make_old(database, tmp_path, OLD[0])
    execute(url, "CREATE TABLE showandtell_runs (id integer)")
    before = names(url)
    with pytest.raises(BadInput, match=r"in the way .there is showandtell_runs"):
        opened(url, tmp_path)
    assert names(url) == before
