"""Threads for reading and writing file bytes: a slow store delays only the requests that use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

#: Maximum number of concurrent reads and writes; others wait.
MAX_THREADS = 64
THREADS = ThreadPoolExecutor(MAX_THREADS, "bytes")


async def run_in_thread(job: Callable[..., T], *values: Any) -> T:
    """Run a blocking call in one of these threads, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(THREADS, job, *values)
