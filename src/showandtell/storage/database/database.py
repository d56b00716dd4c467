"""A database: SQLite or PostgreSQL. A read is a single statement, a write a transaction.

Both run in the database's own threads, one call each, so that a cancellation can't interrupt them.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput, StorageFailed, StorageFull
from showandtell.storage.database.schema_check import check_schema, unknown_revision, unreleased
from showandtell.storage.database.tables import HEAD
from showandtell.storage.uncancelled import shielded

Row: TypeAlias = Sequence[Any]
#: A statement for SQLite's driver: its SQL, the parameter names in order, and the constant parameters.
Compiled: TypeAlias = tuple[str, Sequence[str], dict[str, Any]]
T = TypeVar("T")

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
URL_HELP = "write sqlite:///path/to/file.db, or postgresql://user:password@host/name"
#: How long SQLite waits for another writing process, in seconds.
BUSY_SECONDS = 30.0
#: Settings of each SQLite connection: wait for other writers, enforce foreign keys, survive a power cut.
PRAGMAS = (f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL")
#: Maximum number of concurrent PostgreSQL connections, each with its own thread.
MAX_CONNECTIONS = 15
#: Detect a dead PostgreSQL connection after about half a minute; Linux's default takes hours. A URL can override these
#: (libpq's names, in seconds; the last in milliseconds).
KEEPALIVE = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 35_000}
#: The advisory lock on PostgreSQL that serializes migrations.
MIGRATION_LOCK = 0x73686F77
DISK_FULL = ("disk is full", "No space left", "could not extend file", "quota")
DAMAGED = (
    "malformed",
    "is not a database",
    "invalid page",
    "could not read block",
    "toast value",
    "unexpected zero page",
)


@dataclass(slots=True, eq=False)
class Job:
    """A transaction to run, and its result."""

    transaction: Callable[[Connection], Any]
    value: Any = None
    error: BaseException | None = None
    is_done: bool = False

    def run(self, connection: Connection, *, alone: bool) -> None:
        """Run it. Unless it is `alone`, in a savepoint, so that an error rolls back only this job."""
        if alone:
            self.value = self.transaction(connection)
            return
        try:
            with connection.begin_nested():
                self.value = self.transaction(connection)
        except Exception as error:
            self.error = error
            if (
                not connection.connection.in_transaction
            ):  # SQLite rolled back everything, for example because the disk is full
                raise


class Database:
    """A database. It belongs to the event loop that opened it."""

    def __init__(self, url: str | URL) -> None:
        self.url = read_url(url)
        shown = self.url.set(drivername=self.url.get_backend_name(), query={})  # the query may contain a password
        self.name = shown.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = self._connect()
        self._single = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._make_threads()
        self._reader: sqlite3.Connection | None = None
        self._jobs: deque[Job] = deque()
        self._compiled: WeakKeyDictionary[Executable, Compiled] = WeakKeyDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._file: tuple[int, int] | None = None

    def _make_threads(self) -> None:
        """Thread pools, started on demand. On SQLite, readers don't wait for writers."""
        self._writing = ThreadPoolExecutor(1 if self.is_sqlite else MAX_CONNECTIONS, "database")
        self._reading = ThreadPoolExecutor(1, "database reader") if self.is_sqlite else self._writing

    def _connect(self) -> Engine:
        try:
            if not self.is_sqlite:
                keepalive = {name: value for name, value in KEEPALIVE.items() if name not in self.url.query}
                sizes = {"pool_size": 5, "max_overflow": MAX_CONNECTIONS - 5}
                return create_engine(
                    self.url, hide_parameters=True, pool_pre_ping=True, connect_args=keepalive, **sizes
                )
            settings = {"isolation_level": None, "timeout": BUSY_SECONDS, "check_same_thread": False}
            engine = create_engine(self.url, hide_parameters=True, connect_args=settings, pool_size=1, max_overflow=0)
        except ImportError as error:
            raise BadInput(f"{self.name} requires {error.name}: pip install 'showandtell[history,postgres]'") from error
        event.listen(engine, "connect", set_pragmas)
        event.listen(engine, "begin", begin_immediately)
        return engine

    async def open(self) -> None:
        """Connect and migrate the tables. Processes that start concurrently wait for each other."""
        self._loop = asyncio.get_running_loop()
        try:
            with self.translated_errors():
                if self.is_sqlite:
                    await self._run_in(self._reading, self._open_reader, self.url.database or "")
                await self._migrate_if_needed()
        except BaseException:
            await self.close()
            raise

    def _open_reader(self, path: str) -> None:
        use_wal(path)
        self._file = file_identity(path)
        self._reader = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        for pragma in (*PRAGMAS, "PRAGMA query_only=ON"):
            self._reader.execute(pragma)

    async def close(self) -> None:
        """Close every connection once running work has finished."""
        self._loop = None
        await shielded(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._reading.shutdown()
        self._writing.shutdown()
        self._make_threads()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.engine.dispose()

    async def _run_in(self, threads: ThreadPoolExecutor, function: Callable[..., T], *values: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, function, *values)

    async def read(self, statement: Executable, **values: object) -> Sequence[Row]:
        """The rows of one query. Takes no lock."""
        self._check_open()
        with self.translated_errors():
            return await self._run_in(self._reading, self._read, statement, values)

    def _read(self, statement: Executable, values: dict[str, Any]) -> Sequence[Row]:
        if self._reader is None:
            with self._single.connect() as connection:
                return connection.execute(statement, values).all()
        sql, order, constants = self._compile(statement)
        parameters = {**constants, **values}
        return self._reader.execute(sql, [parameters[name] for name in order]).fetchall()

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

    async def write(self, transaction: Callable[[Connection], T]) -> T:
        """Run `transaction` in a database transaction and return its result. On SQLite it starts with the write lock.

        It completes even if the caller is cancelled, and is rolled back if it raises. Raises `StorageFailed` if
        SQLite's file was deleted or replaced since it was opened, because the write would be lost.
        """
        self._check_open()
        with self.translated_errors():
            if not self.is_sqlite:
                return await shielded(self._run_in(self._writing, self._write, transaction))
            self._jobs.append(job := Job(transaction))
            return await shielded(self._run_in(self._writing, self._write_together, job))

    def _write(self, transaction: Callable[[Connection], Any]) -> Any:
        with self.engine.begin() as connection:
            return transaction(connection)

    def _write_together(self, job: Job) -> Any:
        """Run all queued jobs in one transaction, since each commit waits for the disk."""
        if not job.is_done:
            jobs = [self._jobs.popleft() for _ in range(len(self._jobs))]
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
        with self.engine.begin() as connection:
            for job in jobs:
                job.run(connection, alone=len(jobs) == 1)

    @contextmanager
    def translated_errors(self) -> Generator[None]:
        """Turn database errors into `StorageFailed`, without passwords or SQL statements."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            raise self._failed(error) from (error.orig if isinstance(error, DBAPIError) else error)

    def _failed(self, error: Exception) -> StorageFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        text = " ".join(str(cause).strip().partition("\n")[0].split())[:200]
        if any(phrase in text for phrase in DISK_FULL):
            return StorageFull(
                f"the database {self.name} has no space left: delete conversations or free space, then try again"
            )
        if any(phrase in text for phrase in DAMAGED):
            return StorageFailed(
                f"the database {self.name} is damaged ({text}): run `showandtell fsck`, and restore the backup"
            )
        if isinstance(error, (OperationalError, InterfaceError, sqlite3.OperationalError)) or (
            isinstance(error, DBAPIError) and error.connection_invalidated
        ):
            return StorageFailed(
                f"the database {self.name} does not answer ({text}): check that it is running, then try again"
            )
        return StorageFailed(f"the database {self.name} rejected a statement ({text}): check its tables and disk")

    async def _migrate_if_needed(self) -> None:
        try:
            versions = await self.read(text("SELECT version_num FROM alembic_version"))
        except StorageFailed:  # no tables yet; the migration reports any other problem
            versions = ()
        if [row[0] for row in versions] != [HEAD]:
            await self.write(self._migrate)
        await check_schema(self.read, self.engine.dialect, self.name)

    def _migrate(self, connection: Connection) -> None:
        if not self.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
        migrate(connection, self.name)


def read_url(url: str | URL) -> URL:
    """Parse a database URL and set the driver. Raises `BadInput`, which doesn't show the password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise BadInput(f"the database URL can't be parsed: {URL_HELP}") from None
    driver = DRIVERS.get(parsed.drivername.partition("+")[0])
    if driver is None:
        raise BadInput(f"databases of type {parsed.drivername!r} are not supported: {URL_HELP}")
    if "@" in (parsed.host or ""):
        raise BadInput(f"the database URL can't be parsed: {URL_HELP}, with any @ in the password written as %40")
    if not driver.startswith("sqlite"):
        return parsed.set(drivername=driver)
    path = parsed.database
    if path is None or path in {"", ":memory:"}:
        raise BadInput(f"in-memory SQLite databases are not supported: {URL_HELP}")
    if parsed.query or parsed.host or parsed.username or parsed.password or "\0" in path:
        raise BadInput(f"a SQLite URL may contain only a file path: {URL_HELP}")
    return parsed.set(drivername=driver, database=str(Path(path).absolute()))


def file_identity(path: str) -> tuple[int, int] | None:
    """Device and inode of a file, or None if it doesn't exist."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def use_wal(path: str) -> None:
    """Switch to WAL mode, so that readers don't block the writer. Retries if another process does so concurrently."""
    with suppress(OSError):  # an error is reported when it is opened
        # Readable by its owner only, and so are the files that SQLite adds.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            if database.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
                return
            raise StorageFailed(f"the disk of {Path(path).name} doesn't support a database shared by several processes")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        finally:
            database.close()
        time.sleep(0.01)


def set_pragmas(connection: Any, _record: object) -> None:
    """Configure a new SQLite connection."""
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def begin_immediately(connection: Connection) -> None:
    """Take the write lock at once: a transaction that reads first could fail with `locked` when it writes."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def migrate(connection: Connection, name: str) -> None:
    """Run the missing migrations in this connection's transaction. Raises `BadInput` if the tables are not ours."""
    from alembic import command  # noqa: PLC0415 - slow to import, and seldom needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise unknown_revision(name, connection.scalars(text("SELECT version_num FROM alembic_version"))) from error
    except (OperationalError, ProgrammingError) as error:
        if "already exists" not in str(error.orig):
            raise
        raise unreleased(name, " ".join(str(error.orig).split())[:200]) from error
