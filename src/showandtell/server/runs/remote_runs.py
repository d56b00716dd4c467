"""Streams of runs on other workers, copied from their logs in the database."""

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
    """One buffer per remote run, shared by its readers on this worker and dropped after the last of them."""

    def __init__(self, database: Database, notifications: Notifications) -> None:
        self._database, self._notifications = database, notifications
        self._buffers: dict[tuple[str, int], StreamBuffer] = {}
        self._conversations: dict[tuple[str, int], str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def buffers(self) -> Iterable[StreamBuffer]:
        """The buffers that have readers."""
        return tuple(self._buffers.values())

    def buffers_in(self, conversation_id: str) -> Iterable[StreamBuffer]:
        """The buffers of a conversation that have readers."""
        return [self._buffers[key] for key, value in self._conversations.items() if value == conversation_id]

    def close(self) -> set[asyncio.Task[None]]:
        """Stop copying. Returns the tasks that are ending."""
        for task in self._tasks:
            task.cancel()
        return set(self._tasks)

    def notify(self, row: RunRow, notice: bytes) -> None:
        """Send a chunk that isn't part of the stream to the readers of a run."""
        buffer = self._buffers.get((row.id, row.tries))
        if buffer is not None:
            buffer.notify(notice)

    async def follow(self, row: RunRow, *, late: bool) -> AsyncGenerator[bytes]:
        """Yield a run's stream from its start to its end, or until another worker takes it over."""
        chunks = self._buffer_of(row).follow(late=late)  # not before the first read: an unread buffer is dropped
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk

    def _buffer_of(self, row: RunRow) -> StreamBuffer:
        key = (row.id, row.tries)
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = self._buffers[key] = StreamBuffer()
            self._conversations[key] = row.conversation_id
            task = asyncio.create_task(self._copy(row, buffer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return buffer

    async def _copy(self, row: RunRow, buffer: StreamBuffer) -> None:
        after = -1
        try:
            while True:
                event = self._notifications.subscribe(row.id)
                current = await runs.find(self._database, row.id)
                for seq, data in await runs.read_log(self._database, row.id, row.tries, after):
                    after = seq
                    if seq == 0:
                        buffer.opening = data.encode()
                    else:
                        buffer.write(data.encode())
                if current is None or current.tries != row.tries:
                    return
                if current.state == ENDED:
                    buffer.finish()
                    return
                await self._notifications.wait(event)
                if not buffer.readers:
                    return
        except StorageFailed as error:  # readers are disconnected, and reconnect
            log.warning("can't read the log of a run on another worker: %s", error)
        finally:
            self._buffers.pop((row.id, row.tries), None)
            self._conversations.pop((row.id, row.tries), None)
            self._notifications.unsubscribe(row.id)
            if not buffer.is_finished:
                buffer.interrupt()
