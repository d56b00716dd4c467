"""Threads for calls of tools, proofs and other work on files. They are daemons: one that hangs lets the process end.

They are apart from the event loop's own threads, so that waiting for a slow store delays only the requests that use it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar, cast

T = TypeVar("T")
Inbox: TypeAlias = SimpleQueue[Callable[[], None]]

#: Maximum number of short and of long jobs at a time; others wait.
MAX_THREADS = 64
#: Seconds after which an idle thread ends.
IDLE_SECONDS = 30.0


class DaemonThreads:
    """At most `limit` threads, started when needed, that end after a while without a job."""

    def __init__(self, limit: float, name: str) -> None:
        self._limit, self._name = limit, name
        self._lock = threading.Lock()
        self._count = 0
        #: The inboxes of idle threads, the last used one at the end: so the others stay idle, and end.
        self._idle = list[Inbox]()
        self._backlog = deque[Callable[[], None]]()

    def submit(self, function: Callable[..., T], *values: Any) -> Future[T]:
        """Call a function in one of the threads as soon as one is free, with the context variables of the caller."""
        future, context = Future[T](), copy_context()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(function, *values))
            except BaseException as error:  # noqa: BLE001 - passed on to the caller
                future.set_exception(error)

        self.start(run)
        return future

    def start(self, run: Callable[[], None]) -> None:
        """Call a function that raises nothing in one of the threads as soon as one is free."""
        with self._lock:
            if self._idle:
                self._idle.pop().put(run)
            elif self._count < self._limit:
                self._start_thread(run)
            else:
                self._backlog.append(run)

    async def run(self, function: Callable[..., T], *values: Any) -> T:
        """Like `submit`, for an event loop. A function that still waits for a thread is dropped with its caller."""
        context = copy_context()
        return await run_by(self.start, lambda: context.run(function, *values), drop=True)

    def replace(self, future: Future[Any]) -> None:
        """Let another thread work instead of the one that runs this job, until the job returns."""
        with self._lock:
            self._limit += 1
            if self._backlog:
                self._start_thread(self._backlog.popleft())
        future.add_done_callback(self._returned)

    def close(self) -> None:
        """End the threads: idle ones now, the others after their jobs."""
        with self._lock:
            self._limit, idle, self._idle = 0, self._idle, []
        for inbox in idle:
            inbox.put(lambda: None)

    def _returned(self, _: Future[Any]) -> None:
        with self._lock:
            self._limit -= 1

    def _start_thread(self, run: Callable[[], None]) -> None:
        self._count += 1
        inbox = Inbox()
        inbox.put(run)
        threading.Thread(target=self._work, args=(inbox,), name=self._name, daemon=True).start()

    def _work(self, inbox: Inbox) -> None:
        while True:
            try:
                inbox.get(timeout=IDLE_SECONDS)()
            except Empty:
                with self._lock:
                    if inbox not in self._idle:
                        continue  # it has just got a job
                    self._idle.remove(inbox)
                    self._count -= 1
                    return
            with self._lock:
                if self._count > self._limit:
                    self._count -= 1
                    return
                if self._backlog:
                    inbox.put(self._backlog.popleft())
                else:
                    self._idle.append(inbox)


#: Code of the program, which may hang: tools, and what files are read from. So each call gets a thread at once.
CALLS = DaemonThreads(inf, "calls")
SHORT_JOBS = DaemonThreads(MAX_THREADS, "files")
LONG_JOBS = DaemonThreads(MAX_THREADS, "conversions")
#: People look at thumbnails: they never wait for other conversions.
THUMBNAIL_JOBS = DaemonThreads(8, "thumbnails")


async def run_by(start: Callable[[Callable[[], None]], object], function: Callable[[], T], *, drop: bool = False) -> T:
    """Wait for the result of a function that `start` has a thread call; with `drop`, only if the caller still waits."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(cast("T", result))

    def run() -> None:
        if drop and future.cancelled():
            return
        try:
            result, error = function(), None
        except BaseException as raised:  # noqa: BLE001 - passed on to the caller
            result, error = None, raised
        with suppress(RuntimeError):  # the loop is closed, and nothing waits for the result
            loop.call_soon_threadsafe(settle, result, error)

    start(run)
    return await future


async def run_in_thread(function: Callable[..., T], *values: Any) -> T:
    """Call a blocking function that reads or writes files in one of these threads, and return its result."""
    return await SHORT_JOBS.run(function, *values)


async def run_long_job(function: Callable[..., T], *values: Any) -> T:
    """Like `run_in_thread`, for what takes up to minutes, such as conversions: its threads are others."""
    return await LONG_JOBS.run(function, *values)
