"""A thread for the sync functions of one tool call: the tool, and what provides its dependencies."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from showandtell.agent.isolate import Raised
from showandtell.storage.blobs.threads import CALLS, run_by

Job: TypeAlias = Callable[[], None]


class CallThread:
    """Runs functions one after the other in one thread, from the first until `close`.

    They share a copy of the context variables of the call. A connection that may only be used by the thread that
    opened it, as those of `sqlite3`, can be opened, used and closed here.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()
        self._jobs: SimpleQueue[Job | None] | None = None

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function. If the caller stops waiting, the function runs on, and its result is dropped."""
        return await run_by(self._put, partial(self._context.run, call_contained, function, *args, **kwargs))

    def close(self) -> None:
        """Give the thread back after the functions that it was given."""
        if self._jobs is not None:
            self._jobs.put(None)

    def _put(self, job: Job) -> None:
        if self._jobs is not None:
            self._jobs.put(job)
            return
        self._jobs = SimpleQueue()
        self._jobs.put(job)
        CALLS.start(partial(run_jobs, self._jobs))


def run_jobs(jobs: SimpleQueue[Job | None]) -> None:
    """What the thread does for one call."""
    while (job := jobs.get()) is not None:
        job()


def call_contained(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function. An exception that a future can't hold, or that would end the event loop, becomes `Raised`."""
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        raise Raised.of(error) from error
    except Exception:
        raise
    except BaseException as error:
        raise Raised.of(error) from error
