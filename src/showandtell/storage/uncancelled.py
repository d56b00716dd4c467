"""Run a coroutine to completion even if the caller is cancelled, so that nothing is stored partially."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_completion(coroutine: Coroutine[Any, Any, T]) -> tuple[asyncio.CancelledError | None, T]:
    """Run a coroutine to completion. Returns the caller's cancellation, if any, and the result."""
    return await wait_for_end(asyncio.ensure_future(coroutine))


async def wait_for_end(future: asyncio.Future[T]) -> tuple[asyncio.CancelledError | None, T]:
    """Like `run_to_completion`, for what runs already."""
    cancelled, loop = None, asyncio.get_running_loop()
    while not future.done():
        # One turn of the event loop less than `asyncio.shield` takes.
        ended = loop.create_future()
        future.add_done_callback(partial(wake, ended))
        try:
            await ended
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled, future.result()


def wake(waiter: asyncio.Future[None], _: object) -> None:
    """Tell a waiter that what it waits for has ended."""
    if not waiter.done():
        waiter.set_result(None)


async def shielded(coroutine: Coroutine[Any, Any, T]) -> T:
    """Like `run_to_completion`, but raises the cancellation once the coroutine is done."""
    cancelled, value = await run_to_completion(coroutine)
    if cancelled is not None:
        raise cancelled
    return value


async def wait_briefly(tasks: set[asyncio.Task[None]], seconds: float) -> None:
    """Wait for tasks, but no longer than `seconds`, even if they can't be cancelled."""
    if tasks:
        await asyncio.wait(tasks, timeout=max(0.0, seconds))
