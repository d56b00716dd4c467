"""The stream of a run so far. Any number of readers follow it, each at its own pace and position."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

#: An SSE comment that keeps proxies from closing an idle connection; clients ignore it.
HEARTBEAT = b":\n\n"
#: Chunks are joined up to this many bytes per write to a reader.
MAX_WRITE = 256 * 1024


class StreamInterrupted(Exception):
    """The stream broke off before its end. Readers that reconnect get it from its start."""


class StreamBuffer:
    """The chunks of a stream, in order.

    Late readers get `opening` in place of the first chunk: it also has the part of the response that was stored
    before this run continued it.
    """

    def __init__(self, opening: bytes | None = None) -> None:
        self.opening = opening
        self.is_finished = False
        self.is_interrupted = False
        self.readers = 0
        self._chunks: list[bytes] = []
        self._notices, self._notice = 0, HEARTBEAT
        self._waiting: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        return len(self._chunks)

    def write(self, data: bytes) -> None:
        """Add a chunk, and wake all readers."""
        self._chunks.append(data)
        self._wake()

    def slice(self, start: int, end: int | None = None) -> bytes:
        """Join the chunks from index `start` up to `end`."""
        return b"".join(self._chunks[start:end])

    def finish(self) -> None:
        """End the stream."""
        self.is_finished = True
        self._wake()

    def interrupt(self) -> None:
        """Disconnect all readers before the end: another worker streams the run to those that reconnect."""
        self.is_interrupted = True
        self._wake()

    def heartbeat(self) -> None:
        """Send a heartbeat to readers that have caught up."""
        self.notify(HEARTBEAT)

    def notify(self, notice: bytes) -> None:
        """Send a chunk that isn't part of the stream to readers that have caught up."""
        self._notices, self._notice = self._notices + 1, notice
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for reader in waiting:
            if not reader.done():  # it may be cancelled
                reader.set_result(None)

    async def follow(self, *, late: bool = False) -> AsyncGenerator[bytes]:
        """Yield the stream from start to end, with available chunks joined. `late`: begin with `opening`.

        Raises `StreamInterrupted` if it breaks off before its end.
        """
        position = 0
        self.readers += 1
        try:
            notices = self._notices
            while not self.is_interrupted:
                if late and not position and self._chunks and self.opening is not None:
                    position = 1  # the opening includes the start
                    yield self.opening
                elif position < len(self._chunks):
                    position, data = self._read(position)
                    yield data
                elif self.is_finished:
                    return
                elif notices != self._notices:
                    yield self._notice
                    notices = self._notices
                else:
                    reader = asyncio.get_running_loop().create_future()
                    self._waiting.append(reader)
                    await reader
            raise StreamInterrupted
        finally:
            self.readers -= 1

    def _read(self, position: int) -> tuple[int, bytes]:
        first, size = position, 0
        while position < len(self._chunks) and size < MAX_WRITE:
            size += len(self._chunks[position])
            position += 1
        return position, self._chunks[first] if position == first + 1 else b"".join(self._chunks[first:position])
