"""The events of a run between the task that runs it and its reader."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from showandtell.core.events.types import Event

#: Number of unread events at which the run stops reading from the network. One read yields a few hundred at most.
MAX_QUEUED_EVENTS: Final = 1000


class UnreadEvents:
    """Events that the reader hasn't taken; those that come together are taken without a turn of the event loop."""

    def __init__(self) -> None:
        self._events: deque[Event | None] = deque()
        self._news, self._space = asyncio.Event(), asyncio.Event()

    def add(self, event: Event | None) -> None:
        """Add an event; None after the last one."""
        self._events.append(event)
        self._news.set()

    async def take(self) -> Event | None:
        """The next event, or None at the end."""
        while not self._events:
            self._news.clear()
            await self._news.wait()
        if len(self._events) <= MAX_QUEUED_EVENTS:
            self._space.set()
        return self._events.popleft()

    async def drain(self) -> None:
        """Wait until the reader has caught up."""
        if len(self._events) >= MAX_QUEUED_EVENTS:
            self._space.clear()
            await self._space.wait()
