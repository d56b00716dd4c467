"""A database whose tables no release has made is refused when it is opened, with words what to do."""

import pytest
from sqlalchemy import text

from showandtell.errors import BadInput
from showandtell.storage.database.tables import HEAD

pytestmark = pytest.mark.anyio

KEY, COUNT, PAIR = "text not null", "integer not null", "PRIMARY KEY (run_id, seq)"
#: Changes that a database of an unreleased version might have, and the text of the error.
CHANGES = {
    "a column less": ("ALTER TABLE messages DROP COLUMN step", "table messages has no column step"),
    "a column more": ("ALTER TABLE runs ADD COLUMN color text", "table runs has an unknown column color"),
    "a table less": ("DROP TABLE login_codes", "there is no table login_codes"),
    "an index less": (
        "DROP INDEX ix_runs_running",
        "table runs has no unique partial index ix_runs_running (conversation_id)",
    ),
    "another type": (
        "DROP TABLE preferences; CREATE TABLE preferences (owner text primary key not null, record integer not null)",
        "preferences.record is integer not null instead of text not null",
    ),
    "no primary key": (
        "DROP TABLE server_settings; CREATE TABLE server_settings (name text not null, value text not null)",
        "table server_settings has no primary key (name)",
    ),
    "no reference": (
        f"DROP TABLE run_log; CREATE TABLE run_log (run_id {KEY}, seq {COUNT}, data {KEY}, {PAIR})",
        "table run_log has no reference (run_id to runs.id CASCADE)",
    ),
    "a reference that deletes nothing": (
        f"DROP TABLE run_log; CREATE TABLE run_log (run_id {KEY} REFERENCES runs, seq {COUNT}, data {KEY}, {PAIR})",
        "table run_log has no reference (run_id to runs.id CASCADE)",
    ),
    "a unique constraint more": (
        "DROP TABLE preferences; CREATE TABLE preferences (owner text primary key not null, record text unique not null)",
        "table preferences has an unknown unique (record)",
    ),
    "an index of other columns": (
        "DROP INDEX ix_sessions_seen; CREATE INDEX ix_sessions_seen ON sessions (created)",
        "table sessions has no index ix_sessions_seen (seen)",
    ),
    "an index that is not unique": (
        "DROP INDEX ix_runs_running; CREATE INDEX ix_runs_running ON runs (conversation_id)",
        "table runs has no unique partial index ix_runs_running (conversation_id)",
    ),
    "a revision that was never released": (
        "UPDATE alembic_version SET version_num = '7f3a9c'",
        "its revision '7f3a9c' is unknown",
    ),
    "tables of the next revision": (
        "UPDATE alembic_version SET version_num = '0002'",
        "already exists",
    ),
}


async def change(place, statements):
    """Do to a database what another program might have done."""

    def transaction(connection):
        for statement in statements.split(";"):
            connection.execute(text(statement))

    async with place.store() as store:
        await store.database.write(transaction)


@pytest.mark.parametrize("case", CHANGES)
async def test_a_schema_that_no_release_made_is_refused_at_opening(place, case):
    statements, words = CHANGES[case]
    await change(place, statements)
    with pytest.raises(BadInput, match="was made by an unreleased version") as raised:
        async with place.store():
            pass
    assert words in str(raised.value)
    assert str(raised.value).endswith("or restore a backup of a released version")


async def test_a_newer_revision_is_named_with_what_to_do(place):
    await change(place, "UPDATE alembic_version SET version_num = '0999'")
    with pytest.raises(
        BadInput, match=rf"a newer version of showandtell \(revision 0999, here {HEAD}\): update"
    ) as raised:
        async with place.store():
            pass
    assert "restore the backup from before the update" in str(raised.value)


async def test_tables_and_indexes_of_others_are_left_alone(place):
    await change(place, "CREATE TABLE theirs (id integer); CREATE INDEX ix_their_own ON messages (created)")
    async with place.store() as store:
        assert await store.list() == ()
