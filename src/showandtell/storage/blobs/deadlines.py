"""Deadlines for a store that may hang: callers get an error in time, and while the store hangs, at once.

An operation on a frozen disk or bucket can't be ended, only left. Its thread stays until the operation returns, and
what it brings then is released.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar, cast

from showandtell.errors import ShowAndTellError, StorageFailed
from showandtell.storage.blobs.threads import DaemonThreads

T = TypeVar("T")
log = logging.getLogger(__name__)

#: Seconds that an operation may go without progress.
IDLE_SECONDS = 8.0
#: Maximum number of operations at a time, including those that hang; others wait.
MAX_OPERATIONS = 64
#: Seconds between two tries of a store that hangs.
RETRY_SECONDS = 1.0
#: How often an operation that may take longer is looked at within `seconds`.
LOOKS = 16
#: `current.operation` is the operation that this thread works for.
current = threading.local()


class Operation(Generic[T]):
    """An operation in a thread of its own: its `future`, and when it last made progress."""

    def __init__(self, deadlines: Deadlines, threads: DaemonThreads, function: Callable[..., T], values: Any) -> None:
        self.deadlines = deadlines
        self.progress()
        self.future = threads.submit(self._work, function, values)

    def _work(self, function: Callable[..., T], values: Any) -> T:
        current.operation = self
        self.progress()
        try:
            return function(*values)
        finally:
            current.operation = None

    def progress(self, extra: float = 0.0) -> None:
        """Restart the deadline. The next step may take `extra` seconds longer."""
        self._extra, self._moved = extra, time.monotonic()

    def result(self, drop: Callable[[T], object] | None = None) -> T:
        """Wait for the result. Raises `StorageFailed` if the operation hangs; `drop` gets a result that comes later."""
        while not self.future.done():
            limit, idle = self.deadlines.seconds, time.monotonic() - self._moved
            if idle >= limit and (self.deadlines.hangs or idle >= limit + self._extra):
                if not self.future.cancel() and drop is not None:
                    self.future.add_done_callback(lambda done: done.exception() or drop(done.result()))
                raise self.deadlines.report()
            with suppress(TimeoutError):
                self.future.exception(max(limit - idle, limit / LOOKS))
        return self.future.result()


class Deadlines:
    """Runs a store's operations in threads of their own, each with a deadline.

    An operation that makes no progress for `seconds` raises `StorageFailed`. From then on all do so at once, until
    `trial`, which one thread repeats, succeeds. `name` is the store's, for messages.
    """

    def __init__(self, name: str, trial: Callable[[], object], seconds: float = IDLE_SECONDS) -> None:
        self.name, self.seconds = name, seconds
        self._trial = trial
        self._threads = DaemonThreads(MAX_OPERATIONS, "store")
        self._lock = threading.Lock()
        self._hangs = False
        self._releases = list[Callable[[], object]]()

    @property
    def hangs(self) -> bool:
        """Whether the store is known to hang."""
        return self._hangs

    def run(self, function: Callable[..., T], *values: Any, drop: Callable[[T], object] | None = None) -> T:
        """Start an operation and wait for its result; see `start` and `Operation.result`."""
        return function(*values) if self.is_inside() else self.start(function, *values).result(drop)

    def is_inside(self) -> bool:
        """Whether this thread already works for an operation of this store."""
        operation = current_operation()
        return operation is not None and operation.deadlines is self

    def start(self, function: Callable[..., T], *values: Any) -> Operation[T]:
        """Call a function of the store in a thread. Raises `StorageFailed` if the store is known to hang."""
        if self._hangs:
            raise self._failure()
        return Operation(self, self._threads, function, values)

    def release(self, function: Callable[[], object], after: Operation[Any] | None = None) -> None:
        """Call a function that releases something: after that operation, and not while the store hangs.

        Waits for it unless the store hangs.
        """
        if after is not None and not after.future.done():
            after.future.add_done_callback(lambda _: quietly(function))
            return
        with self._lock:
            if self._hangs:
                self._releases.append(function)
                return
        self.run(function)

    def report(self) -> StorageFailed:
        """Record that the store hangs, and return the error for the caller."""
        with self._lock:
            if not self._hangs:
                self._hangs = True
                log.warning("%s", self._failure())
                threading.Thread(target=self._try, name="store-trial", daemon=True).start()
        return self._failure()

    def _try(self) -> None:
        """Repeat the trial until it succeeds, then release what waited for that."""
        while True:
            try:
                self._trial()
            except Exception:  # noqa: BLE001 - whatever it is, the store isn't back, and nobody else would try again
                time.sleep(RETRY_SECONDS)
                continue
            break
        with self._lock:
            releases, self._releases, self._hangs = self._releases, [], False
        log.warning("%s responds again", self.name)
        for function in releases:
            quietly(partial(self.run, function))

    def _failure(self) -> StorageFailed:
        return StorageFailed(
            f"{self.name} has not responded for {self.seconds:g} s: check the disk or the bucket; what needs files "
            "fails until it responds"
        )


def quietly(function: Callable[[], object]) -> None:
    """Release something that nobody waits for; leftovers of a store that fails are cleared later."""
    with suppress(ShowAndTellError, OSError):
        function()


def current_operation() -> Operation[Any] | None:
    """The operation that this thread works for, if any."""
    return cast("Operation[Any] | None", getattr(current, "operation", None))


def progress(extra: float = 0.0) -> None:
    """Say that this thread's operation continues, and that its next step may take `extra` seconds longer."""
    operation = current_operation()
    if operation is not None:
        operation.progress(extra)
