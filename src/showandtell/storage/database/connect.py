"""Connections to SQLite and PostgreSQL: URLs, settings, and how to end one that hangs."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from showandtell.errors import BadInput, StorageFailed

T = TypeVar("T")

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
#: Makes a connection of psycopg that no pool has.
Connector: TypeAlias = Callable[[], Any]
URL_HELP = "write sqlite:///path/to/file.db, or postgresql://user:password@host/name"
DATABASE_HELP = "a URL, or a sync Engine of SQLAlchemy for postgresql+psycopg"
#: How long SQLite waits for another writing process, in seconds.
BUSY_SECONDS = 7.0
#: Settings of each SQLite connection: wait for other writers, enforce foreign keys, survive a power cut.
PRAGMAS = (f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL")
#: Maximum number of concurrent PostgreSQL connections, each with its own thread.
MAX_CONNECTIONS = 15
#: Held while a database's file is made, see `create_file`.
CREATING = threading.Lock()
#: libpq's settings of each connection, in seconds; the last in milliseconds. A URL can override them. They detect a
#: dead machine within about ten seconds; Linux's default takes hours.
CONNECT_ARGS = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 8_000,
}
#: PostgreSQL's own limits of each session, in milliseconds. A URL's `options` can override them.
SESSION_LIMITS = {
    "statement_timeout": 7_000,
    "lock_timeout": 5_000,
    "idle_in_transaction_session_timeout": 10_000,
}


def connect_sqlite(url: URL) -> Engine:
    """An engine with one connection, for writing."""
    settings = {"isolation_level": None, "timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = create_engine(url, hide_parameters=True, connect_args=settings, pool_size=1, max_overflow=0)
    event.listen(engine, "connect", set_pragmas)
    event.listen(engine, "begin", begin_immediately)
    return engine


def connect_postgres(url: URL, in_use: ConnectionsInUse, connector: Connector | None = None) -> Engine:
    """An engine with a pool of connections, each noted in `in_use` while it is used. One may be dead: use `retry`.

    `connector` makes them if they are to be made as another engine does.
    """
    options: dict[str, Any] = {"pool_size": 5, "max_overflow": -1}  # the threads are the limit
    options |= {"creator": connector} if connector else {"connect_args": connect_arguments(url)}
    engine = create_engine(url, hide_parameters=True, **options)
    given = str(url.query.get("options", ""))
    limits = "; ".join(f"SET {name} = {value}" for name, value in SESSION_LIMITS.items() if name not in given)

    def note(connection: Any, *_: object) -> None:
        in_use.add(connection)

    def prepare(connection: Any, _: object) -> None:
        connection.autocommit = True
        connection.execute(limits)
        connection.autocommit = False

    event.listen(engine, "connect", note, insert=True)  # before any statement
    event.listen(engine, "connect", prepare)
    event.listen(engine, "checkout", note)
    event.listen(engine, "checkin", lambda *_: in_use.remove())
    return engine


def retry(work: Callable[[Callable[[], None]], T]) -> T:
    """Run `work`, and once more if its connection turns out to be dead, because the server was restarted perhaps.

    `work` gets a function to call before what may not be done twice, such as a commit.
    """
    is_decided = False

    def decide() -> None:
        nonlocal is_decided
        is_decided = True

    try:
        return work(decide)
    except DBAPIError as error:
        if is_decided or not error.connection_invalidated:
            raise
    return work(decide)  # all connections of the pool are replaced now


def connector_of(engine: Engine) -> Connector:
    """A function that connects as a program's engine does, with its credentials and its `connect` events.

    The connections are not part of its pool, so that our deadlines and settings don't touch those of the program.
    Raises `BadInput` unless it is a sync engine for PostgreSQL.
    """
    dialect = engine.dialect
    if (dialect.name, dialect.driver, dialect.is_async) != ("postgresql", "psycopg", False):
        raise BadInput(f"database is an Engine for {dialect.name} with {dialect.driver}: give {DATABASE_HELP}")
    pool = engine.pool.recreate()  # holds no connection: each one is detached

    def connect() -> Any:
        connection = pool.connect()
        connection.detach()
        return connection.dbapi_connection

    return connect


def connect_arguments(url: URL) -> dict[str, Any]:
    """The settings of libpq for a connection to PostgreSQL that its URL doesn't have."""
    return {name: value for name, value in CONNECT_ARGS.items() if name not in url.query}


class ConnectionsInUse:
    """Which thread uses which connection to PostgreSQL, so that one that hangs can be cut by another thread."""

    def __init__(self) -> None:
        self._of_thread: dict[int, Any] = {}
        self._given_up: set[int] = set()
        self._lock = threading.Lock()

    def add(self, connection: Any) -> None:
        """Note the connection of this thread. Raises `StorageFailed` if the thread's call was cut already."""
        with self._lock:
            if threading.get_ident() in self._given_up:
                raise StorageFailed("the database connected too late: nobody waits for it any more")
            self._of_thread[threading.get_ident()] = connection

    def remove(self) -> None:
        """Forget the connection of this thread."""
        with self._lock:
            self._of_thread.pop(threading.get_ident(), None)

    def end_call(self) -> None:
        """The call of this thread has ended: the next one may connect again."""
        self.remove()
        with self._lock:
            self._given_up.discard(threading.get_ident())

    def cut(self, thread: int) -> None:
        """Cut the connection that a thread uses: what it waits for there fails at once. Its call gets no other one."""
        with self._lock, suppress(OSError):
            self._given_up.add(thread)
            if (connection := self._of_thread.get(thread)) is not None and not connection.closed:
                with closing(socket.socket(fileno=os.dup(connection.fileno()))) as its_socket:
                    its_socket.shutdown(socket.SHUT_RDWR)


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


def file_identity(path: str) -> tuple[tuple[int, int] | None, ...]:
    """Device and inode of a database's file and of its log, each None if it doesn't exist."""
    return identity(path), identity(f"{path}-wal")


def identity(path: str) -> tuple[int, int] | None:
    """Device and inode of a file, or None if it doesn't exist."""
    try:
        status = os.stat(path)  # noqa: PTH116 - for each transaction
    except OSError:
        return None
    return status.st_dev, status.st_ino


def create_file(path: str) -> None:
    """Create a database's file unless it exists. Only its owner can read it, and the files that SQLite adds.

    An existing one is never opened here: closing it would release the locks that other connections of this process
    have on it, and another process would then delete the log in use. `CREATING` keeps them away from a new one.
    """
    with CREATING, suppress(OSError):  # an error is reported when it is opened
        os.close(os.open(Path(path).resolve(), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def use_wal(path: str) -> None:
    """Switch to WAL mode, so that readers don't block the writer. Retries if another process does so concurrently."""
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


def rewrite(connection: Any) -> None:
    """Write a whole SQLite database again, without what was deleted from it, and empty its log.

    Raises `StorageFailed` if the log can't be emptied, because another program reads all the time.
    """
    connection.execute("VACUUM")
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        raise StorageFailed("the database's log is in use, so that it still holds what was deleted: stop the server")


def set_pragmas(connection: Any, _record: object) -> None:
    """Configure a new SQLite connection."""
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def begin_immediately(connection: Connection) -> None:
    """Take the write lock at once: a transaction that reads first could fail with `locked` when it writes."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
