"""Reads a whole database to find damage, such as that of a failing disk. Never writes to it, not even its log.

It uses a connection of its own, because a damaged database may not open.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import msgspec
from sqlalchemy import Double, ForeignKeyConstraint, Table, Text

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message
from showandtell.core.planning.step_record import Step
from showandtell.errors import StorageFailed
from showandtell.storage.database.database import BUSY_SECONDS, Database
from showandtell.storage.database.rows import Outcome
from showandtell.storage.database.schema_check import Found, check_revision, select_columns
from showandtell.storage.database.tables import (
    attachments,
    intents,
    known,
    messages,
    metadata,
    pending_messages,
    preferences,
    revisions,
    uploads,
)

#: Called with what is being checked, how much of it is done, and how much there is. Called from any thread.
Progress: TypeAlias = Callable[[str, int, int], object]
#: JSON in columns, by table and column, and what it contains.
RECORDS: Final[dict[tuple[str, str], msgspec.json.Decoder[Any]]] = {
    (messages.name, "record"): msgspec.json.Decoder(Message),
    (messages.name, "step"): msgspec.json.Decoder(Step),
    (attachments.name, "record"): msgspec.json.Decoder(Attachment),
    (known.name, "record"): msgspec.json.Decoder(Outcome),
    (intents.name, "call_id"): msgspec.json.Decoder(str),
    (uploads.name, "record"): msgspec.json.Decoder(dict[str, Any]),
    (pending_messages.name, "record"): msgspec.json.Decoder(dict[str, Any]),
    (preferences.name, "record"): msgspec.json.Decoder(dict[str, Any]),
}
#: SQLite's errors for damaged files and disks, without their suffixes.
DAMAGE: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")
#: Maximum number of problems that one check lists.
MAX_PROBLEMS: Final = 20
#: SQLite looks this often whether the check was cancelled, in steps of its virtual machine.
STEPS: Final = 100_000
#: PostgreSQL's B-tree indexes of a table.
SELECT_INDEXES: Final = (
    "SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND i.indrelid = to_regclass(%s)"
)
MAY_CHECK: Final = "SELECT has_function_privilege('bt_index_check(regclass, boolean)', 'EXECUTE')"


async def find_damage(database: Database, progress: Progress) -> list[str]:
    """Read a database as a whole, opened or not. Returns what is damaged, an empty list if nothing is.

    Raises `StorageFailed` if it does not answer.
    """
    stopped = threading.Event()
    check = check_sqlite if database.is_sqlite else check_postgresql
    try:
        return await asyncio.to_thread(lambda: [*check(database, progress, stopped)])
    finally:
        stopped.set()  # a cancelled check ends soon


def check_sqlite(database: Database, progress: Progress, stopped: threading.Event) -> Iterator[str]:
    """Check the structure of an SQLite file, then its references, then all values."""
    path = f"file:{quote(database.url.database or '')}?mode=ro"
    with (
        database.translated_errors(),
        closing(sqlite3.connect(path, uri=True, isolation_level=None, timeout=BUSY_SECONDS)) as connection,
    ):
        connection.text_factory = bytes
        connection.set_progress_handler(stopped.is_set, STEPS)
        problems: list[str] = []
        with damage_into(problems, "the file"):
            if problem := revision_problem(database, lambda query: connection.execute(query).fetchall()):
                yield problem
                return
            problems += sqlite_problems(connection)
        yield from problems[:MAX_PROBLEMS]
        is_damaged = bool(problems)
        tables = metadata.sorted_tables
        for done, table in enumerate(tables, start=1):
            progress("database", done, len(tables) + 1)
            problems = []
            with damage_into(problems, f"table {table.name}"):
                if [
                    *connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table.name,))
                ]:
                    if is_damaged:  # which table it is
                        lines = integrity_problems(connection, f'"{table.name}"')
                        problems += [f"table {table.name} is damaged: {line}" for line in lines]
                    columns = ", ".join(f'"{column.name}"' for column in table.columns)
                    problems += value_problems(table, connection.execute(f'SELECT {columns} FROM "{table.name}"'))  # noqa: S608 - our own names
            yield from problems
        progress("database", 1, 1)


def revision_problem(database: Database, fetch: Callable[[str], Sequence[Sequence[Any]]]) -> str | None:
    """What is wrong if the database has no revision. `fetch` gives text as bytes."""

    def read(query: str) -> Iterator[list[Any]]:
        for row in fetch(query):
            yield [value.decode(errors="replace") if isinstance(value, bytes) else value for value in row]

    found = Found(read(str(select_columns(database.engine.dialect, None))))
    select_revision = f"SELECT version_num FROM {revisions.name}"  # noqa: S608 - our own name
    rows = read(select_revision) if found.has_version else ()
    return check_revision(database.name, [row[0] for row in rows], is_old=found.is_old)


def sqlite_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """What SQLite itself finds: damaged pages and indexes, and references to rows that don't exist."""
    yield from integrity_problems(connection, str(MAX_PROBLEMS))
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"table {table.decode(errors='replace')} refers to a row that doesn't exist"


def integrity_problems(connection: sqlite3.Connection, what: str) -> Iterator[str]:
    """The lines of SQLite's check of a table, or of the whole file if `what` is a number: its maximum of lines."""
    for (text,) in connection.execute(f"PRAGMA integrity_check({what})"):
        for line in text.decode(errors="replace").splitlines():
            if line != "ok" and not line.startswith("***"):
                yield line


@contextmanager
def damage_into(problems: list[str], what: str) -> Generator[None]:
    """Add SQLite's errors about damage to a list; other errors propagate."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not str(getattr(error, "sqlite_errorname", "")).startswith(DAMAGE):
            raise
        problems.append(f"{what} can't be read: {error}")
    except UnicodeDecodeError as error:
        problems.append(f"{what} can't be read: {error.reason}")


def check_postgresql(database: Database, progress: Progress, stopped: threading.Event) -> Iterator[str]:
    """Read every row of every table, check references, and the indexes if the extension amcheck is installed."""
    import psycopg  # noqa: PLC0415 - an extra
    from sqlalchemy.dialects.postgresql.psycopg import dialect  # noqa: PLC0415 - an extra

    own: Any = dialect()
    arguments, options = own.create_connect_args(database.url)
    connected: Any = None
    try:
        if database.connector is None:
            connected = psycopg.connect(*arguments, **options)
        else:
            connected = database.connector()
            connected.rollback()  # what the program does with each new connection
        connected.autocommit = True
        connected.execute("SET client_encoding TO 'SQL_ASCII'")  # text arrives as bytes, so that any of it can be read
        if database.schema is not None:
            connected.execute("SELECT set_config('search_path', quote_ident(%s), false)", (database.schema,))
        if problem := revision_problem(database, lambda query: connected.execute(query).fetchall()):
            yield problem
            return
        has_amcheck = bool(connected.execute("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'").fetchall())
        for done, table in enumerate(metadata.sorted_tables):
            progress("database", done, len(metadata.sorted_tables))
            for check in postgresql_checks(connected, table, stopped, has_amcheck=has_amcheck):
                try:
                    yield from check()
                except psycopg.DatabaseError as error:
                    if connected.broken:
                        raise
                    yield f"table {table.name} can't be read: {first_line(error)}"
        progress("database", 1, 1)
    except psycopg.OperationalError as error:
        raise StorageFailed(
            f"the database {database.name} does not answer ({first_line(error)}): check that it is running"
        ) from error
    finally:
        if connected is not None:
            connected.close()


def postgresql_checks(
    connection: Any, table: Table, stopped: threading.Event, *, has_amcheck: bool
) -> list[Callable[[], Iterator[str]]]:
    """The checks of a table; none if it doesn't exist."""
    if connection.execute("SELECT to_regclass(%s)", (table.name,)).fetchone() == (None,):
        return []
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    rows = unless(stopped, connection.cursor().stream(f'SELECT {columns} FROM "{table.name}"'))  # noqa: S608 - our own names
    return [
        lambda: value_problems(table, rows),
        *(partial(reference_problems, connection, key) for key in table.foreign_key_constraints),
        *([partial(index_problems, connection, table)] if has_amcheck else []),
    ]


def unless(stopped: threading.Event, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The rows, until the check is cancelled."""
    for row in rows:
        if stopped.is_set():
            return
        yield row


def reference_problems(connection: Any, key: ForeignKeyConstraint) -> Iterator[str]:
    """Rows that refer to a row that doesn't exist."""
    pairs = [(element.parent.name, element.column.name) for element in key.elements]
    required = " AND ".join(f'a."{column}" IS NOT NULL' for column, _ in pairs)
    same = " AND ".join(f'b."{other}" = a."{column}"' for column, other in pairs)
    query = (
        f'SELECT count(*) FROM "{key.table.name}" a WHERE {required} AND NOT EXISTS'  # noqa: S608 - our own names
        f' (SELECT 1 FROM "{key.referred_table.name}" b WHERE {same})'
    )
    ((count,),) = connection.execute(query).fetchall()
    if count:
        yield f"table {key.table.name} refers to {count} rows of {key.referred_table.name} that don't exist"


def index_problems(connection: Any, table: Table) -> Iterator[str]:
    """What amcheck finds in a table's indexes, as errors. Does nothing if this user may not use it."""
    if connection.execute(MAY_CHECK).fetchone() == (True,):
        for (index,) in connection.execute(SELECT_INDEXES, (table.name,)).fetchall():
            connection.execute("SELECT bt_index_check(index => %s, heapallindexed => true)", (index,))
    yield from ()


def value_problems(table: Table, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Values that this table can't contain: of another type, not UTF-8, or records that can't be decoded."""
    columns = [(column.name, kind_of(column.type), RECORDS.get((table.name, column.name))) for column in table.columns]
    count = 0
    for row in rows:
        for (name, kind, decoder), value in zip(columns, row, strict=True):
            if value is None:
                continue
            problem = problem_of(value, kind, decoder)
            if problem is not None and (count := count + 1) <= MAX_PROBLEMS:
                yield f"table {table.name} has a damaged {name}: {problem}"
    if count > MAX_PROBLEMS:
        yield f"table {table.name} has {count - MAX_PROBLEMS} more damaged values"


def kind_of(kind: object) -> tuple[type, ...]:
    """The Python types of a column's values. Text is read as bytes."""
    return (bytes,) if isinstance(kind, Text) else (float, int) if isinstance(kind, Double) else (int,)


def problem_of(value: Any, kind: tuple[type, ...], decoder: msgspec.json.Decoder[Any] | None) -> str | None:
    """What is wrong with a value, or None."""
    if not isinstance(value, kind):
        return f"{type(value).__name__} instead of {kind[0].__name__}"
    if bytes in kind:
        try:
            value.decode()
            if decoder is not None:
                decoder.decode(value)
        except (UnicodeDecodeError, msgspec.DecodeError) as error:
            return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    return None


def first_line(error: Exception) -> str:
    """The first line of a database's message."""
    return " ".join(str(error).partition("\n")[0].split())[:200]
