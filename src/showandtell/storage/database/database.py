"""One database: SQLite in a file, or PostgreSQL. A read is a single statement, a write a transaction from its start.

Both are done in threads of the database's own: one trip there and back for each, which no cancellation cuts in two.
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
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput, StorageFailed, StorageFull
from showandtell.storage.database.tables import HEAD
from showandtell.storage.uncancelled import shielded

Row: TypeAlias = Sequence[Any]
#: A statement for SQLite's driver: its text, the names of its values in order, and those values that never change.
Compiled: TypeAlias = tuple[str, Sequence[str], dict[str, Any]]
T = TypeVar("T")

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
HOW = "write sqlite:///path/to/file.db, or postgresql://user:password@host/name"
#: How long SQLite waits for another process that writes, in seconds.
WAIT = 30.0
#: SQLite's own setting for each connection: wait for others, check references, survive a power cut.
PRAGMAS = (f"PRAGMA busy_timeout={WAIT * 1000:.0f}", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL")
#: So many connections to PostgreSQL work at once, each in a thread.
AT_ONCE = 15
#: How a connection to PostgreSQL learns that nobody is at its other end any more: after half a minute or so, where
#: Linux alone would wait for hours. A URL may say otherwise (libpq's names, in seconds; the last in milliseconds).
ALIVE = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 35_000}
#: One number for all of our programs, by which they wait for each other's migrations on PostgreSQL.
MIGRATING = 0x73686F77
FULL = ("disk is full", "No space left", "could not extend file", "quota")


@dataclass(slots=True, eq=False)
class Job:
    """Some work for a transaction, and what became of it when that has ended."""

    work: Callable[[Connection], Any]
    value: Any = None
    error: BaseException | None = None
    is_done: bool = False

    def do(self, connection: Connection, *, alone: bool) -> None:
        """Do it; beside others, what it did is undone where it raises, and theirs isn't."""
        if alone:
            self.value = self.work(connection)
            return
        try:
            with connection.begin_nested():
                self.value = self.work(connection)
        except Exception as error:
            self.error = error
            if not connection.connection.in_transaction:  # SQLite gave up all of it: the disk is full, say
                raise


class Database:
    """An open database. It belongs to the event loop that opened it."""

    def __init__(self, url: str | URL) -> None:
        self.url = read_url(url)
        shown = self.url.set(drivername=self.url.get_backend_name(), query={})  # for a query may hold a password
        self.name = shown.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = self._connect()
        self._single = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._hire()
        self._reader: sqlite3.Connection | None = None
        self._jobs: deque[Job] = deque()
        self._compiled: WeakKeyDictionary[Executable, Compiled] = WeakKeyDictionary()
        self._events: asyncio.AbstractEventLoop | None = None
        self._file: tuple[int, int] | None = None

    def _hire(self) -> None:
        """Threads that are started when they are needed. On SQLite who reads doesn't wait for who writes."""
        self._writing = ThreadPoolExecutor(1 if self.is_sqlite else AT_ONCE, "database")
        self._reading = ThreadPoolExecutor(1, "database reader") if self.is_sqlite else self._writing

    def _connect(self) -> Engine:
        try:
            if not self.is_sqlite:
                alive = {name: value for name, value in ALIVE.items() if name not in self.url.query}
                sizes = {"pool_size": 5, "max_overflow": AT_ONCE - 5}
                return create_engine(self.url, hide_parameters=True, pool_pre_ping=True, connect_args=alive, **sizes)
            settings = {"isolation_level": None, "timeout": WAIT, "check_same_thread": False}
            engine = create_engine(self.url, hide_parameters=True, connect_args=settings, pool_size=1, max_overflow=0)
        except ImportError as error:
            raise BadInput(f"{self.name} needs {error.name}: pip install 'showandtell[history,postgres]'") from error
        event.listen(engine, "connect", set_pragmas)
        event.listen(engine, "begin", begin_immediately)
        return engine

    async def open(self) -> None:
        """Connect, and bring the tables up to date; processes that start at once wait for each other."""
        self._events = asyncio.get_running_loop()
        try:
            with self.telling():
                if self.is_sqlite:
                    await self._in(self._reading, self._open_reader, self.url.database or "")
                await self._update()
        except BaseException:
            await self.close()
            raise

    def _open_reader(self, path: str) -> None:
        use_wal(path)
        self._file = file_at(path)
        self._reader = sqlite3.connect(path, isolation_level=None, timeout=WAIT, check_same_thread=False)
        for pragma in (*PRAGMAS, "PRAGMA query_only=ON"):
            self._reader.execute(pragma)

    async def close(self) -> None:
        """Close every connection, when what goes on has ended."""
        self._events = None
        await shielded(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._reading.shutdown()
        self._writing.shutdown()
        self._hire()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.engine.dispose()

    async def _in(self, threads: ThreadPoolExecutor, work: Callable[..., T], *values: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *values)

    async def read(self, statement: Executable, **values: object) -> Sequence[Row]:
        """The rows of one query, which takes no lock."""
        self._check_open()
        with self.telling():
            return await self._in(self._reading, self._read, statement, values)

    def _read(self, statement: Executable, values: dict[str, Any]) -> Sequence[Row]:
        if self._reader is None:
            with self._single.connect() as connection:
                return connection.execute(statement, values).all()
        sql, order, constants = self._compile(statement)
        given = {**constants, **values}
        return self._reader.execute(sql, [given[name] for name in order]).fetchall()

    def _check_open(self) -> None:
        if self._events is None:
            raise StorageFailed(f"the database {self.name} is closed: use it inside `async with`")
        if self._events is not asyncio.get_running_loop():
            raise BadInput(f"the database {self.name} was opened in another event loop: open one in each")

    def _compile(self, statement: Executable) -> Compiled:
        if statement not in self._compiled:
            compiled: Any = cast("Any", statement).compile(dialect=self.engine.dialect)
            binds = compiled.binds.items()
            constants = {name: bind.value for name, bind in binds if not bind.required}
            self._compiled[statement] = (str(compiled), tuple(compiled.positiontup), constants)
        return self._compiled[statement]

    async def write(self, work: Callable[[Connection], T]) -> T:
        """What some work gives, done in one transaction that holds SQLite's write lock from its start.

        It is done whole in a thread, whoever cancels meanwhile, and undone where the work raises. Raises
        `StorageFailed` where SQLite's file is no longer the one that was opened: what is written to a file that was
        deleted is gone.
        """
        self._check_open()
        with self.telling():
            if not self.is_sqlite:
                return await shielded(self._in(self._writing, self._write, work))
            self._jobs.append(job := Job(work))
            return await shielded(self._in(self._writing, self._write_together, job))

    def _write(self, work: Callable[[Connection], Any]) -> Any:
        with self.engine.begin() as connection:
            return work(connection)

    def _write_together(self, job: Job) -> Any:
        """What became of a job: all that wait are stored as one transaction, for each of them waits for the disk."""
        if not job.is_done:
            jobs = [self._jobs.popleft() for _ in range(len(self._jobs))]
            try:
                self._do_all(jobs)
            except Exception as error:  # noqa: BLE001 - nothing of any is stored, and each of them says so
                for one in jobs:
                    one.error = one.error or error
            for one in jobs:
                one.is_done = True
        if job.error is not None:
            raise job.error
        return job.value

    def _do_all(self, jobs: Sequence[Job]) -> None:
        if file_at(self.url.database or "") != self._file:
            raise StorageFailed(
                f"the file of the database {self.name} was deleted or replaced while it was in use: start again"
            )
        with self.engine.begin() as connection:
            for one in jobs:
                one.do(connection, alone=len(jobs) == 1)

    @contextmanager
    def telling(self) -> Generator[None]:
        """Say in our words that the database fails; its password and our statements are in none of them."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            raise self._failed(error) from (error.orig if isinstance(error, DBAPIError) else error)

    def _failed(self, error: Exception) -> StorageFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        words = " ".join(str(cause).strip().partition("\n")[0].split())[:200]
        if any(sign in words for sign in FULL):
            return StorageFull(f"the database {self.name} has no space left: free some, then try again")
        if isinstance(error, (OperationalError, InterfaceError, sqlite3.OperationalError)) or (
            isinstance(error, DBAPIError) and error.connection_invalidated
        ):
            return StorageFailed(
                f"the database {self.name} does not answer ({words}): check that it is there and try again"
            )
        return StorageFailed(f"the database {self.name} refuses what it was asked ({words}): check its tables and disk")

    async def _update(self) -> None:
        try:
            there = await self.read(text("SELECT version_num FROM alembic_version"))
        except StorageFailed:  # there are no tables yet; what else it may be, the migration will say
            there = ()
        if [row[0] for row in there] != [HEAD]:
            await self.write(self._migrate)

    def _migrate(self, connection: Connection) -> None:
        if not self.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATING})"))
        migrate(connection)


def read_url(url: str | URL) -> URL:
    """A database's URL as people write it, with our driver. Raises `BadInput`, which shows no password."""
    try:
        found = make_url(url)
    except (ArgumentError, ValueError):
        raise BadInput(f"the database's URL can't be read: {HOW}") from None
    driver = DRIVERS.get(found.drivername.partition("+")[0])
    if driver is None:
        raise BadInput(f"a database of the kind {found.drivername!r} is not supported: {HOW}")
    if "@" in (found.host or ""):
        raise BadInput(f"the database's URL can't be read: {HOW}, with an @ of the password written as %40")
    if not driver.startswith("sqlite"):
        return found.set(drivername=driver)
    path = found.database
    if path is None or path in {"", ":memory:"}:
        raise BadInput(f"SQLite needs a file here, for what is only in memory is not kept: {HOW}")
    if found.query or found.host or found.username or found.password or "\0" in path:
        raise BadInput(f"SQLite takes the path of a file, and nothing else: {HOW}")
    return found.set(drivername=driver, database=str(Path(path).absolute()))


def file_at(path: str) -> tuple[int, int] | None:
    """Which file lies there now: its device and number; None where there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def use_wal(path: str) -> None:
    """Let readers and one writer work side by side. Two processes that switch at once may have to try again."""
    with suppress(OSError):  # what can't be made here is told when it is opened
        # For its owner alone, as its companions are.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    until = time.monotonic() + WAIT
    while True:
        database = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
        try:
            if database.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
                return
            raise StorageFailed(f"the disk of {Path(path).name} can't hold a database that several programs use")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        finally:
            database.close()
        time.sleep(0.01)


def set_pragmas(connection: Any, _record: object) -> None:
    """Prepare a new connection to SQLite."""
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def begin_immediately(connection: Connection) -> None:
    """Take the write lock at once: a transaction that reads first might be told `locked` when it writes."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def migrate(connection: Connection) -> None:
    """Run the revisions that a database lacks, in the transaction of this connection."""
    from alembic import command  # noqa: PLC0415 - heavy, and seldom needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise BadInput(f"this database was written by another version of showandtell ({error}): update it") from error
