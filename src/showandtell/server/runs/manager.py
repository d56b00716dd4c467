"""Start, follow, stop and take over runs: those of this worker, and those of others that are read here.

A run continues without readers. Its stream is stored in batches, so that other workers can serve it, and continue the
run if its worker dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Self, TypeVar

from showandtell.core.messages.ids import new_id
from showandtell.errors import ShowAndTellError, StorageFailed
from showandtell.media.turns import Turns
from showandtell.server.answers import public_message
from showandtell.server.runs.live_run import (
    FAILED,
    START_SECONDS,
    LiveRun,
    NotStoredYet,
    RunDiscarded,
    RunRequest,
    RunTask,
)
from showandtell.server.runs.notifications import Notifications
from showandtell.server.runs.orphans import CHECK_SECONDS, Orphans
from showandtell.server.runs.remote_runs import RemoteRuns
from showandtell.server.runs.run_writer import STORE_SECONDS, RunWriter
from showandtell.server.runs.siblings import on_death
from showandtell.server.runs.stream_buffer import StreamBuffer, StreamInterrupted
from showandtell.server.runs.takeover import take_over
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.runs import RUNNING, RunEnd, RunRow
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.database.lease import this_process
from showandtell.storage.uncancelled import shielded, wait_briefly

log = logging.getLogger(__name__)

#: Seconds between heartbeats on idle streams.
HEARTBEAT_SECONDS = 15.0
#: Seconds after which the log of an ended run is deleted.
LOG_SECONDS = 300.0
#: Runs that a user may have at once in a worker while there are others, and otherwise; more wait.
MAX_RUNS, MAX_RUNS_ALONE = 4, 32
#: Requests of a user that start runs at once while there are others.
MAX_REQUESTS = 2
#: Seconds that a new run waits for its turn, and a request before it.
TURN_SECONDS = 10.0
#: Seconds that a stopping worker waits for its runs to end.
GRACE = 2.0
#: Seconds that it then takes at most to release them, and to end its tasks. Without that, other workers take the runs
#: over once they notice that this one is gone.
RELEASE_SECONDS, CLOSE_SECONDS = 1.0, 0.5

#: Executes a run, and writes its stream into the buffer.
RunJob = Callable[[LiveRun], Awaitable[None]]
T = TypeVar("T")


class Runs:
    """All runs of this worker. On exit from `async with Runs(...)`, unfinished runs are released to other workers."""

    def __init__(self, store: Store, job: RunJob) -> None:
        self.worker = f"{new_id('worker')}@{this_process()}"
        self._store, self._job = store, job
        self._notifications = Notifications(store.database, self._on_stop_request)
        self._live: dict[str, LiveRun] = {}
        self._remote = RemoteRuns(store.database, self._notifications)
        self._stopping: asyncio.Task[None] | None = None
        self._orphans = Orphans(store.database, self.worker, self._live, self._adopt, self._remote.notify)
        #: Set when another worker of this machine has died.
        self._death = asyncio.Event()
        self.is_leaving = self._is_released = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writer = RunWriter(store.database, store.terms.clock, self.worker, self._live, self._drop)
        self._turns = Turns("runs", each=MAX_RUNS, alone=MAX_RUNS_ALONE)
        #: Requests that start a run: reading and storing a message costs time of the event loop, too.
        self.requests = Turns("messages", each=MAX_REQUESTS, alone=MAX_RUNS_ALONE)

    async def __aenter__(self) -> Self:
        try:
            await self._notifications.open()
            await self.adopt_orphans()
        except BaseException:
            await self._close()
            raise
        for seconds, job in (
            (STORE_SECONDS, self.store_now),
            (HEARTBEAT_SECONDS, self.send_heartbeats),
            (LOG_SECONDS, self.delete_logs),
        ):
            self._spawn(self._repeat(seconds, job))
        self._spawn(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [live.task for live in self._live.values() if live.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)
        if not self._is_released:
            await self.release_all()
        await self._close()

    async def _close(self) -> None:
        """End all tasks, but wait for those that hang in the database no longer than `CLOSE_SECONDS`."""
        for task in self._tasks:
            task.cancel()
        await wait_briefly({*self._tasks, *self._orphans.close(), *self._remote.close()}, CLOSE_SECONDS)
        await self._notifications.close()

    @property
    def live_count(self) -> int:
        """Number of runs that this worker executes."""
        return len(self._live)

    @property
    def readers(self) -> int:
        """Number of open streams on this worker."""
        return sum(buffer.readers for buffer in self._buffers())

    def _buffers(self) -> list[StreamBuffer]:
        return [*(live.buffer for live in self._live.values()), *self._remote.buffers]

    def _spawn(self, job: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return self.hold(asyncio.create_task(job))

    def hold(self, task: asyncio.Task[T]) -> asyncio.Task[T]:
        """Keep a task until it is done, or until this worker stops."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _repeat(self, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self._attempt(job)

    async def _attempt(self, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except ShowAndTellError as error:  # the database may be back next time
            log.warning("can't update the server's runs: %s", error)
        except Exception:  # it is called again after any error
            log.exception("can't update the server's runs")

    async def _watch(self) -> None:
        """Look for runs without a worker: regularly, and at once when another worker of this machine has died."""
        loop = asyncio.get_running_loop()
        with on_death(lambda: loop.call_soon_threadsafe(self._death.set)):
            while not self.is_leaving:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._death.wait(), CHECK_SECONDS)
                self._death.clear()
                if not self.is_leaving:
                    await self._attempt(self._orphans.check)

    def leave(self) -> None:
        """Take over no more runs, because this worker is stopping: all may be, and would pass the runs around."""
        self.is_leaving = True

    async def start(
        self, conversation: StoredConversation, user: str, model: str, client_id: str | None, request: RunRequest
    ) -> LiveRun:
        """Start a run. It is stored with the message that it answers, or at once if it answers none.

        Raises `TooBusy` if too many runs of the user are waiting. If it is stored at once, raises the errors of
        `runs.insert_run`; otherwise `LiveRun.wait_started` does, or `Outdated`.
        """
        self._turns.check(user)
        now, head = self._store.terms.clock(), conversation.head
        names = (new_id("run"), conversation.id, user, client_id, None, head, model)
        row = RunRow(*names, RUNNING, 0, self.worker, now, 0, now, None, settings=request.settings)
        live = LiveRun(row, StreamBuffer(), conversation, request, heartbeat=now, is_stored=False)
        if request.has_question:
            return self._launch(live)

        async def store_and_launch() -> LiveRun:
            await self._writer.store_row(live)
            return self._launch(live)

        return await shielded(store_and_launch())  # a run that is stored is also executed

    async def wait_accepted(self, row: RunRow) -> RunRow:
        """Wait until the message of a run on any worker is stored, and return the run as it is then.

        Raises `RunDiscarded` if nothing of it was stored, and what `LiveRun.wait_started` raises.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START_SECONDS
        while loop.time() < deadline:
            if live := self._live.get(row.id):
                await live.wait_started()
                return live.row
            current = await runs.find(self._store.database, row.id)
            if current is None:
                raise RunDiscarded
            if current.message_id is not None or current.state != RUNNING:
                return current
            await asyncio.sleep(STORE_SECONDS)
        raise NotStoredYet

    def _launch(self, live: LiveRun) -> LiveRun:
        self._live[live.row.id] = live
        begin = None if live.is_stored else partial(self._writer.store_row, live)
        live.conversation.join(begin, partial(self._writer.store_end, live))
        live.task = self.hold(RunTask(live, self._execute(live)))
        return live

    async def _execute(self, live: LiveRun) -> None:
        try:
            if not live.is_stored and self._turns.must_wait(live.row.user_id):
                await self._writer.store_row(live)  # so that it can be stopped
            # A run that was taken over waits for as long as it takes: its message is stored already.
            async with self._turns.awaited(live.row.user_id, math.inf if live.row.tries else TURN_SECONDS):
                await self._job(live)
        except asyncio.CancelledError:
            pass  # stopped: the stream says so
        except ShowAndTellError as error:
            live.error = error
        except Exception as error:
            live.error = error
            log.exception("run %s failed", live.row.id)
        finally:
            if not live.is_abandoned:
                await self._finish(live)

    async def _finish(self, live: LiveRun) -> None:
        """Store the end of a run, then send it to readers. A run that stored nothing is deleted.

        A run that was taken over has stored something: its end is stored even if its stream never started.
        """
        live.is_done = True
        if live.end is FAILED and isinstance(live.error, ShowAndTellError):
            live.end = RunEnd("error", public_message(live.error))
        try:
            if live.has_started or live.row.tries:
                await self._writer.store_end_of(live)
            else:
                await self._writer.discard(live)
        except StorageFailed as error:
            log.warning("can't store the end of run %s: %s", live.row.id, error)
        except Exception:  # readers get the end in any case
            log.exception("can't store the end of run %s", live.row.id)
        final_chunk, live.final_chunk = live.final_chunk, b""
        if final_chunk:
            live.buffer.write(final_chunk)
        live.buffer.finish()
        live.started.set()
        if live.is_end_stored:
            self._live.pop(live.row.id, None)

    async def store_now(self) -> None:
        """Store new stream data and ends of all runs, and stop runs with a stop request."""
        await self._writer.store_updates()
        await self._writer.store_slow_rows()
        await self._apply_stops()

    async def _apply_stops(self) -> None:
        self._stopping = None
        if not self._live:
            return
        try:
            for run_id in await runs.list_stops(self._store.database, self.worker):
                self._cancel(run_id)
        except StorageFailed as error:  # new stop requests can't be stored either
            log.warning("can't read stop requests: %s", error)

    def _cancel(self, run_id: str) -> None:
        """Cancel a run, but only once: a second cancellation would interrupt its cleanup."""
        live = self._live.get(run_id)
        if live is not None and live.task is not None and not (live.is_done or live.is_stopped):
            live.is_stopped = True
            live.task.cancel()

    def _drop(self, live: LiveRun) -> None:
        """Drop a run that was taken over or deleted."""
        live.is_abandoned = True
        self._live.pop(live.row.id, None)
        if live.task is not None:
            live.task.cancel()
        live.buffer.interrupt()
        live.started.set()

    async def release_all(self) -> None:
        """Release every run to other workers and cut all streams: readers reconnect. Takes `RELEASE_SECONDS` at most.

        As after a crash, no end of an unfinished run is stored.
        """
        self.leave()
        self._is_released = True
        deadline = asyncio.get_running_loop().time() + RELEASE_SECONDS
        await wait_briefly({self._spawn(self._attempt(self.store_now))}, RELEASE_SECONDS / 2)
        unfinished = list(self._live.values())
        for live in unfinished:
            live.is_abandoned = True  # before the first await: errors from here on don't end the run
        leaving = [asyncio.ensure_future(live.conversation.abandon()) for live in unfinished]
        await asyncio.sleep(0)  # each has begun: its run stores nothing more
        for live in unfinished:
            self._drop(live)
        for buffer in self._remote.buffers:
            buffer.interrupt()
        releasing = self._spawn(self._attempt(lambda: self._release(leaving)))
        await wait_briefly({releasing}, deadline - asyncio.get_running_loop().time())

    async def _release(self, leaving: Sequence[asyncio.Future[None]]) -> None:
        """Release the runs in the database, after the leases of their conversations."""
        await asyncio.gather(*leaving, return_exceptions=True)
        await runs.release(self._store.database, self.worker)

    async def stop(self, row: RunRow) -> None:
        """Stop a run on whichever worker executes it."""
        if row.id in self._live:
            self._cancel(row.id)
        else:
            await runs.request_stop(self._store.database, row.id)

    async def wait_end(self, row: RunRow) -> None:
        """Wait for the end of a run on any worker, or until its stream breaks off. Raises `NotStoredYet`."""
        try:
            async for _ in self.follow(row, late=True):
                pass
        except StreamInterrupted:
            await asyncio.sleep(STORE_SECONDS)  # another worker takes the run over

    def running_in(self, conversation_id: str) -> RunRow | None:
        """The run of a conversation that this worker executes, also if it isn't stored yet."""
        rows = (live.row for live in self._live.values() if not live.is_done)
        return next((row for row in rows if row.conversation_id == conversation_id), None)

    def find(self, row: RunRow) -> LiveRun | None:
        """Return a run if this worker executes it."""
        return self._live.get(row.id)

    async def follow(self, row: RunRow, *, late: bool) -> AsyncGenerator[bytes]:
        """Yield the stream of a run on any worker, from its start to its end.

        Without a worker, readers get notices until one takes the run over, and the stream then. Raises
        `StreamInterrupted` if it breaks off.
        """
        if row.id not in self._live and self._orphans.is_lost(row):
            async for notice in self._orphans.wait_for_worker(row):
                yield notice
            late = True
            found = await runs.find(self._store.database, row.id)
            if found is None:  # it had stored nothing
                raise StreamInterrupted
            row = found
        live = self._live.get(row.id)
        if live is not None:
            await live.wait_begun()
        chunks = live.buffer.follow(late=late) if live is not None else self._remote.follow(row, late=late)
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk

    def _on_stop_request(self, run_id: str) -> None:
        """Check for stop requests soon. Called with the id of a run that has one."""
        if run_id in self._live and self._stopping is None:
            self._stopping = self._spawn(self._apply_stops())

    def notify(self, conversation_id: str, notice: bytes) -> None:
        """Send a chunk that isn't part of the stream to those who follow an answer in a conversation."""
        own = (live.buffer for live in self._live.values() if live.row.conversation_id == conversation_id)
        for buffer in (*own, *self._remote.buffers_in(conversation_id)):
            buffer.notify(notice)

    async def send_heartbeats(self) -> None:
        """Send a heartbeat to idle streams."""
        for buffer in self._buffers():
            buffer.heartbeat()

    async def delete_logs(self) -> None:
        """Delete logs of runs that ended. Called rarely, because each call is a write even without runs."""
        await runs.delete_logs(self._store.database, self._store.terms.clock() - LOG_SECONDS)

    async def adopt_orphans(self) -> None:
        """Take over runs whose worker is dead, silent or has released them, and tell the readers of these runs."""
        await self._orphans.check()
        await self._orphans.finish()

    async def _adopt(self, row: RunRow) -> None:
        live = await take_over(self._store, self.worker, row)
        if live is None or self.is_leaving:  # a worker that leaves releases it with the others
            return
        if live.is_done:
            self._live[row.id] = live
            await self.store_now()
        else:
            self._launch(live)
