"""Calls functions that give credentials. They are of other libraries, block, and may hang with a token endpoint.

Each runs in a daemon thread, never in one of the event loop's, and concurrent callers share the call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any

from showandtell.errors import ProviderUnavailable

#: Seconds that a request waits for its credentials.
SECONDS = 10.0
#: Seconds after which a call is left, so that the next request makes another.
LEFT_AFTER = 60.0
#: Maximum number of calls at a time, including those that were left.
MAX_THREADS = 64

_FREE = threading.BoundedSemaphore(MAX_THREADS)
_CALLS: dict[tuple[asyncio.AbstractEventLoop, Hashable], asyncio.Task[Any]] = {}


async def get_credentials(function: Callable[[], Any], key: Hashable) -> Any:
    """The result of a function that may block or be async; concurrent calls with the same key share it.

    Raises `ProviderUnavailable` if it takes too long.
    """
    place = asyncio.get_running_loop(), key
    task = _CALLS.get(place)
    if task is None:
        task = _CALLS[place] = asyncio.create_task(_call(function))
        task.add_done_callback(lambda task: _forget(place, task))
    try:
        async with asyncio.timeout(SECONDS):
            return await asyncio.shield(task)
    except TimeoutError:
        raise ProviderUnavailable(f"the provider's credentials did not come within {SECONDS:g} s") from None


def _forget(place: tuple[asyncio.AbstractEventLoop, Hashable], task: asyncio.Task[Any]) -> None:
    del _CALLS[place]
    if not task.cancelled():
        task.exception()  # otherwise asyncio logs it if all callers have left


async def _call(function: Callable[[], Any]) -> Any:
    async with asyncio.timeout(LEFT_AFTER):
        result = await asyncio.wrap_future(_start(function))
        return await result if isawaitable(result) else result


def _start(function: Callable[[], Any]) -> Future[Any]:
    """Call a function in a thread. Raises `ProviderUnavailable` if too many calls hang."""
    if not _FREE.acquire(blocking=False):
        raise ProviderUnavailable(f"{MAX_THREADS} functions that give credentials have not returned")
    future = Future[Any]()
    future.set_running_or_notify_cancel()  # it can no longer be cancelled, so the result can always be set

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            future.set_exception(error)
        finally:
            _FREE.release()

    threading.Thread(target=work, name="credentials", daemon=True).start()
    return future
