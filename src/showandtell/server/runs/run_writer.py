"""Stores the rows of a worker's runs: their start, their streams in batches, and their end.

A run's row is stored with its first message, and its end with the last one, in one transaction each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypeVar

from sqlalchemy import Connection

from showandtell.errors import ShowAndTellError
from showandtell.server.answers import public_message
from showandtell.server.runs.live_run import LiveRun
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.runs import RunUpdate
from showandtell.storage.database.database import Database

T = TypeVar("T")

#: Seconds between writes of the streams to the database. After a crash, up to this much is generated again.
STORE_SECONDS = 0.3


def nothing(_: Connection) -> None:
    """Add nothing to a transaction."""


class RunWriter:
    """Writes for the runs of one worker. `drop` is called with a run that another worker has taken over."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float],
        worker: str,
        live: dict[str, LiveRun],
        drop: Callable[[LiveRun], None],
    ) -> None:
        self._database, self._clock, self._worker = database, clock, worker
        self._live, self._drop = live, drop
        self._storing = asyncio.Lock()

    async def store_row(self, live: LiveRun, work: Callable[[Connection], T] = nothing) -> T:
        """Store a run's row unless it is, in one transaction with `work`."""
        async with live.storing:

            def transaction(connection: Connection) -> T:
                if not live.is_stored:
                    runs.insert_run(connection, live.row, live.request.create)
                return work(connection)

            result = await self._database.write(transaction)
            live.is_stored = True
            return result

    async def store_end(self, live: LiveRun, work: Callable[[Connection], T]) -> T:
        """Store the end of a run in one transaction with `work`, which stores its last message."""
        if not live.final_chunk or live.is_abandoned:
            return await self._database.write(work)
        async with self._storing:
            live.is_done = True
            now = self._clock()
            update = live.next_update(now)
            updates = [] if update is None else [update]

            def transaction(connection: Connection) -> tuple[T, set[str]]:
                return work(connection), runs.store_updates(connection, self._worker, updates, now)

            try:
                result, lost = await self._database.write(transaction)
            except ShowAndTellError as error:
                live.fail(public_message(error))
                raise
            if update is not None:
                self._mark_stored(live, update, lost, now)
            return result

    async def store_end_of(self, live: LiveRun) -> None:
        """Store the end of a run, unless it was stored with the last message."""
        if not live.is_end_stored:
            await self.store_updates()

    async def store_updates(self) -> None:
        """Store new stream data and ends of all runs."""
        async with self._storing:
            now = self._clock()
            updates = [(live, update) for live in self._live.values() if (update := live.next_update(now))]
            if updates:
                lost = await runs.write_log(self._database, self._worker, [update for _, update in updates], now)
                for live, update in updates:
                    self._mark_stored(live, update, lost, now)
                    if update.end is not None:
                        self._live.pop(live.row.id, None)

    def _mark_stored(self, live: LiveRun, update: RunUpdate, lost: Collection[str], now: float) -> None:
        if update.run_id in lost:
            self._drop(live)
        else:
            live.mark_stored(update, now)

    async def store_slow_rows(self) -> None:
        """Store the rows of runs that have stored nothing for a while, so that other workers know of them."""
        before = self._clock() - STORE_SECONDS
        for live in [*self._live.values()]:
            if not live.is_stored and live.row.created < before:
                with suppress(ShowAndTellError):  # the run itself meets the same error
                    await self.store_row(live)

    async def discard(self, live: LiveRun) -> None:
        """Delete a run that stored nothing, so that its message can be sent again."""
        self._live.pop(live.row.id, None)
        if live.is_stored:
            await runs.delete_run(self._database, live.row)
