"""One database: SQLite in a file, or PostgreSQL. A read is a single statement, a write a transaction from its start."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import aiosqlite
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput, StorageFailed, StorageFull
from showandtell.history import onetrip
from showandtell.history.tables import HEAD
from showandtell.whole import uncut, whole

Row: TypeAlias = Sequence[Any]
#: A statement for SQLite's driver: its text, the names of its values in order, and those values that never change.
Compiled: TypeAlias = tuple[str, Sequence[str], dict[str, Any]]

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
HOW = "write sqlite:///path/to/file.db, or postgresql://user:password@host/name"
#: How long SQLite waits for another process that writes, in seconds.
WAIT = 30.0
#: SQLite's own setting for each connection: wait for others, check references, survive a power cut.
PRAGMAS = (f"PRAGMA busy_timeout={WAIT * 1000:.0f}", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL")
#: One number for all of our programs, by which they wait for each other's migrations on PostgreSQL.
MIGRATING = 0x73686F77
FULL = ("disk is full", "No space left", "could not extend file", "quota")


class Steady(AsyncConnection):
    """A connection whose statements are done to their end; a cancellation is raised behind them."""

    async def execute(self, *asked: Any, **options: Any) -> Any:
        """As `AsyncConnection.execute`."""
        return await uncut(super().execute(*asked, **options))


class Database:
    """An open database. It belongs to the event loop that opened it."""

    def __init__(self, url: str | URL) -> None:
        self.url = read_url(url)
        shown = self.url.set(drivername=self.url.get_backend_name(), query={})  # for a query may hold a password
        self.name = shown.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = self._connect()
        self._single = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._reader: aiosqlite.Connection | None = None
        self._compiled: WeakKeyDictionary[Executable, Compiled] = WeakKeyDictionary()
        self._events: asyncio.AbstractEventLoop | None = None
        self._file: tuple[int, int] | None = None

    def _connect(self) -> AsyncEngine:
        try:
            if not self.is_sqlite:
                return create_async_engine(self.url, hide_parameters=True, pool_pre_ping=True)
            settings = {"isolation_level": None, "timeout": WAIT, "async_creator_fn": onetrip.connect}
            engine = create_async_engine(
                self.url, hide_parameters=True, connect_args=settings, pool_size=1, max_overflow=0, pool_timeout=WAIT
            )
        except ImportError as error:
            raise BadInput(f"{self.name} needs {error.name}: pip install 'showandtell[history,postgres]'") from error
        event.listen(engine.sync_engine, "connect", set_pragmas)
        event.listen(engine.sync_engine, "begin", begin_immediately)
        return engine

    async def open(self) -> None:
        """Connect, and bring the tables up to date; processes that start at once wait for each other."""
        self._events = asyncio.get_running_loop()
        try:
            with self.telling():
                if self.is_sqlite:
                    await self._open_reader(self.url.database or "")
                await self._update()
        except BaseException:
            await self.close()
            raise

    async def _open_reader(self, path: str) -> None:
        await asyncio.to_thread(use_wal, path)
        self._file = file_at(path)
        self._reader = await aiosqlite.connect(path, isolation_level=None, timeout=WAIT)
        for pragma in (*PRAGMAS, "PRAGMA query_only=ON"):
            await self._reader.execute_fetchall(pragma)

    async def close(self) -> None:
        """Close every connection."""
        self._events = None
        if self._reader is not None:
            await self._reader.close()
            self._reader = None
        await self.engine.dispose()

    async def read(self, statement: Executable, **values: object) -> Sequence[Row]:
        """The rows of one query, which takes no lock and one trip to the driver on SQLite."""
        self._check_open()
        with self.telling():
            if self._reader is None:
                async with self._single.connect() as connection:
                    return (await connection.execute(statement, values)).all()
            sql, order, constants = self._compile(statement)
            given = {**constants, **values}
            return tuple(await self._reader.execute_fetchall(sql, [given[name] for name in order]))

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

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that holds SQLite's write lock from its start, and is stored when the block ends.

        Raises `StorageFailed` where SQLite's file is no longer the one that was opened: what is written to a file
        that was deleted is gone.
        """
        self._check_open()
        if self.is_sqlite and file_at(self.url.database or "") != self._file:
            raise StorageFailed(
                f"the file of the database {self.name} was deleted or replaced while it was in use: start again"
            )
        with self.telling():
            transaction = self._begin()
            # Begun, done and ended whoever cancels meanwhile: a driver that is left in the middle of a statement keeps
            # the lock of the whole database.
            cancelled, connection = await whole(transaction.__aenter__())
            if cancelled is not None:
                await uncut(transaction.__aexit__(type(cancelled), cancelled, None))
                raise cancelled
            try:
                yield connection
            except BaseException as error:
                await uncut(transaction.__aexit__(type(error), error, error.__traceback__))
                raise
            await uncut(transaction.__aexit__(None, None, None))

    @asynccontextmanager
    async def _begin(self) -> AsyncGenerator[AsyncConnection]:
        async with Steady(self.engine) as connection, connection.begin():
            yield connection

    @contextmanager
    def telling(self) -> Generator[None]:
        """Say in our words that the database fails; its password and our statements are in none of them."""
        try:
            yield
        except (DBAPIError, NoConnection, sqlite3.Error) as error:
            raise self._failed(error) from (error.orig if isinstance(error, DBAPIError) else error)

    def _failed(self, error: Exception) -> StorageFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        words = " ".join(str(cause).strip().partition("\n")[0].split())[:200]
        if any(sign in words for sign in FULL):
            return StorageFull(f"the database {self.name} has no space left: free some, then try again")
        if isinstance(error, (OperationalError, InterfaceError, NoConnection, sqlite3.OperationalError)) or (
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
        if [row[0] for row in there] == [HEAD]:
            return
        async with self.engine.begin() as connection:
            if not self.is_sqlite:
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATING})"))
            await connection.run_sync(migrate)


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
