"""Proving files within a time limit, beside an event loop or without: what reads one may be anybody's code, and block.

The threads are daemons of ours: one that hangs is abandoned, and keeps neither a run nor the program from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future

from showandtell.core.messages.attachments import Proved
from showandtell.core.messages.file import File
from showandtell.storage.files.file_cache import FileCache, clean_name

#: How long one file may take to be read, stored and proved.
PROVE_SECONDS = 60.0
#: How many files of one message are proved side by side.
PROVE_AT_ONCE = 4


async def prove_all(file_cache: FileCache, files: Iterable[File]) -> list[Proved]:
    """Store and prove files side by side, in their order; one that takes too long has that for its problem.

    A store that fails raises `StorageFailed`: then none of them may be answered for.
    """
    turns = asyncio.Semaphore(PROVE_AT_ONCE)
    return await asyncio.gather(*[prove_in_turn(file_cache, file, turns) for file in files])


def prove_now(file_cache: FileCache, file: File) -> Proved:
    """The same for one file, where no event loop waits for it."""
    try:
        return start_proof(file_cache, file).result(PROVE_SECONDS)
    except TimeoutError:
        return late(file)


async def prove_in_turn(file_cache: FileCache, file: File, turns: asyncio.Semaphore) -> Proved:
    """One of them, when there is a turn for it."""
    async with turns:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(start_proof(file_cache, file)), PROVE_SECONDS)
        except TimeoutError:
            return late(file)


def late(file: File) -> Proved:
    """A file that took too long."""
    problem = f"was not read in time ({PROVE_SECONDS:g} s): check what it is read from"
    return Proved(clean_name(file.name or ""), problem=problem)


def start_proof(file_cache: FileCache, file: File) -> Future[Proved]:
    """Prove a file in a thread of its own."""
    done: Future[Proved] = Future()
    done.set_running_or_notify_cancel()  # from here on nobody can cancel it, so its end is always taken

    def work() -> None:
        try:
            done.set_result(file_cache.prove(file))
        except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the caller
            done.set_exception(error)

    threading.Thread(target=work, name="showandtell-proof", daemon=True).start()
    return done
