"""Probes files within a time limit, with or without an event loop: a source may be foreign code that blocks.

The threads are daemons. One that hangs is abandoned and prevents neither a run nor the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from contextvars import copy_context

from showandtell.core.messages.attachments import ProbedFile
from showandtell.core.messages.file import File
from showandtell.storage.files.file_cache import FileCache, clean_name

#: Time limit for reading, storing and probing one file.
PROBE_SECONDS = 60.0
#: How many files of a message are probed concurrently.
MAX_CONCURRENT_PROBES = 4


async def probe_all(file_cache: FileCache, files: Iterable[File]) -> list[ProbedFile]:
    """Store and probe files concurrently, and return the results in order. A timeout becomes the file's problem.

    Raises `StorageFailed` if the store fails.
    """
    slots = asyncio.Semaphore(MAX_CONCURRENT_PROBES)
    return await asyncio.gather(*[probe_in_slot(file_cache, file, slots) for file in files])


def probe_now(file_cache: FileCache, file: File) -> ProbedFile:
    """Like `probe_all` for one file, without an event loop. What is in memory is read here, since it can't block."""
    if isinstance(file.source, bytes):
        return file_cache.recall(file) or file_cache.probe(file)
    try:
        return start_probe(file_cache, file).result(PROBE_SECONDS)
    except TimeoutError:
        return timed_out(file)


async def probe_in_slot(file_cache: FileCache, file: File, slots: asyncio.Semaphore) -> ProbedFile:
    """Probe a file once a slot is free."""
    async with slots:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(start_probe(file_cache, file)), PROBE_SECONDS)
        except TimeoutError:
            return timed_out(file)


def timed_out(file: File) -> ProbedFile:
    """The result for a file that took too long."""
    problem = f"was not read in time ({PROBE_SECONDS:g} s): check what it is read from"
    return ProbedFile(clean_name(file.name or ""), problem=problem)


def start_probe(file_cache: FileCache, file: File) -> Future[ProbedFile]:
    """Probe a file in a thread of its own."""
    future: Future[ProbedFile] = Future()
    context = copy_context()
    future.set_running_or_notify_cancel()  # it can no longer be cancelled, so the result can always be set

    def target() -> None:
        try:
            future.set_result(context.run(file_cache.probe, file))
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            future.set_exception(error)

    threading.Thread(target=target, name="showandtell-proof", daemon=True).start()
    return future
