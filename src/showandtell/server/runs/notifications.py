"""How a worker learns what others have stored: PostgreSQL tells it at once; a file's readers have to look."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from showandtell.storage.conversations.runs import CHANNEL, SHALL_STOP
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)

#: How often readers look where nobody tells them, and where somebody should have, in seconds.
LOOK, LOOK_ALL_THE_SAME = 0.2, 5.0
#: How long to wait before PostgreSQL is asked again to tell, in seconds.
AGAIN = 1.0


class Notifications:
    """Hears the ids of runs of which something was stored. `tell` is called with those that shall stop."""

    def __init__(self, database: Database, tell: Callable[[str], None]) -> None:
        self._database, self._tell = database, tell
        self._bells: dict[str, asyncio.Event] = {}
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to listen."""
        if not self._database.is_sqlite:
            self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def next(self, run_id: str) -> asyncio.Event:
        """What is set when something of a run is stored from now on."""
        return self._bells.setdefault(run_id, asyncio.Event())

    def forget(self, run_id: str) -> None:
        """Nobody waits for it any more."""
        self._bells.pop(run_id, None)

    async def wait(self, bell: asyncio.Event) -> None:
        """Wait for it, or until it is time to look."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(bell.wait(), LOOK if self._task is None else LOOK_ALL_THE_SAME)

    def _ring(self, run_id: str) -> None:
        bell = self._bells.pop(run_id, None)
        if bell is not None:
            bell.set()

    def _hear(self, news: str) -> None:
        if news.startswith(SHALL_STOP):
            self._tell(news.removeprefix(SHALL_STOP))
        else:
            self._ring(news)

    async def _listen(self) -> None:
        """Hear PostgreSQL; where the connection breaks, everybody looks, and it is opened again."""
        from psycopg import AsyncConnection, OperationalError  # noqa: PLC0415 - an extra, needed for PostgreSQL alone

        address = self._database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while True:
            try:
                async with await AsyncConnection.connect(address, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._ring_all()
                    async for news in connection.notifies():
                        self._hear(news.payload)
            except OperationalError as error:
                log.warning("PostgreSQL can't be heard (%s): looking instead", type(error).__name__)
            except Exception:  # whatever it is, it is tried again
                log.exception("PostgreSQL can't be heard: looking instead")
            self._ring_all()
            await asyncio.sleep(AGAIN)

    def _ring_all(self) -> None:
        for run_id in list(self._bells):
            self._ring(run_id)
