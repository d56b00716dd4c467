"""Notify a worker of log entries by other workers: with LISTEN on PostgreSQL, by polling on SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.conversations.runs import CHANNEL, STOP_PREFIX
from showandtell.storage.database.connect import connect_arguments
from showandtell.storage.database.database import Database

if TYPE_CHECKING:
    from psycopg import AsyncConnection

log = logging.getLogger(__name__)

#: Poll interval in seconds without notifications, and with them, in case one is lost.
POLL_SECONDS, FALLBACK_POLL_SECONDS = 0.2, 5.0
#: Seconds before the next attempt to listen to PostgreSQL.
RECONNECT_SECONDS = 1.0


class Notifications:
    """Wakes readers of runs with new log entries, and calls `on_stop` with the ids of runs to stop."""

    def __init__(self, database: Database, on_stop: Callable[[str], None]) -> None:
        self._database, self._on_stop = database, on_stop
        self._events: dict[str, asyncio.Event] = {}
        self._task: asyncio.Task[None] | None = None
        #: The connection that an engine of the program made, which warns if it is forgotten while it is in use.
        self._made: Any = None

    async def open(self) -> None:
        """Start listening on PostgreSQL; SQLite has no notifications."""
        if not self._database.is_sqlite:
            self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def subscribe(self, run_id: str) -> asyncio.Event:
        """Return an event that is set by the next log entry of a run."""
        return self._events.setdefault(run_id, asyncio.Event())

    def unsubscribe(self, run_id: str) -> None:
        """Drop the event of a run."""
        self._events.pop(run_id, None)

    async def wait(self, event: asyncio.Event) -> None:
        """Wait for an event, but no longer than the poll interval."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), POLL_SECONDS if self._task is None else FALLBACK_POLL_SECONDS)

    def _wake(self, run_id: str) -> None:
        event = self._events.pop(run_id, None)
        if event is not None:
            event.set()

    def _dispatch(self, payload: str) -> None:
        if payload.startswith(STOP_PREFIX):
            self._on_stop(payload.removeprefix(STOP_PREFIX))
        else:
            self._wake(payload)

    async def _listen(self) -> None:
        """Listen to PostgreSQL. After a broken connection all readers poll, and it is opened again."""
        from psycopg import OperationalError  # noqa: PLC0415 - an extra, needed for PostgreSQL alone

        while True:
            try:
                async with await self._connect() as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._wake_all()
                    async for notification in connection.notifies():
                        self._dispatch(notification.payload)
            except OperationalError as error:
                log.warning("listening to PostgreSQL failed (%s): polling instead", type(error).__name__)
            except Exception:  # retry after any error
                log.exception("listening to PostgreSQL failed: polling instead")
            self._wake_all()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _connect(self) -> AsyncConnection:
        """A connection of its own."""
        from psycopg import AsyncConnection  # noqa: PLC0415 - an extra, needed for PostgreSQL alone

        database = self._database
        if database.connector is None:
            url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
            return await AsyncConnection.connect(url, autocommit=True, **connect_arguments(database.url))
        self._made = await run_in_thread(database.connector)
        connection = cast("AsyncConnection", AsyncConnection(self._made.pgconn))
        await connection.rollback()  # what the program does with each new connection
        await connection.set_autocommit(True)
        return connection

    def _wake_all(self) -> None:
        for run_id in list(self._events):
            self._wake(run_id)
