"""Find runs without a worker: it released them, its process is dead, or nothing was heard of it for a while.

Silence is measured on this process's own monotonic clock, from the first check that found a heartbeat: the clocks of
machines differ, and jump. If this process or the database stood still, the measurement starts again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Container, Sequence
from contextlib import suppress

from showandtell.core.ui_stream.chunks import WorkerData, serialize
from showandtell.errors import ShowAndTellError
from showandtell.storage.conversations.runs import RELEASED, RunRow, list_running
from showandtell.storage.database.database import Database
from showandtell.storage.database.lease import is_dead

log = logging.getLogger(__name__)

#: Seconds between checks.
CHECK_SECONDS = 1.0
#: Seconds without a heartbeat until readers get a notice, and until the run is taken over. Its conversation's lease has
#: expired by then.
LOST_SECONDS, SILENT_SECONDS = 3.0, 10.0
#: Seconds between two checks after which the measurement starts again.
MAX_GAP = 4.0
#: Maximum number of concurrent takeovers.
MAX_TAKEOVERS = 8
#: Seconds until a reader that waits for a worker gets another notice.
NOTICE_SECONDS = 10.0
#: Notices to the readers of a run without a worker. They are no part of its stream.
WORKER_LOST, WORKER_FOUND = (serialize(WorkerData({"state": state})) for state in ("lost", "found"))


class Orphans:
    """Watches the runs of other workers for this one, whose own runs are `live`.

    `adopt` takes a run over, `notify` sends a notice to its readers.
    """

    def __init__(
        self,
        database: Database,
        worker: str,
        live: Container[str],
        adopt: Callable[[RunRow], Awaitable[None]],
        notify: Callable[[RunRow, bytes], None],
    ) -> None:
        self._database, self._worker, self._live = database, worker, live
        self._adopt, self._notify = adopt, notify
        self._rows: dict[str, RunRow] = {}
        #: When a heartbeat was first seen.
        self._since: dict[tuple[str, str, float], float] = {}
        #: The ids of runs whose readers have the notice that the worker is lost.
        self._lost: set[str] = set()
        #: Takeovers in progress, by run.
        self._adopting: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(MAX_TAKEOVERS)
        self._checked_at = float("-inf")
        self._checked = asyncio.Event()

    async def check(self) -> None:
        """Look at all runs of other workers, tell readers, and start to take over those without a worker."""
        rows = [row for row in await list_running(self._database) if row.id not in self._live]
        self.observe(rows, asyncio.get_running_loop().time())
        self._notify_readers()
        for row in filter(self.is_orphan, rows):
            if row.id not in self._adopting:
                task = self._adopting[row.id] = asyncio.create_task(self._try_to_adopt(row))
                task.add_done_callback(lambda _, run_id=row.id: self._adopting.pop(run_id))
        checked, self._checked = self._checked, asyncio.Event()
        checked.set()

    async def _try_to_adopt(self, row: RunRow) -> None:
        try:
            async with self._slots:
                await self._adopt(row)
        except ShowAndTellError as error:  # tried again at the next check
            log.warning("can't take over run %s: %s", row.id, error)
        except Exception:
            log.exception("can't take over run %s", row.id)

    async def finish(self) -> None:
        """Wait until what the last check started has ended."""
        await asyncio.gather(*self._adopting.values())

    def close(self) -> set[asyncio.Task[None]]:
        """Start no more takeovers. Returns the tasks that end."""
        for task in self._adopting.values():
            task.cancel()
        return {*self._adopting.values()}

    def observe(self, rows: Sequence[RunRow], now: float) -> None:
        """Note the runs elsewhere. `now` is in seconds, on a monotonic clock."""
        since = self._since if now - self._checked_at <= MAX_GAP else {}
        self._rows = {row.id: row for row in rows}
        self._since = {key_of(row): since.get(key_of(row), now) for row in rows}
        self._checked_at = now

    def _notify_readers(self) -> None:
        """Tell readers that the worker is lost, at each check, or that it is back, once."""
        lost = {run_id for run_id, row in self._rows.items() if self.is_lost(row)}
        for run_id, row in self._rows.items():
            if run_id in lost:
                self._notify(row, WORKER_LOST)
            elif run_id in self._lost:
                self._notify(row, WORKER_FOUND)
        self._lost = lost

    def is_lost(self, row: RunRow) -> bool:
        """Whether readers should know that a run has no worker."""
        return self._is_abandoned(row) or self._silence(row) >= LOST_SECONDS

    def is_orphan(self, row: RunRow) -> bool:
        """Whether a run can be taken over."""
        return self._is_abandoned(row) or self._silence(row) >= SILENT_SECONDS

    def _is_abandoned(self, row: RunRow) -> bool:
        return row.worker != self._worker and (row.beat == RELEASED or is_dead(row.worker.partition("@")[2]))

    def _silence(self, row: RunRow) -> float:
        return self._checked_at - self._since.get(key_of(row), self._checked_at)

    async def wait_for_worker(self, row: RunRow) -> AsyncGenerator[bytes]:
        """Tell a reader of a lost run that it has no worker, until it has one or has ended."""
        current: RunRow | None = row
        while current is not None and row.id not in self._live and self.is_lost(current):
            checked = self._checked
            yield WORKER_LOST
            with suppress(TimeoutError):
                await asyncio.wait_for(checked.wait(), NOTICE_SECONDS)
            current = self._rows.get(row.id)
        yield WORKER_FOUND


def key_of(row: RunRow) -> tuple[str, str, float]:
    """A heartbeat of a run."""
    return row.id, row.worker, row.beat
