"""What the runs of other workers say, told here to whoever reads it, from their logs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from showandtell.errors import StorageFailed
from showandtell.server.runs.notifications import Notifications
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.runs import ENDED, RunRow
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)


class RemoteRuns:
    """One tape for each run elsewhere that is read here, for as long as anybody reads it."""

    def __init__(self, database: Database, hearing: Notifications) -> None:
        self._database, self._hearing = database, hearing
        self._tapes: dict[tuple[str, int], StreamBuffer] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def tapes(self) -> Iterable[StreamBuffer]:
        """All that is told here now."""
        return tuple(self._tapes.values())

    async def close(self) -> None:
        """Tell no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def follow(self, row: RunRow, *, late: bool) -> AsyncGenerator[bytes]:
        """The stream of a run, from its start to its end, or until another worker has it."""
        pieces = self._tape(row).follow(late=late)  # looked for when it is read, or it might have ended by then
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    def _tape(self, row: RunRow) -> StreamBuffer:
        key = (row.id, row.tries)
        tape = self._tapes.get(key)
        if tape is None:
            tape = self._tapes[key] = StreamBuffer()
            task = asyncio.create_task(self._copy(row, tape))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return tape

    async def _copy(self, row: RunRow, tape: StreamBuffer) -> None:
        after = -1
        try:
            while True:
                heard = self._hearing.next(row.id)
                now = await runs.find(self._database, row.id)
                for seq, data in await runs.read_log(self._database, row.id, row.tries, after):
                    after = seq
                    if seq == 0:
                        tape.opening = data.encode()
                    else:
                        tape.say(data.encode())
                if now is None or now.tries != row.tries:
                    return
                if now.state == ENDED:
                    tape.end()
                    return
                await self._hearing.wait(heard)
                if not tape.readers:
                    return
        except StorageFailed as error:  # readers are let go, and come back
            log.warning("a run of another worker can't be read: %s", error)
        finally:
            self._tapes.pop((row.id, row.tries), None)
            self._hearing.forget(row.id)
            if not tape.is_over:
                tape.tear()
