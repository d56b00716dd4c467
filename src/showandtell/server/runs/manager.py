"""The runs of this worker, and those of others that somebody here reads: begun, followed, stopped, taken over.

A run belongs to the server: whoever reads it may leave. What it says is stored in batches, so that other workers can
tell it, and go on with it where its own worker is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Self

from msgspec import structs

from showandtell.core.messages.ids import new_id
from showandtell.core.messages.messages import begins_turn
from showandtell.errors import NotFound, ShowAndTellError, StorageFailed
from showandtell.server.answers import told_of
from showandtell.server.runs.live_run import FAILED, LiveRun, RunRequest
from showandtell.server.runs.notifications import Notifications
from showandtell.server.runs.remote_runs import RemoteRuns
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.runs import RELEASED, RUNNING, RunEnd, RunRow, RunUpdate
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.database.lease import is_dead, myself

log = logging.getLogger(__name__)

#: How often what was said is stored, in seconds: so much may have to be said again after a crash.
STORE_EVERY = 0.3
#: A sign of life goes to silent streams that often, in seconds.
HEARTBEAT_EVERY = 15.0
#: How often runs without a worker are looked for, in seconds.
LOOK_EVERY = 5.0
#: A run whose worker was silent for so long, in seconds, is another's: the lease of its conversation has ended by then.
SILENT = 35.0
#: And it must have been looked at more often than this without a sign of life.
LOOKS = 2
#: A run that has taken so many workers with it is given up.
MOST_TRIES = 3
GIVEN_UP = "the server went down again and again while it answered: try again"
#: Logs of runs that ended so long ago, in seconds, are dropped.
KEEP_LOG = 300.0
#: So long a worker that ends waits for its runs to end by themselves, in seconds.
GRACE = 2.0


#: Does the work of a run, and says all of it on its tape.
Work = Callable[[LiveRun], Awaitable[None]]


class Runs:
    """All runs of this worker. Use it as `async with Runs(...)`: what goes on at its end is left to other workers."""

    def __init__(self, store: Store, work: Work) -> None:
        self.worker = f"{new_id('worker')}@{myself()}"
        self._store, self._work = store, work
        self._hearing = Notifications(store.database, self._heard)
        self._going: dict[str, LiveRun] = {}
        self._echoes = RemoteRuns(store.database, self._hearing)
        self._heeding: asyncio.Task[None] | None = None
        #: How often runs were looked at, by their last sign of life, since they have been silent.
        self._silent: dict[tuple[str, float], int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._storing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        try:
            await self._hearing.open()
            await self.look_for_orphans()
        except BaseException:
            await self._close()
            raise
        for every, work in (
            (STORE_EVERY, self.store_now),
            (LOOK_EVERY, self.look_for_orphans),
            (HEARTBEAT_EVERY, self.beat),
            (KEEP_LOG, self.forget_logs),
        ):
            self._spawn(self._again_and_again(every, work))
        return self

    async def __aexit__(self, *_: object) -> None:
        working = [one.task for one in self._going.values() if one.task is not None]
        if working:
            await asyncio.wait(working, timeout=GRACE)
        with contextlib.suppress(StorageFailed):
            await self.leave_all()
        await self._close()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, self._echoes.close(), return_exceptions=True)
        await self._hearing.close()

    @property
    def going(self) -> int:
        """How many runs go on here."""
        return len(self._going)

    @property
    def readers(self) -> int:
        """How many streams are read here."""
        return sum(tape.readers for tape in (*(one.tape for one in self._going.values()), *self._echoes.tapes))

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _again_and_again(self, every: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(every)
            try:
                await work()
            except ShowAndTellError as error:  # the database may be back next time
                log.warning("the server's runs: %s", error)
            except Exception:  # whatever it is, what is done again and again goes on
                log.exception("the server's runs")

    async def begin(
        self, conversation: StoredConversation, user: str, model: str, client_id: str | None, asked: RunRequest
    ) -> tuple[RunRow, LiveRun | None]:
        """Begin a run; None where the same client's message has begun one already, which is given.

        Raises `Busy` while another one goes on in the conversation.
        """
        now = self._store.terms.clock()
        fresh = RunRow(
            new_id("run"),
            conversation.id,
            user,
            client_id,
            None,
            conversation.head,
            model,
            RUNNING,
            0,
            self.worker,
            now,
            0,
            now,
            None,
        )
        row, is_fresh = await runs.begin(self._store.database, fresh)
        return (
            (row, self._start(LiveRun(row, StreamBuffer(), conversation, asked, beat=now))) if is_fresh else (row, None)
        )

    def _start(self, going: LiveRun) -> LiveRun:
        self._going[going.row.id] = going
        going.task = self._spawn(self._go(going))
        return going

    async def _go(self, going: LiveRun) -> None:
        try:
            await self._work(going)
        except asyncio.CancelledError:
            pass  # it was stopped, and has said so
        except ShowAndTellError as error:
            going.error = error
        except Exception as error:
            going.error = error
            log.exception("the run %s failed", going.row.id)
        finally:
            if not going.is_left:
                await self._end(going)

    async def _end(self, going: LiveRun) -> None:
        """Store the end of a run, and then tell it; one in which nothing was stored has never been.

        One that was taken over has stored something, and ends even where it never came to say a word.
        """
        going.is_done = True
        if going.over is FAILED and isinstance(going.error, ShowAndTellError):
            going.over = RunEnd("error", told_of(going.error))
        try:
            await (self._store_news() if going.has_said or going.row.tries else self._forget(going))
        except StorageFailed as error:
            log.warning("the end of the run %s is not stored: %s", going.row.id, error)
        except Exception:  # its readers are told all the same
            log.exception("the end of the run %s is not stored", going.row.id)
        last, going.last = going.last, b""
        if last:
            going.tape.say(last)
        going.tape.end()
        going.begun.set()

    async def store_now(self) -> None:
        """Store what all runs here have said, and which of them are over; stop those that somebody asked to stop."""
        await self._store_news()
        await self._heed_stops()

    async def _store_news(self) -> None:
        async with self._storing:
            now = self._store.terms.clock()
            told = [(one, news) for one in self._going.values() if (news := one.news(now))]
            if told:
                lost = await runs.write_log(self._store.database, self.worker, [news for _, news in told], now)
                for one, news in told:
                    if news.run_id in lost:
                        self._let_go(one)
                        continue
                    one.stored(news, now)
                    if news.over is not None:
                        self._going.pop(one.row.id, None)

    async def _heed_stops(self) -> None:
        self._heeding = None
        if not self._going:
            return
        try:
            for run_id in await runs.list_stops(self._store.database, self.worker):
                self._cancel(run_id)
        except StorageFailed as error:  # whoever wants them to stop can't say so either
            log.warning("who is to stop can't be read: %s", error)

    def _cancel(self, run_id: str) -> None:
        """Stop a run, once: what it does then to be gone on with must not be cut."""
        going = self._going.get(run_id)
        if going is not None and going.task is not None and not (going.is_done or going.is_stopped):
            going.is_stopped = True
            going.task.cancel()

    def _let_go(self, going: LiveRun) -> None:
        """Another worker has this run now, or nobody has."""
        going.is_left = True
        self._going.pop(going.row.id, None)
        if going.task is not None:
            going.task.cancel()
        going.tape.tear()
        going.begun.set()

    async def leave_all(self) -> None:
        """Leave every run as a crash would, for others to go on with: nothing of what is unfinished is stored."""
        with contextlib.suppress(StorageFailed):
            await self.store_now()
        left = list(self._going.values())
        for going in left:
            going.is_left = True  # before anything is awaited: what it meets from now on is not its end
        for going in left:
            await going.conversation.leave()
            self._let_go(going)
        await runs.release(self._store.database, self.worker)

    async def _forget(self, going: LiveRun) -> None:
        """Forget a run in which nothing was stored, so that the same message can be sent again."""
        self._going.pop(going.row.id, None)
        await runs.forget(self._store.database, going.row.id, self.worker)

    async def stop(self, row: RunRow) -> None:
        """Stop a run, wherever it goes on."""
        if row.id in self._going:
            self._cancel(row.id)
        else:
            await runs.ask_to_stop(self._store.database, row.id)

    def find(self, row: RunRow) -> LiveRun | None:
        """A run, where it goes on here."""
        return self._going.get(row.id)

    async def follow(self, row: RunRow, *, late: bool) -> AsyncIterator[bytes]:
        """The stream of a run that goes on, here or elsewhere, from its start to its end."""
        going = self._going.get(row.id)
        pieces = going.tape.follow(late=late) if going is not None else self._echoes.follow(row, late=late)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    def _heard(self, run_id: str) -> None:
        """Somebody wants a run to stop."""
        if run_id in self._going and self._heeding is None:
            self._heeding = self._spawn(self._heed_stops())

    async def beat(self) -> None:
        """Send a sign of life to silent streams."""
        for tape in (*(one.tape for one in self._going.values()), *self._echoes.tapes):
            tape.beat()

    async def forget_logs(self) -> None:
        """Drop the logs that nobody needs. Seldom: each time is a write, also where nothing goes on."""
        await runs.forget_logs(self._store.database, self._store.terms.clock() - KEEP_LOG)

    async def look_for_orphans(self) -> None:
        """Take over the runs whose worker is gone."""
        now = self._store.terms.clock()
        found = [row for row in await runs.list_running(self._store.database) if row.id not in self._going]
        silent = [row for row in found if abs(now - row.beat) > SILENT]
        # A clock may jump: what is silent has to stay so while we look.
        self._silent = {(row.id, row.beat): self._silent.get((row.id, row.beat), 0) + 1 for row in silent}
        for row in found:
            is_left = row.beat == RELEASED or is_dead(row.worker.partition("@")[2])
            if (is_left and row.worker != self.worker) or self._silent.get((row.id, row.beat), 0) > LOOKS:
                try:
                    await self._take_over(row, now)
                except StorageFailed as error:  # it is looked at again, and given up at last; others go on
                    log.warning("the run %s can't be gone on with: %s", row.id, error)

    async def _take_over(self, row: RunRow, now: float) -> None:
        if not await runs.take_over(self._store.database, row, self.worker, now):
            return
        row = structs.replace(row, worker=self.worker, beat=now, tries=row.tries + 1)
        try:
            conversation = await self._store.open(row.conversation_id, row.user_id, "writer")
        except NotFound:  # it was deleted meanwhile, or is no longer shared
            await self._end_unseen(row, RunEnd("incomplete", "cancelled"), now)
        except StorageFailed:
            if row.tries <= MOST_TRIES:
                raise
            await self._end_unseen(row, RunEnd("error", GIVEN_UP), now)
        else:
            await self._go_on(row, conversation, now)

    async def _go_on(self, row: RunRow, conversation: StoredConversation, now: float) -> None:
        # Its worker may have gone before it could store what it answers.
        question = next((one.id for one in reversed(conversation.messages) if begins_turn(one)), None)
        row = structs.replace(row, message_id=row.message_id or question)
        going = LiveRun(row, StreamBuffer(), conversation, RunRequest(), beat=now)
        if conversation.head == row.before:  # nothing was stored, so nothing was acknowledged
            await self._forget(going)
        elif row.tries > MOST_TRIES or row.stop:
            going.is_done = True
            going.over = RunEnd("incomplete", "cancelled") if row.stop else RunEnd("error", GIVEN_UP)
            self._going[row.id] = going
            await self.store_now()
        else:
            self._start(going)

    async def _end_unseen(self, row: RunRow, over: RunEnd, now: float) -> None:
        """End a run whose conversation can't be read."""
        await runs.write_log(self._store.database, self.worker, [RunUpdate(row.id, (), over, row.message_id)], now)
