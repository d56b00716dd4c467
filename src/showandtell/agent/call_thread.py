"""A thread for the sync functions of one tool call: the tool, and what provides its dependencies."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias

from showandtell.agent.isolate import Raised

Job: TypeAlias = Callable[[], None]


class CallThread:
    """Runs functions one after the other in a daemon thread, which starts with the first and ends with `close`.

    They share a copy of the context variables of the call. A connection that may only be used by the thread that
    opened it, as those of `sqlite3`, can be opened, used and closed here.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()
        self._jobs: SimpleQueue[Job | None] | None = None

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function. If the caller stops waiting, the function runs on, and its result is dropped."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def finish(value: Any, error: BaseException | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error if fits_future(error) else Raised.of(error))

        def job() -> None:
            try:
                value, error = self._context.run(function, *args, **kwargs), None
            except BaseException as raised:  # noqa: BLE001 - every exception is the caller's to handle
                value, error = None, raised
            with contextlib.suppress(RuntimeError):  # the loop is closed and nothing waits for the result
                loop.call_soon_threadsafe(finish, value, error)

        self._queue().put(job)
        return await future

    def close(self) -> None:
        """End the thread after the functions that it was given."""
        if self._jobs is not None:
            self._jobs.put(None)

    def _queue(self) -> SimpleQueue[Job | None]:
        if self._jobs is None:
            self._jobs = SimpleQueue()
            threading.Thread(target=run_jobs, args=[self._jobs], name="showandtell-tool", daemon=True).start()
        return self._jobs


def run_jobs(jobs: SimpleQueue[Job | None]) -> None:
    """The main function of the thread."""
    while (job := jobs.get()) is not None:
        job()


def fits_future(error: BaseException) -> bool:
    """Whether a future can hold an exception: not `StopIteration`, nor one that would end the event loop."""
    return isinstance(error, Exception) and not isinstance(error, StopIteration)
