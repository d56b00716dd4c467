"""A database: SQLite or PostgreSQL. A read is a single statement, a write a transaction.

Both run in the database's own threads, one call each, so that a cancellation can't interrupt them, and end in time
(see `calls`).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, select, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput, StorageFailed, StorageFull
from showandtell.installation import install_command
from showandtell.storage.blobs.threads import DaemonThreads
from showandtell.storage.database.calls import Calls, NoAnswer, Timeouts
from showandtell.storage.database.connect import (
    BUSY_SECONDS,
    MAX_CONNECTIONS,
    PRAGMAS,
    ConnectionsInUse,
    connect_postgres,
    connect_sqlite,
    connector_of,
    create_file,
    file_identity,
    read_url,
    retry,
    rewrite,
    use_wal,
)
from showandtell.storage.database.jobs import Job, run_jobs
from showandtell.storage.database.reserve import is_full
from showandtell.storage.database.schema_check import (
    SELECT_REVISIONS,
    Found,
    is_current,
    select_columns,
    select_keys,
)
from showandtell.storage.database.tables import conversations, revisions, server_settings
from showandtell.storage.database.upgrade import find_revision, refuse_others, upgrade
from showandtell.storage.database.upserts import upsert
from showandtell.storage.uncancelled import shielded

Row: TypeAlias = Sequence[Any]
#: A statement for SQLite's driver: its SQL, the parameter names in order, and the constant parameters.
Compiled: TypeAlias = tuple[str, Sequence[str], dict[str, Any]]
T = TypeVar("T")

#: SQLite waits for other writers and has one thread to write: only a call that is slower than that is doubted.
SQLITE_TIMEOUTS = Timeouts(doubt=6.0)
#: Seconds that a transaction may take whose work depends on how much is stored.
SLOW_SECONDS = 60.0
#: Seconds that a migration may take, other processes' included.
MIGRATION_SECONDS = 600.0
#: Maximum length of a name in PostgreSQL, in bytes.
MAX_NAME = 63
#: A query that reads a table.
SELECT_CONVERSATION = select(conversations.c.id).limit(1)
#: PostgreSQL's codes for missing rights: on an object, and on every schema in which tables could be made.
NO_RIGHTS = ("42501", "3F000")
DISK_FULL = ("disk is full", "No space left", "could not extend file", "quota")
DAMAGED = (
    "image is malformed",
    "is not a database",
    "invalid page",
    "could not read block",
    "toast value",
    "unexpected zero page",
)


#: Written to find out whether a full disk has space again: more than fits into a page that the file has already.
TRIAL = "x" * 16_384


class DatabaseDamaged(StorageFailed):
    """A page of the database can't be read, or is not what was written."""


class Database:
    """A database. It belongs to the event loop that opened it."""

    def __init__(self, source: str | URL | Engine, timeouts: Timeouts | None = None, schema: str | None = None) -> None:
        is_url = isinstance(source, (str, URL))
        #: Makes connections as the program's engine does, if that was handed in.
        self.connector = None if is_url else connector_of(source)
        self.url = read_url(source) if is_url else source.url
        shown = self.url.set(drivername=self.url.get_backend_name(), query={})  # the query may contain a password
        self.name = shown.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._timeouts = timeouts or (SQLITE_TIMEOUTS if self.is_sqlite else Timeouts())
        self._in_use = ConnectionsInUse()
        self.schema = check_schema_name(schema, is_sqlite=self.is_sqlite)
        self.engine = self._connect()
        if self.schema is not None:
            self.engine = self.engine.execution_options(schema_translate_map={None: self.schema})
        self._single = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._make_threads()
        self._reader: sqlite3.Connection | None = None
        self._jobs: deque[Job] = deque()
        self._compiled: WeakKeyDictionary[Executable, Compiled] = WeakKeyDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None
        #: The first damage that was met, and whether the last write found the disk full.
        self._damage = ""
        self._is_full = False
        self._file: tuple[tuple[int, int] | None, ...] = ()

    def _make_threads(self) -> None:
        """Thread pools, started on demand. On SQLite, readers don't wait for writers."""
        if self.is_sqlite:
            self._writing, self._reading = (Calls(self.name, 1, self._timeouts) for _ in range(2))
        else:
            self._writing = Calls(self.name, MAX_CONNECTIONS, self._timeouts, self._probe, self._in_use)
            self._reading = self._writing

    def _connect(self) -> Engine:
        try:
            return (
                connect_sqlite(self.url) if self.is_sqlite else connect_postgres(self.url, self._in_use, self.connector)
            )
        except ImportError as error:
            raise BadInput(f"{self.name} needs {error.name}: {install_command('postgres')}") from error

    def _probe(self) -> None:
        """Write a row: a server whose disk hangs still answers reads."""
        with self.engine.begin() as connection:
            write_probe(connection, "")

    async def open(self, has_files: Callable[[], Awaitable[bool]] | None = None) -> None:
        """Connect and migrate the tables. Processes that start concurrently wait for each other.

        `has_files` says whether files are stored beside it. Then raises `BadInput` if it has no tables: new ones would
        let the next collection delete all these files.
        """
        self._loop, self._damage, self._is_full = asyncio.get_running_loop(), "", False
        try:
            with self.translated_errors():
                if self.is_sqlite:
                    await self._reading.run(self._open_reader, self.url.database or "")
                await self._migrate_if_needed(has_files)
        except BaseException:
            await self.close()
            raise

    def _open_reader(self, path: str) -> None:
        create_file(path)
        use_wal(path)
        self._reader = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        for pragma in (*PRAGMAS, "PRAGMA query_only=ON"):
            self._reader.execute(pragma)
        self._reader.execute("SELECT 1 FROM sqlite_master").fetchall()  # opens the log
        self._file = file_identity(path)

    async def check(self) -> None:
        """Read something. Raises `StorageFailed` if the database doesn't answer, at once if that is known.

        Damage that any call has met is raised until the database is opened again: what a read finds may come from
        memory. After a write that found the disk full, writes something until that succeeds.
        """
        if self._damage:
            raise DatabaseDamaged(self._damage)
        await self._writing.check()
        await self.read(SELECT_CONVERSATION)
        if self._is_full:
            await self.write(lambda connection: write_probe(connection, TRIAL))
            self._is_full = False

    async def close(self) -> None:
        """Close every connection once running work has finished."""
        self._loop = None
        await shielded(self._close())

    async def _close(self) -> None:
        for calls in {self._reading, self._writing}:
            await calls.close()
        self._make_threads()
        last = DaemonThreads(1, "database-close")  # a disk that hangs
        closing = asyncio.wrap_future(last.submit(self._disconnect))
        last.close()
        await asyncio.wait({closing}, timeout=self._timeouts.probe)

    def _disconnect(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.engine.dispose()

    async def read(self, statement: Executable, within: float | None = None, /, **values: object) -> Sequence[Row]:
        """The rows of one query. Takes no lock. Raises `NoAnswer` after `within` seconds (default: 8)."""
        self._check_open()
        with self.translated_errors():
            return await self._reading.run(self._read, statement, values, within, within=within)

    def _read(self, statement: Executable, values: dict[str, Any], within: float | None) -> Sequence[Row]:
        if self._reader is None:
            if within is not None:
                return self._write(lambda connection: connection.execute(statement, values).all(), within)
            return retry(lambda _: self._read_with_pool(statement, values))
        sql, order, constants = self._compile(statement)
        parameters = {**constants, **values}
        return self._reader.execute(sql, [parameters[name] for name in order]).fetchall()

    def _read_with_pool(self, statement: Executable, values: dict[str, Any]) -> Sequence[Row]:
        with self._single.connect() as connection:
            return connection.execute(statement, values).all()

    def _check_open(self) -> None:
        if self._loop is None:
            raise StorageFailed(f"the database {self.name} is closed: use it inside `async with`")
        if self._loop is not asyncio.get_running_loop():
            raise BadInput(f"the database {self.name} was opened in another event loop: open one in each")

    def _compile(self, statement: Executable) -> Compiled:
        if statement not in self._compiled:
            compiled: Any = cast("Any", statement).compile(dialect=self.engine.dialect)
            binds = compiled.binds.items()
            constants = {name: bind.value for name, bind in binds if not bind.required}
            self._compiled[statement] = (str(compiled), tuple(compiled.positiontup), constants)
        return self._compiled[statement]

    async def write(self, transaction: Callable[[Connection], T], *, within: float | None = None) -> T:
        """Run `transaction` in a database transaction and return its result. On SQLite it starts with the write lock.

        It completes even if the caller is cancelled, and is rolled back if it raises. Raises `StorageFailed` if
        SQLite's file or its log was deleted or replaced since it was opened, because the write would be lost, and
        `NoAnswer` after `within` seconds (default: 8): a transaction that has begun by then may still be stored.
        """
        self._check_open()
        with self.translated_errors(writes=True):
            if not self.is_sqlite:
                return await self._writing.run(self._write, transaction, within, within=within, writes=True)
            job = Job(transaction, is_slow=within is not None)
            if not job.is_slow:
                self._jobs.append(job)
            try:
                return await self._writing.run(self._write_together, job, within=within, writes=True)
            except NoAnswer as error:
                job.is_withdrawn = True
                error.may_be_stored = job.has_begun
                raise

    async def scrub(self) -> None:
        """Remove what was deleted from the free space of SQLite's file and from its log. Other writers wait meanwhile.

        Takes as much space again as the file has. PostgreSQL does this by itself, in its own time.
        """
        self._check_open()
        if self.is_sqlite:
            with self.translated_errors():
                await self._writing.run(self._rewrite, within=MIGRATION_SECONDS, writes=True)

    def _rewrite(self) -> None:
        with closing(self.engine.raw_connection()) as connection:
            rewrite(connection.driver_connection)

    def _write(self, transaction: Callable[[Connection], Any], within: float | None) -> Any:
        def write(commit: Callable[[], None]) -> Any:
            with self.engine.begin() as connection:
                if within is not None:
                    connection.execute(text(f"SET LOCAL statement_timeout = {within * 1000:.0f}"))
                value = transaction(connection)
                commit()
            return value

        return retry(write)

    def _write_together(self, job: Job) -> Any:
        """Run all queued jobs in one transaction, since each commit waits for the disk. One that is slow runs alone."""
        if not job.is_done:
            jobs = [job] if job.is_slow else [self._jobs.popleft() for _ in range(len(self._jobs))]
            try:
                self._run_all(jobs)
            except Exception as error:  # noqa: BLE001 - nothing was stored, so it is raised for every job
                for failed in jobs:
                    failed.error = failed.error or error
            for finished in jobs:
                finished.is_done = True
        if job.error is not None:
            raise job.error
        return job.value

    def _run_all(self, jobs: Sequence[Job]) -> None:
        if file_identity(self.url.database or "") != self._file:
            raise StorageFailed(
                f"the file of the database {self.name} was deleted or replaced while it was in use: start again"
            )
        run_jobs(self.engine, jobs)

    @contextmanager
    def translated_errors(self, *, writes: bool = False) -> Generator[None]:
        """Turn database errors into `StorageFailed`, without passwords or SQL statements."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            failed = self._failed(error)
            failed.may_be_stored = writes and isinstance(error, DBAPIError) and error.connection_invalidated
            raise failed from (error.orig if isinstance(error, DBAPIError) else error)

    def _failed(self, error: Exception) -> StorageFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        text = " ".join(str(cause).strip().partition("\n")[0].split())[:200]
        code = str(getattr(cause, "sqlite_errorname", ""))
        if any(phrase in text for phrase in DISK_FULL) or (
            code.startswith("SQLITE_IOERR") and is_full(self.url.database or "")
        ):
            self._is_full = True
            return StorageFull(
                f"the database {self.name} has no space left: delete conversations or free space, then try again"
            )
        if any(phrase in text for phrase in DAMAGED):
            self._damage = (
                f"the database {self.name} is damaged ({text}): run `showandtell fsck`, and restore the backup"
            )
            return DatabaseDamaged(self._damage)
        if isinstance(error, (OperationalError, InterfaceError, sqlite3.OperationalError)) or (
            isinstance(error, DBAPIError) and error.connection_invalidated
        ):
            return StorageFailed(
                f"the database {self.name} does not answer ({text}): check that it is running, then try again"
            )
        if getattr(cause, "sqlstate", None) in NO_RIGHTS:
            return StorageFailed(
                f"the database {self.name} gives this user no right to do that ({text}): grant it, or run"
                " `showandtell db upgrade` as a user who has it"
            )
        return StorageFailed(f"the database {self.name} rejected a statement ({text}): check its tables and disk")

    async def find(self) -> Found:
        """The tables of the database, as far as they may be ours."""
        return Found(await self.read(select_columns(self.engine.dialect, self.schema)))

    def read_revision(self) -> str | None:
        """The revision of the tables, also of an older version, without opening the database. None without tables.

        Changes nothing, and blocks until the database has answered.
        """
        try:
            with self.translated_errors(), self.engine.connect() as connection:
                return find_revision(connection, self.name, self.schema)
        finally:
            self.engine.dispose()

    async def _migrate_if_needed(self, has_files: Callable[[], Awaitable[bool]] | None) -> None:
        found = await self.find()
        # looked for again: another process may have made the tables, and stored files, meanwhile
        if not has_tables(found) and has_files is not None and await has_files() and not has_tables(await self.find()):
            raise BadInput(
                f"the database {self.name} has no tables, but files are stored beside it: restore the backup of the"
                " database; to begin without these files, use another folder or bucket, or delete them"
            )
        if [*found.columns[revisions.name]] == [revisions.c.version_num.name]:
            revision = [row[0] for row in await self.read(SELECT_REVISIONS)]
            if is_current(revision):
                dialect = self.engine.dialect
                refuse_others(self.name, found, await self.read(select_keys(dialect, self.schema)), revision, dialect)
                return
        await self.write(lambda connection: upgrade(connection, self.name, self.schema), within=MIGRATION_SECONDS)


def check_schema_name(schema: str | None, *, is_sqlite: bool) -> str | None:
    """Return the name of a schema. Raises `BadInput` for what can't be one."""
    if schema is not None and is_sqlite:
        raise BadInput(f"SQLite has no schemas: omit {schema!r:.40}, or use PostgreSQL")
    if schema is not None and not (schema.isprintable() and 1 <= len(schema.encode()) <= MAX_NAME):
        raise BadInput(f"a schema can't be called {schema!r:.80}: use 1 to {MAX_NAME} bytes of text")
    return schema


def has_tables(found: Found) -> bool:
    """Whether a database has tables of ours, of this or an older version."""
    return found.has_version or found.is_old


def write_probe(connection: Connection, value: str) -> None:
    """Write a row that nothing reads."""
    row = upsert(connection, server_settings).values(name="probe", value=value)
    connection.execute(row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}))
