"""Probes files within a time limit, with or without an event loop: a source may be foreign code that blocks.

One that hangs is abandoned and prevents neither a run nor the process from ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future

from showandtell.core.messages.attachments import ProbedFile
from showandtell.core.messages.file import File
from showandtell.errors import BadFile, DecoderBusy, QuotaExceeded
from showandtell.storage.blobs.threads import CALLS
from showandtell.storage.files.file_cache import FileCache, clean_name

#: Time limit for reading, storing and probing one file.
PROBE_SECONDS = 60.0
#: How many files of a message are probed concurrently.
MAX_CONCURRENT_PROBES = 4
#: Known bytes up to this size are hashed in the event loop, which takes less than another thread, and a millisecond.
MAX_QUICK_BYTES = 1 << 20


def refusal_of(probed: ProbedFile) -> BadFile:
    """The error for a file without facts: `DecoderBusy` and `QuotaExceeded` if it may be accepted later."""
    name = probed.name or "the file"
    problem, _, advice = (probed.problem or "is an address: add the file itself").rpartition(": ")
    if probed.retry_after:
        return DecoderBusy(name, problem, advice, retry_after=probed.retry_after)
    return (QuotaExceeded if probed.over_quota else BadFile)(name, problem, advice)


async def probe_all(file_cache: FileCache, files: Iterable[File]) -> list[ProbedFile]:
    """Store and probe files concurrently, and return the results in order. A timeout becomes the file's problem.

    Raises `StorageFailed` if the store fails.
    """
    given, slots = [*files], asyncio.Semaphore(MAX_CONCURRENT_PROBES)
    if len(given) == 1:
        return [await probe_in_slot(file_cache, given[0], slots)]
    return await asyncio.gather(*[probe_in_slot(file_cache, file, slots) for file in given])


def probe_now(file_cache: FileCache, file: File) -> ProbedFile:
    """Like `probe_all` for one file, without an event loop. What is in memory is read here, since it can't block."""
    if isinstance(file.source, bytes):
        if known := file_cache.recall(file):
            file_cache.hold(file, known)
            return known
        return file_cache.probe(file)
    try:
        return start_probe(file_cache, file).result(PROBE_SECONDS)
    except TimeoutError:
        return timed_out(file)


async def probe_in_slot(file_cache: FileCache, file: File, slots: asyncio.Semaphore) -> ProbedFile:
    """Probe a file once a slot is free, at once if it is known."""
    is_quick = isinstance(file.source, bytes) and len(file.source) <= MAX_QUICK_BYTES and file_cache.is_temporary
    if is_quick and (known := file_cache.recall(file)):
        return known
    async with slots:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await CALLS.run(file_cache.probe, file)
        except TimeoutError:
            return timed_out(file)


def timed_out(file: File) -> ProbedFile:
    """The result for a file that took too long."""
    problem = f"was not read in time ({PROBE_SECONDS:g} s): check what it is read from"
    return ProbedFile(clean_name(file.name or ""), problem=problem)


def start_probe(file_cache: FileCache, file: File) -> Future[ProbedFile]:
    """Probe a file in a thread."""
    return CALLS.submit(file_cache.probe, file)
