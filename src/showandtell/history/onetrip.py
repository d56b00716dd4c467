"""SQLite's connections for writing: each statement is one trip to the connection's thread, where aiosqlite makes four.

SQLAlchemy's adapter asks for a cursor, executes, fetches and closes; each of these waits for the thread and wakes the
event loop, which costs more than what SQLite does in between.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import aiosqlite

#: What `sqlite3.Cursor` calls the two ways to do a statement.
ONCE, MANY = "execute", "executemany"


class OneTrip(aiosqlite.Connection):
    """A connection of aiosqlite, for SQLAlchemy's adapter of it."""

    def cursor(self) -> Any:
        """A cursor that has its rows as soon as its statement is done."""
        return Cursor(self)

    async def rollback(self) -> None:
        """Where nothing was begun there is nothing to undo: a pool asks whenever it gets its connection back."""
        if self.in_transaction:
            await super().rollback()

    async def take(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do some work in the connection's thread."""
        await self._execute(work, self._conn)  # pyright: ignore[reportUnknownMemberType] - it has no types


class Cursor:
    """What a statement gave. It holds nothing of the database's."""

    arraysize = 1

    def __init__(self, connection: OneTrip) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Do a statement, and fetch all that it gives."""
        await self._connection.take(partial(self._do, ONCE, sql, values))

    async def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Do a statement for each of many rows."""
        await self._connection.take(partial(self._do, MANY, sql, values))

    def _do(self, how: str, sql: str, values: Sequence[Any], connection: sqlite3.Connection) -> None:
        cursor = connection.cursor()
        try:
            getattr(cursor, how)(sql, values)
            self.description = cursor.description
            self._rows = [] if cursor.description is None else cursor.fetchall()
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()

    async def fetchall(self) -> list[Any]:
        """The rows, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Forget the rows."""
        self._rows = []


def connect(path: str, **settings: Any) -> OneTrip:
    """As `aiosqlite.connect`. Its thread keeps no program from ending."""
    connection = OneTrip(partial(sqlite3.connect, path, **settings), iter_chunk_size=64)
    connection._thread.daemon = True  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - as SQLAlchemy does itself
    return connection
