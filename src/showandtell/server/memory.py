"""Give memory back to the system: malloc keeps what many closed streams have left."""

from __future__ import annotations

import asyncio
import ctypes
from contextlib import suppress


class Trimmer:
    """Gives memory back after the number of streams fell. Call `check` about once a minute."""

    def __init__(self) -> None:
        self._highest = 0
        #: glibc alone has it.
        self._trim = None
        with suppress(AttributeError):
            self._trim = ctypes.CDLL(None).malloc_trim

    def note(self, streams: int) -> None:
        """The number of streams now."""
        self._highest = max(self._highest, streams)

    async def check(self, streams: int) -> None:
        """Give memory back if there are fewer streams than before."""
        has_fallen, self._highest = streams < self._highest, streams
        if has_fallen and self._trim is not None:
            await asyncio.to_thread(self._trim, 0)
