"""Check that a worker's database and file store respond."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from typing import Any

from showandtell.core.messages.attachments import Facts
from showandtell.errors import ShowAndTellError, StorageFull
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.database import DatabaseDamaged

#: Seconds that a check may take, and seconds for which its result is reused.
PROBE_TIMEOUT, RESULT_AGE = 2.0, 1.0
#: Bytes to write and discard.
TRIAL = b"ready?"
TRIAL_FACTS = Facts("0" * 64, "text/plain", len(TRIAL))


class Probe:
    """Runs one check at a time, shared by concurrent callers: a disk that hangs blocks one thread at most."""

    def __init__(self, check: Callable[[], Awaitable[object]], clock: Callable[[], float] = time.monotonic) -> None:
        self._check, self._clock = check, clock
        self._task: asyncio.Task[str] | None = None
        self._fresh_until = float("-inf")

    async def run(self, seconds: float = PROBE_TIMEOUT) -> str:
        """Return "ok", or what is wrong."""
        if self._task is None or (self._task.done() and self._clock() >= self._fresh_until):
            self._task = asyncio.create_task(self._try())
        done, _ = await asyncio.wait({self._task}, timeout=seconds)
        return self._task.result() if done else f"it did not answer within {seconds:g} s"

    async def _try(self) -> str:
        try:
            await self._check()
        except DatabaseDamaged:
            return "it is damaged: run showandtell fsck, and restore the backup"
        except StorageFull:
            return "it is full: free space or delete conversations"
        except (ShowAndTellError, OSError) as error:
            # The message may name a host or a folder, and this route needs no login.
            return f"it does not respond ({type(error).__name__}): requests that need it log the details"
        finally:
            self._fresh_until = self._clock() + RESULT_AGE
        return "ok"


class Readiness:
    """The checks of a worker's database and file store."""

    def __init__(self, store: Store) -> None:
        self._probes = (
            Probe(store.database.check),
            Probe(lambda: asyncio.to_thread(try_blobs, store)),
        )

    async def check(self) -> dict[str, Any]:
        """Run both checks, and return their results as JSON."""
        database, files = await asyncio.gather(*(probe.run() for probe in self._probes))
        return {"ready": database == files == "ok", "database": database, "files": files}


def try_blobs(store: Store) -> None:
    """Look up a missing file, then write a file and discard it. Blocks."""
    blobs = store.blobs.for_owner("")
    blobs.has(TRIAL_FACTS)
    blobs.discard(blobs.spool(lambda: io.BytesIO(TRIAL), "readiness", len(TRIAL)))
