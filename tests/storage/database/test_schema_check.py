"""A database whose tables no release has made is refused when it is opened, with words what to do."""

import pytest
from sqlalchemy import create_engine, inspect, text

from showandtell.errors import BadInput
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.connect import read_url
from showandtell.storage.database.tables import HEAD
from support.postgres import new_database
from support.stores import post, user_draft

pytestmark = pytest.mark.anyio

KEY, COUNT, PAIR = "text not null", "integer not null", "PRIMARY KEY (run_id, seq)"
#: Changes that a database of an unreleased version might have, and the text of the error.
CHANGES = {
    "a column less": (
        "ALTER TABLE showandtell_messages DROP COLUMN step",
        "table showandtell_messages has no column step",
    ),
    "a column more": (
        "ALTER TABLE showandtell_runs ADD COLUMN color text",
        "table showandtell_runs has an unknown column color",
    ),
    "a table less": ("DROP TABLE showandtell_login_codes", "there is no table showandtell_login_codes"),
    "an index less": (
        "DROP INDEX ix_showandtell_runs_running",
        "table showandtell_runs has no unique partial index ix_showandtell_runs_running (conversation_id)",
    ),
    "another type": (
        "DROP TABLE showandtell_preferences; CREATE TABLE showandtell_preferences (owner text primary key not null, record integer not null)",
        "preferences.record is integer not null instead of text not null",
    ),
    "no primary key": (
        "DROP TABLE showandtell_server_settings; CREATE TABLE showandtell_server_settings (name text not null, value text not null)",
        "table showandtell_server_settings has no primary key (name)",
    ),
    "no reference": (
        f"DROP TABLE showandtell_run_log; CREATE TABLE showandtell_run_log (run_id {KEY}, seq {COUNT}, data {KEY}, {PAIR})",
        "table showandtell_run_log has no reference (run_id to showandtell_runs.id CASCADE)",
    ),
    "a reference that deletes nothing": (
        f"DROP TABLE showandtell_run_log; CREATE TABLE showandtell_run_log (run_id {KEY} REFERENCES showandtell_runs, seq {COUNT}, data {KEY}, {PAIR})",
        "table showandtell_run_log has no reference (run_id to showandtell_runs.id CASCADE)",
    ),
    "a unique constraint more": (
        "DROP TABLE showandtell_preferences; CREATE TABLE showandtell_preferences (owner text primary key not null, record text unique not null)",
        "table showandtell_preferences has an unknown unique (record)",
    ),
    "an index of other columns": (
        "DROP INDEX ix_showandtell_sessions_seen; CREATE INDEX ix_showandtell_sessions_seen ON showandtell_sessions (created)",
        "table showandtell_sessions has no index ix_showandtell_sessions_seen (seen)",
    ),
    "an index that is not unique": (
        "DROP INDEX ix_showandtell_runs_running; CREATE INDEX ix_showandtell_runs_running ON showandtell_runs (conversation_id)",
        "table showandtell_runs has no unique partial index ix_showandtell_runs_running (conversation_id)",
    ),
    "a revision that was never released": (
        "UPDATE showandtell_version SET version_num = '7f3a9c'",
        "its revision '7f3a9c' is unknown",
    ),
    "a revision without a prefix": (
        "UPDATE showandtell_version SET version_num = '0004'",
        "its revision '0004' is unknown",
    ),
}


def execute(url, statements):
    """Do to a database what another program might have done."""
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        for statement in statements.split(";"):
            connection.execute(text(statement))
    engine.dispose()


def names(url):
    """The names of all tables, views and indexes."""
    engine = create_engine(read_url(url))
    found = inspect(engine)
    tables = {*found.get_table_names()}
    indexes = {index["name"] for table in tables for index in found.get_indexes(table)}
    views = {*found.get_view_names()}
    engine.dispose()
    return tables | indexes | views


async def change(place, statements):
    """Change the tables of a store."""
    async with place.store():
        pass
    execute(place.url, statements)


@pytest.mark.parametrize("case", CHANGES)
async def test_a_schema_that_no_release_made_is_refused_at_opening(place, case):
    statements, words = CHANGES[case]
    await change(place, statements)
    with pytest.raises(BadInput, match="was made by an unreleased version") as raised:
        async with place.store():
            pass
    assert words in str(raised.value)
    assert str(raised.value).endswith("or restore a backup of a released version")


#: Changes that a newer version may make to tables that this one uses beside it.
NEXT = "UPDATE showandtell_version SET version_num = 'showandtell_0999'"
ADDED = {
    "a column that may be empty": "ALTER TABLE showandtell_runs ADD COLUMN color text",
    "a column with a default": "ALTER TABLE showandtell_runs ADD COLUMN color text NOT NULL DEFAULT 'red'",
    "a table": "CREATE TABLE showandtell_colors (id text primary key)",
    "an index": "CREATE INDEX ix_showandtell_runs_created ON showandtell_runs (created)",
}
NEEDED = {
    "sqlite": "DROP TABLE showandtell_preferences; CREATE TABLE showandtell_preferences"
    " (owner text primary key not null, record text not null, color text not null)",
    "postgresql": "ALTER TABLE showandtell_preferences ADD COLUMN color text NOT NULL",
}


@pytest.mark.parametrize("what", ADDED)
async def test_a_newer_version_may_add_to_tables_that_this_one_goes_on_using(place, what):
    await change(place, f"{ADDED[what]}; {NEXT}")
    async with place.store() as store:
        await post(await store.create(), user_draft("still works"))
        assert len(await store.list()) == 1


async def test_a_newer_version_that_this_one_can_not_use_beside_it_is_named_with_what_to_do(place, database):
    await change(place, f"{NEEDED[database]}; {NEXT}")
    with pytest.raises(
        BadInput, match=rf"a newer version of showandtell \(revision showandtell_0999, here {HEAD}; "
    ) as raised:
        async with place.store():
            pass
    assert "table showandtell_preferences has an unknown column color" in str(raised.value)
    assert "update showandtell, or restore the backup from before the update" in str(raised.value)


#: Tables that another program made, or that were not made to the end, and the words that name them.
IN_THE_WAY = {
    "a table of ours without a revision": (
        "CREATE TABLE showandtell_messages (id integer)",
        "there is showandtell_messages, but no showandtell_version",
    ),
    "a table of revisions without rows": (
        "CREATE TABLE showandtell_version (version_num varchar(32))",
        "showandtell_version has 0 rows instead of one",
    ),
    "a table of revisions of another kind": (
        "CREATE TABLE showandtell_version (id integer)",
        "showandtell_version has other columns",
    ),
    "a view": ("CREATE VIEW showandtell_users AS SELECT 1 AS one", "already exists"),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
async def test_a_table_in_the_way_is_named_and_nothing_is_changed(database, tmp_path, what):
    statement, words = IN_THE_WAY[what]
    url = new_database(database, tmp_path)
    execute(url, statement)
    before = names(url)
    with pytest.raises(BadInput, match=r"is in the way .* nothing was changed\. Rename or remove it") as raised:
        async with Store(url, tmp_path / "blobs"):
            pass
    assert words in str(raised.value)
    assert names(url) == before


#: Tables of programs that use alembic and have names and ids like ours.
FOREIGN = (
    "CREATE TABLE alembic_version (version_num varchar(32)); INSERT INTO alembic_version VALUES ('0003')",
    "CREATE TABLE users (id text, name text, seen double precision)",
    "CREATE TABLE conversations (id integer, title text); INSERT INTO conversations VALUES (1, 'theirs')",
    "CREATE TABLE messages (id integer); CREATE TABLE shares (conversation_id text, user_id text, access text)",
)


async def test_a_program_with_alembic_and_tables_named_like_our_first_ones_keeps_them(database, tmp_path):
    url = new_database(database, tmp_path)
    execute(url, ";".join(FOREIGN))
    before = names(url)
    async with Store(url, tmp_path / "blobs") as store:
        await store.create()
        ((revision,),) = await store.database.read(text("SELECT version_num FROM alembic_version"))
        ((title,),) = await store.database.read(text("SELECT title FROM conversations"))
    assert (revision, title) == ("0003", "theirs")
    assert before < names(url)


async def test_tables_and_indexes_of_others_are_left_alone(place):
    await change(place, "CREATE TABLE theirs (id integer); CREATE INDEX ix_their_own ON showandtell_messages (created)")
    async with place.store() as store:
        assert await store.list() == ()
