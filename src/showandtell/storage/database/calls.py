"""Calls to a database in threads of their own. Each ends in time, also when the database hangs.

A database that hangs keeps its connections open and answers nothing. Once a call is slow, a probe finds out; while the
database doesn't answer, calls fail at once, and a probe a second finds out when it does again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from msgspec import Struct

from showandtell.errors import StorageFailed

log = logging.getLogger(__name__)

T = TypeVar("T")


class Timeouts(Struct, frozen=True):
    """In seconds: a call's time, when a slow one is doubted, a probe's time and the pause between two probes."""

    call: float = 8.0
    doubt: float = 2.0
    probe: float = 2.0
    pause: float = 1.0


class NoAnswer(StorageFailed):
    """The database did not answer in time. `may_be_stored`: it was a write that had begun, so it may still succeed."""

    may_be_stored = False


@dataclass(slots=True, eq=False)
class Call:
    """A call: what waits for it, its future in the thread pool, and the thread that runs it (None: not begun)."""

    seconds: float
    waiter: asyncio.Future[Any] = field(init=False)
    future: Future[Any] = field(init=False)
    timer: asyncio.TimerHandle = field(init=False)
    thread: int | None = None
    error: NoAnswer | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a thread has taken it."""
        return self.thread is not None


class Calls:
    """A pool of threads that call one database, used by one event loop.

    `probe` asks the database something, in a thread; without one, the pool itself is probed: whether a thread of it is
    free. `abort` gets the id of the thread of a call that nobody waits for any more, and may make it return.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        timeouts: Timeouts,
        probe: Callable[[], object] | None = None,
        abort: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._name, self._timeouts, self._abort = name, timeouts, abort
        self._threads = ThreadPoolExecutor(threads, "database")
        self._prober = self._threads if probe is None else ThreadPoolExecutor(1, "database probe")
        self._probe = probe or (lambda: None)
        self._probing_thread: int | None = None
        self._open: set[Call] = set()
        self._watching: asyncio.Task[None] | None = None
        self._is_silent = False

    async def run(
        self, function: Callable[..., T], *values: Any, within: float | None = None, writes: bool = False
    ) -> T:
        """Call a function in a thread. Raises `NoAnswer` after `within` seconds, or if the database doesn't answer.

        A call that has not begun by then never begins. `writes`: whether it stores something.
        """
        if self._is_silent:
            raise self._no_answer()
        loop, call = asyncio.get_running_loop(), Call(self._timeouts.call if within is None else within)
        call.future = self._threads.submit(run_call, call, function, values)
        call.waiter = asyncio.wrap_future(call.future, loop=loop)
        call.timer = loop.call_later(min(self._timeouts.doubt, call.seconds), self._doubt, call, loop)
        self._open.add(call)
        try:
            return await call.waiter
        except asyncio.CancelledError:
            if call.error is not None:
                call.error.may_be_stored = writes and call.has_begun
                raise call.error from None
            raise
        finally:
            call.timer.cancel()
            self._open.discard(call)

    async def check(self) -> None:
        """Raise `NoAnswer` if the database doesn't answer a probe in time."""
        if not self._is_silent:
            await asyncio.wait({self._watch()}, timeout=self._timeouts.probe + self._timeouts.pause)
        if self._is_silent:
            raise self._no_answer()

    async def close(self) -> None:
        """Wait for the calls that run, each within its time. Threads that hang are left alone."""
        while self._open:
            await asyncio.wait({call.waiter for call in self._open})
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        self._threads.shutdown(wait=False)
        self._prober.shutdown(wait=False, cancel_futures=True)

    def _no_answer(self, text: str = "does not answer: check that it is running, then try again") -> NoAnswer:
        return NoAnswer(f"the database {self._name} {text}")

    def _doubt(self, call: Call, loop: asyncio.AbstractEventLoop) -> None:
        """A call is slow: find out whether the database answers, and give the call the rest of its time."""
        call.timer = loop.call_later(max(0.0, call.seconds - self._timeouts.doubt), self._give_up, call)
        self._watch()

    def _give_up(self, call: Call, error: NoAnswer | None = None) -> None:
        call.error = error or self._no_answer(f"took longer than {call.seconds:g} s: try again")
        call.waiter.cancel()  # removes it from the queue if it hasn't begun
        if call.thread is not None and not call.future.done():
            self._abort(call.thread)

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
        """Whether a probe ends in time, with an error or without: what a call gets, then, says what is wrong."""
        future = asyncio.wrap_future(self._prober.submit(self._run_probe))
        await asyncio.wait({future}, timeout=self._timeouts.probe)
        if not future.done():
            future.cancel()
            if self._probing_thread is not None:
                self._abort(self._probing_thread)
            return False
        if not future.cancelled() and (error := future.exception()) is not None:
            log.warning("a probe of the database %s failed: %s", self._name, type(error).__name__)
        return True

    def _run_probe(self) -> None:
        self._probing_thread = threading.get_ident()
        try:
            self._probe()
        finally:
            self._probing_thread = None


def run_call(call: Call, function: Callable[..., T], values: tuple[Any, ...]) -> T:
    """Run a call in the current thread."""
    call.thread = threading.get_ident()
    return function(*values)
