"""Whose turn it is in a conversation: one run, or one change, at a time; what a run starts belongs to that run."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

from showandtell.errors import BadInput

#: The turns that the task which runs now holds, or held when it started this one.
MINE: ContextVar[frozenset[object]] = ContextVar("MINE", default=frozenset())


class TurnLock:
    """Tasks of one event loop wait for each other, and those of another are refused."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._users = 0
        self._holding: object | None = None

    @property
    def is_mine(self) -> bool:
        """Whether this task holds it, or belongs to the one that does."""
        return self._holding in MINE.get()

    async def __aenter__(self) -> None:
        if self.is_mine:
            raise BadInput("a run of this conversation goes on here, and nothing else can begin in it before its end")
        await self._acquire()
        self._holding = object()
        MINE.set(MINE.get() | {self._holding})

    async def _acquire(self) -> None:
        with self._guard:  # nothing is awaited here: it would hold up the whole thread
            here = asyncio.get_running_loop()
            if self._loop is not here:
                if self._users:
                    raise BadInput("another thread is using this conversation: give each its own, or one event loop")
                self._loop, self._lock = here, asyncio.Lock()
            self._users += 1
            lock = self._lock
        try:
            await lock.acquire()
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        with self._guard:
            self._users -= 1

    async def __aexit__(self, *_: object) -> None:
        MINE.set(MINE.get() - {self._holding})
        self._holding = None
        self._lock.release()
        self._leave()
