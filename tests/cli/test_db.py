"""`db` as people use it who run migrations themselves: the revision, the upgrade, and its statements."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import create_engine, text

from showandtell.errors import BadInput
from showandtell.storage.database.connect import read_url
from showandtell.storage.database.tables import HEAD
from showandtell.storage.database.upgrade import write_sql
from support.commandline import call
from support.paths import TESTS
from support.postgres import each_database, new_database


def run(folder, *arguments, status=0):
    done = call(folder, "db", *arguments)
    assert done.returncode == status, done
    return done.stdout if status != 1 else done.stderr


def load(folder, revision):
    """A data folder with the database of a revision."""
    (folder / "data").mkdir()
    with closing(sqlite3.connect(folder / "data" / "showandtell.db")) as database, database:
        database.executescript((TESTS / "databases" / f"{revision}.sql").read_text())
    database.close()
    return "--data", str(folder / "data")


def execute(url, script):
    """Execute a script as an administrator would."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(read_url(url).database)) as database, database:
            database.executescript(script)
        database.close()
        return
    engine = create_engine(read_url(url))
    with engine.connect() as connection:
        connection.connection.driver_connection.execute(script)
    engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0004"])
def test_an_older_database_is_shown_and_migrated(revision, tmp_path):
    where = load(tmp_path, revision)
    assert run(tmp_path, "current", *where, status=3) == f"{revision}\n"
    assert run(tmp_path, "current", *where, status=3) == f"{revision}\n"
    assert run(tmp_path, "upgrade", *where) == f"{HEAD}\n"
    assert run(tmp_path, "current", *where) == f"{HEAD}\n"


@each_database
def test_an_empty_database_gets_its_tables(database, tmp_path):
    where = ["--database", new_database(database, tmp_path)]
    if database == "postgresql":
        where += ["--schema", "chat"]
        assert run(tmp_path, "current", *where, status=3) == "no tables\n"
    assert run(tmp_path, "upgrade", *where, "--data", str(tmp_path)) == f"{HEAD}\n"
    assert run(tmp_path, "current", *where) == f"{HEAD}\n"


def test_a_database_that_is_not_there_is_named_and_not_made(tmp_path):
    done = call(tmp_path, "db", "current", "--data", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "showandtell db upgrade makes it" in done.stderr
    assert not (tmp_path / "nowhere").exists()


@each_database
def test_the_printed_statements_make_the_tables_that_the_program_accepts(database, tmp_path):
    url = new_database(database, tmp_path)
    execute(url, run(tmp_path, "sql", "--database", url))
    assert run(tmp_path, "current", "--database", url) == f"{HEAD}\n"
    assert run(tmp_path, "upgrade", "--database", url, "--data", str(tmp_path)) == f"{HEAD}\n"


@pytest.mark.parametrize(
    "revision",
    [
        "0001",
        "0003",
        "0004",
        "showandtell_0001",
        "showandtell_0002",
        "showandtell_0003",
        "showandtell_0004",
        "showandtell_0005",
        "showandtell_0006",
        "showandtell_0007",
    ],
)
def test_the_printed_statements_migrate_each_revision(revision, tmp_path):
    where = load(tmp_path, revision)
    url = f"sqlite:///{tmp_path}/data/showandtell.db"
    execute(url, run(tmp_path, "sql", "--dialect", "sqlite", "--from", revision))
    assert run(tmp_path, "current", *where) == f"{HEAD}\n"
    assert run(tmp_path, "upgrade", *where) == f"{HEAD}\n"


def test_the_printed_statements_of_a_schema_make_its_tables(tmp_path):
    url, schema = new_database("postgresql", tmp_path), 'the "chat"'
    where = "--database", url, "--schema", schema
    made = run(tmp_path, "upgrade", *where, "--data", str(tmp_path))
    execute(url, f'DROP SCHEMA "{schema.replace(chr(34), chr(34) * 2)}" CASCADE; COMMIT')
    execute(url, run(tmp_path, "sql", *where))
    assert run(tmp_path, "current", *where) == made


def test_an_unknown_revision_is_refused_with_those_that_are_known():
    with pytest.raises(BadInput, match="unknown revision 'abc': use one of 0001, 0002, 0003, 0004, showandtell_0001, "):
        write_sql("sqlite", "abc")
    assert write_sql("sqlite", HEAD) == "BEGIN;\n\nCOMMIT;\n"


def test_a_database_without_rights_to_make_tables_is_used_once_an_administrator_has_made_them(tmp_path):
    url = new_database("postgresql", tmp_path)
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        name = connection.scalar(text("SELECT 'app_' || current_database()"))
        connection.execute(text(f"CREATE ROLE {name} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    guest = read_url(url).set(username=name, drivername="postgresql").render_as_string(hide_password=False)
    arguments = ("list", "--database", guest, "--data", str(tmp_path))
    assert "no right to do that" in call(tmp_path, *arguments).stderr
    run(tmp_path, "upgrade", "--database", url, "--data", str(tmp_path))
    with engine.begin() as connection:
        connection.execute(text(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}"))
    engine.dispose()
    assert call(tmp_path, *arguments).returncode == 0
