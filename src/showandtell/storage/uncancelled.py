"""Run a coroutine to completion even if the caller is cancelled, so that nothing is stored partially."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_completion(coroutine: Coroutine[Any, Any, T]) -> tuple[asyncio.CancelledError | None, T]:
    """Run a coroutine to completion. Returns the caller's cancellation, if any, and the result."""
    return await wait_for_end(asyncio.ensure_future(coroutine))


async def wait_for_end(future: asyncio.Future[T]) -> tuple[asyncio.CancelledError | None, T]:
    """Like `run_to_completion`, for what runs already."""
    cancelled = None
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as error:
            if future.cancelled():
                raise
            cancelled = error
    return cancelled, future.result()


async def shielded(coroutine: Coroutine[Any, Any, T]) -> T:
    """Like `run_to_completion`, but raises the cancellation once the coroutine is done."""
    cancelled, value = await run_to_completion(coroutine)
    if cancelled is not None:
        raise cancelled
    return value
