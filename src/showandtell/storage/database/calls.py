"""Calls to a database in threads of their own. Each ends in time, also when the database hangs.

A database that hangs keeps its connections open and answers nothing. Once a call is slow, a probe finds out; while the
database doesn't answer, calls fail at once, and a probe a second finds out when it does again. A thread whose call
nobody waits for any more loses its connection; if that doesn't bring it back, another thread takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from msgspec import Struct

from showandtell.errors import StorageFailed
from showandtell.storage.blobs.threads import DaemonThreads
from showandtell.storage.database.connect import ConnectionsInUse
from showandtell.storage.uncancelled import wait_for_end

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Maximum number of threads that hang and have been replaced.
MAX_HANGING: Final = 16
#: Seconds between two looks at threads that are to return.
POLL_SECONDS: Final = 0.01


class Timeouts(Struct, frozen=True):
    """In seconds: a call's time, when a slow one is doubted, a probe's time and the pause between two probes."""

    call: float = 8.0
    doubt: float = 2.0
    probe: float = 2.0
    pause: float = 1.0


class NoAnswer(StorageFailed):
    """The database did not answer in time."""


@dataclass(slots=True, eq=False)
class Call:
    """A call: its time, its future in the thread pool, and the thread that runs it now, if any.

    `waiter` is done once the call has ended or was given up.
    """

    threads: DaemonThreads
    seconds: float
    writes: bool = False
    #: It was given more or less time than others.
    is_special: bool = False
    waiter: asyncio.Future[Any] = field(init=False)
    future: Future[Any] = field(init=False)
    timer: asyncio.TimerHandle | None = None
    thread: int | None = None


class Calls:
    """A pool of threads that call one database, used by one event loop.

    `probe` asks the database something, in a thread; without one, the pool itself is probed: whether a thread of it is
    free. With `connections`, threads whose calls were given up are freed by cutting what they use of these.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        timeouts: Timeouts,
        probe: Callable[[], object] | None = None,
        connections: ConnectionsInUse | None = None,
    ) -> None:
        self._name, self._timeouts, self._connections = name, timeouts, connections
        self._threads = DaemonThreads(threads, "database")
        self._prober = self._threads if probe is None else DaemonThreads(1, "database-probe")
        self._probe = probe
        self._open: set[Call] = set()
        #: Calls whose threads have not returned, also those that were given up.
        self._running: set[Call] = set()
        #: Calls that were given up and hang, so that other threads took the place of theirs.
        self._hanging: set[Call] = set()
        self._watching: asyncio.Task[None] | None = None
        self._is_silent = False
        self._lock = threading.Lock()

    async def run(
        self, function: Callable[..., T], *values: Any, within: float | None = None, writes: bool = False
    ) -> T:
        """Call a function in a thread. Raises `NoAnswer` after `within` seconds, or if the database doesn't answer.

        A call that has not begun by then never begins. `writes`: whether it stores something; then it is completed even
        if the caller is cancelled.
        """
        if self._is_silent:
            raise self._no_answer()
        seconds = self._timeouts.call if within is None else within
        call = Call(self._threads, seconds, writes, within is not None)
        self._start(call, function, values)
        self._give_time(call, min(self._timeouts.doubt, seconds), self._doubt)
        self._open.add(call)
        if writes:
            cancelled, value = await wait_for_end(call.waiter)
            if cancelled is not None:
                raise cancelled
            return value
        try:
            return await asyncio.shield(call.waiter)
        except asyncio.CancelledError:
            if not call.future.cancel():
                self._give_time(call, self._timeouts.doubt, self._give_up)
            raise

    async def check(self) -> None:
        """Raise `NoAnswer` if the database doesn't answer a probe in time."""
        if not self._is_silent:
            await asyncio.wait({self._watch()}, timeout=self._timeouts.probe + self._timeouts.pause)
        if self._is_silent:
            raise self._no_answer()

    async def close(self) -> None:
        """Wait for the calls that run, each within its time, and briefly for threads that hang, which are then left."""
        while self._open:
            await asyncio.wait({call.waiter for call in self._open})
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeouts.probe
        while self._running and loop.time() < deadline:  # noqa: ASYNC110 - threads return
            await asyncio.sleep(POLL_SECONDS)
        self._threads.close()
        self._prober.close()

    def _start(self, call: Call, function: Callable[..., Any], values: tuple[Any, ...]) -> None:
        loop = asyncio.get_running_loop()
        self._running.add(call)
        call.waiter = loop.create_future()
        call.future = call.threads.submit(self._run, call, function, values)

        def report(_: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._end, call)

        call.future.add_done_callback(report)

    def _run(self, call: Call, function: Callable[..., T], values: tuple[Any, ...]) -> T:
        """Run a call in the current thread."""
        call.thread = threading.get_ident()
        try:
            return function(*values)
        finally:
            with self._lock:  # so that the thread's next call isn't cut instead
                call.thread = None
            if self._connections is not None:
                self._connections.end_call()

    def _end(self, call: Call) -> None:
        """The thread has returned, or the call was withdrawn before it began."""
        if call.timer is not None:
            call.timer.cancel()
        self._open.discard(call)
        self._running.discard(call)
        self._hanging.discard(call)
        if call.waiter.done():
            return
        if call.future.cancelled():
            call.waiter.cancel()
        elif (error := call.future.exception()) is not None:
            call.waiter.set_exception(error)
        else:
            call.waiter.set_result(call.future.result())

    def _no_answer(self, text: str = "does not answer: check that it is running, then try again") -> NoAnswer:
        return NoAnswer(f"the database {self._name} {text}")

    def _give_time(self, call: Call, seconds: float, then: Callable[[Call], None]) -> None:
        """What happens to a call that has not ended after `seconds`, instead of what was to happen."""
        if call.timer is not None:
            call.timer.cancel()
        call.timer = call.waiter.get_loop().call_later(seconds, then, call)

    def _doubt(self, call: Call) -> None:
        """A call is slow: find out whether the database answers, and give the call the rest of its time."""
        self._give_time(call, max(0.0, call.seconds - self._timeouts.doubt), self._give_up)
        self._watch()

    def _give_up(self, call: Call, error: NoAnswer | None = None) -> None:
        if call.future.done():
            return
        self._open.discard(call)
        has_begun = not call.future.cancel()
        if not call.waiter.done():
            error = error or self._no_answer(f"took longer than {call.seconds:g} s: try again")
            error.may_be_stored = call.writes and has_begun
            call.waiter.set_exception(error)
            call.waiter.exception()  # it may be that nobody waits for it any more
        if has_begun and self._connections is not None:
            with self._lock:
                if call.thread is not None:
                    self._connections.cut(call.thread)
            self._give_time(call, self._timeouts.probe + self._timeouts.pause, self._replace)

    def _replace(self, call: Call) -> None:
        """Its thread waits for something else than its connection, such as a name server: let another one work."""
        if len(self._hanging) >= MAX_HANGING:
            self._give_time(call, self._timeouts.pause, self._replace)
        elif not call.future.done():
            self._hanging.add(call)
            call.threads.replace(call.future)
            log.warning("%d threads hang that wait for the database %s", len(self._hanging), self._name)

    def _watch(self) -> asyncio.Task[None]:
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._probe_until_answered())
        return self._watching

    async def _probe_until_answered(self) -> None:
        while not await self._answers():
            if not self._is_silent:
                log.error("the database %s does not answer: requests that need it fail until it does", self._name)
            self._is_silent = True
            for call in [*self._open]:
                self._give_up(call, self._no_answer())
            await asyncio.sleep(self._timeouts.pause)
        if self._is_silent:
            log.warning("the database %s answers again", self._name)
        self._is_silent = False

    async def _answers(self) -> bool:
        """Whether a probe ends in time, with an error or without: what a call gets, then, says what is wrong.

        If the pool itself is probed, a call that runs within a time of its own is no reason to doubt the database.
        """
        if self._probe is None and any(call.is_special and call.thread is not None for call in self._open):
            return True
        call = Call(self._prober, self._timeouts.probe)
        self._start(call, self._probe or (lambda: None), ())
        self._give_time(call, call.seconds, self._give_up)
        try:
            await call.waiter
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        except NoAnswer:
            return False
        except Exception as error:  # noqa: BLE001 - an answer
            log.warning("a probe of the database %s failed: %s", self._name, type(error).__name__)
        return True
