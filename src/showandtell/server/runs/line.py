"""Messages that wait for the end of an answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from showandtell.errors import TooBusy

#: Messages of a user that wait in a worker.
MAX_WAITING: Final = 8
FULL: Final = f"{MAX_WAITING} messages are waiting for their answers already: send it again later"


class Line:
    """The messages of one worker that wait: in each conversation they are answered in the order of their arrival."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting = Counter[str]()

    @asynccontextmanager
    async def place(self, conversation_id: str, user: str) -> AsyncGenerator[None]:
        """Wait to be the first in a conversation's line."""
        lock = self._locks.setdefault(conversation_id, asyncio.Lock())
        self._waiting[user] += 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[user] -= 1
            self._waiting += Counter[str]()  # drops users without messages

    def check(self, user: str) -> None:
        """Raise `TooBusy` if too many messages of a user are waiting."""
        if self._waiting[user] >= MAX_WAITING:
            raise TooBusy(FULL, retry_after=10)
