"""Threads for bytes on their way in and out: a store that is slow holds up those alone who want something of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

#: So many pieces are read and written at once; whoever comes then waits.
AT_ONCE = 64
THREADS = ThreadPoolExecutor(AT_ONCE, "bytes")


async def move(work: Callable[..., T], *values: Any) -> T:
    """What some work with bytes gives, done in one of these threads."""
    return await asyncio.get_running_loop().run_in_executor(THREADS, work, *values)
