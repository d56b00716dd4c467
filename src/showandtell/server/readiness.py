"""Whether a worker can work: its database answers, and its store of files does."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import text

from showandtell.core.messages.attachments import Facts
from showandtell.errors import ShowAndTellError
from showandtell.storage.conversations.store import Store

#: How long the database and the store of files may take, and for how long what they said counts, in seconds.
PATIENCE, FRESH = 2.0, 1.0
ANYTHING = text("SELECT 1")
#: Bytes that are stored for a moment and found again by nobody.
TRIAL = b"ready?"
TRIAL_FACTS = Facts("0" * 64, "text/plain", len(TRIAL))


class Probe:
    """Asks something, one at a time whoever wants to know: a disk that hangs holds one thread, and no more."""

    def __init__(self, work: Callable[[], Awaitable[object]], clock: Callable[[], float] = time.monotonic) -> None:
        self._work, self._clock = work, clock
        self._task: asyncio.Task[str] | None = None
        self._until = float("-inf")

    async def ask(self, patience: float = PATIENCE) -> str:
        """What is wrong, or "ok"."""
        if self._task is None or (self._task.done() and self._clock() >= self._until):
            self._task = asyncio.create_task(self._try())
        done, _ = await asyncio.wait({self._task}, timeout=patience)
        return self._task.result() if done else f"it did not answer within {patience:g} s"

    async def _try(self) -> str:
        try:
            await self._work()
        except (ShowAndTellError, OSError) as error:
            # Its words may name a host or a folder, and anybody may ask.
            return f"it does not answer ({type(error).__name__}): the log of a request that needs it says more"
        finally:
            self._until = self._clock() + FRESH
        return "ok"


class Readiness:
    """What this worker needs: its database, and its store of files."""

    def __init__(self, store: Store) -> None:
        self._probes = Probe(lambda: store.database.read(ANYTHING)), Probe(lambda: asyncio.to_thread(try_blobs, store))

    async def ask(self) -> dict[str, Any]:
        """What both say."""
        database, files = await asyncio.gather(*(one.ask() for one in self._probes))
        return {"ready": database == files == "ok", "database": database, "files": files}


def try_blobs(store: Store) -> None:
    """Look for a file that isn't there, and write one that nobody keeps. Blocks."""
    blobs = store.blobs.of("")
    blobs.has(TRIAL_FACTS)
    blobs.drop(blobs.spool(lambda: io.BytesIO(TRIAL), "readiness", len(TRIAL)))
