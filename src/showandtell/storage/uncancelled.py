"""Work that is done to its end though its run is cancelled meanwhile: nothing must be stored by half."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_completion(work: Coroutine[Any, Any, T]) -> tuple[asyncio.CancelledError | None, T]:
    """Do a piece of work to its end, whoever cancels meanwhile; gives that cancellation, and what came of the work."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
    return cancelled, task.result()


async def shielded(work: Coroutine[Any, Any, T]) -> T:
    """The same; the cancellation is raised when the work is done."""
    cancelled, value = await run_to_completion(work)
    if cancelled is not None:
        raise cancelled
    return value
