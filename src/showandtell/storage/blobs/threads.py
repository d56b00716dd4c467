"""Threads for work on files. They are daemons: one that hangs in a disk or a bucket lets the process end.

They are apart from the event loop's own threads, so that waiting for a slow store delays only the requests that use it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

#: Maximum number of short and of long jobs at a time; others wait.
MAX_THREADS = 64
#: Seconds after which an idle thread ends.
IDLE_SECONDS = 30.0


class DaemonThreads:
    """At most `limit` threads, started when needed, that end after a while without a job."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit, self._name = limit, name
        self._jobs = SimpleQueue[Callable[[], None]]()
        self._lock = threading.Lock()
        self._threads = self._idle = 0

    def submit(self, function: Callable[..., T], *values: Any) -> Future[T]:
        """Call a function in one of the threads as soon as one is free."""
        future = Future[T]()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*values))
            except BaseException as error:  # noqa: BLE001 - passed on to the caller
                future.set_exception(error)

        with self._lock:
            self._jobs.put(run)
            if self._idle:
                self._idle -= 1
            elif self._threads < self._limit:
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            job()
            del job  # its values may be large, and the next job may be far

    def _next_job(self) -> Callable[[], None] | None:
        with self._lock:
            if not self._jobs.empty():
                return self._jobs.get()
            self._idle += 1
        while True:
            try:
                return self._jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle:  # otherwise a job for this thread is in the queue
                        self._idle -= 1
                        self._threads -= 1
                        return None


SHORT_JOBS = DaemonThreads(MAX_THREADS, "files")
LONG_JOBS = DaemonThreads(MAX_THREADS, "conversions")


async def run_in_thread(function: Callable[..., T], *values: Any) -> T:
    """Call a blocking function that reads or writes files in one of these threads, and return its result."""
    return await asyncio.wrap_future(SHORT_JOBS.submit(function, *values))


async def run_long_job(function: Callable[..., T], *values: Any) -> T:
    """Like `run_in_thread`, for what takes up to minutes, such as conversions: its threads are others."""
    return await asyncio.wrap_future(LONG_JOBS.submit(function, *values))
