"""What a run has said so far, for any number of readers at their own pace; each keeps only its place in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

#: Sent when nothing is said for a while, so that nobody on the way takes the connection for dead; clients ignore it.
HEARTBEAT = b":\n\n"
#: At most so much is joined for one write to a reader.
MOST_AT_ONCE = 256 * 1024


class StreamBuffer:
    """Pieces of a stream in the order in which they were said.

    `opening` is what a reader who comes later is told in place of a stream's own start: all of the answer that was
    stored before this run went on with it.
    """

    def __init__(self, opening: bytes | None = None) -> None:
        self.opening = opening
        self.is_over = False
        self.is_torn = False
        self.readers = 0
        self._pieces: list[bytes] = []
        self._beats = 0
        self._bell = asyncio.Event()

    def __len__(self) -> int:
        return len(self._pieces)

    def say(self, data: bytes) -> None:
        """Add a piece, and wake all readers."""
        self._pieces.append(data)
        self._ring()

    def since(self, place: int, end: int | None = None) -> bytes:
        """All from a piece on, or up to another one."""
        return b"".join(self._pieces[place:end])

    def end(self) -> None:
        """Nothing more will be said."""
        self.is_over = True
        self._ring()

    def tear(self) -> None:
        """Let readers go before the end: another worker tells it anew, to whoever asks again."""
        self.is_torn = True
        self._ring()

    def beat(self) -> None:
        """Let readers who have heard all send a sign of life."""
        self._beats += 1
        self._ring()

    def _ring(self) -> None:
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()

    async def follow(self, *, late: bool = False) -> AsyncGenerator[bytes]:
        """Everything from the start to the end, joined as far as it is there. `late`: with the opening."""
        place = 0
        self.readers += 1
        try:
            if late and self.opening is not None:
                yield self.opening
                place = 1  # the opening has a start of its own
            beats = self._beats
            while not self.is_torn:
                bell = self._bell
                if place < len(self._pieces):
                    place, data = self._some(place)
                    yield data
                elif self.is_over:
                    return
                else:
                    if beats != self._beats:
                        yield HEARTBEAT
                    beats = self._beats
                    if bell is self._bell:
                        await bell.wait()
        finally:
            self.readers -= 1

    def _some(self, place: int) -> tuple[int, bytes]:
        first, size = place, 0
        while place < len(self._pieces) and size < MOST_AT_ONCE:
            size += len(self._pieces[place])
            place += 1
        return place, self._pieces[first] if place == first + 1 else b"".join(self._pieces[first:place])
