"""Serializes runs and changes of a conversation. Tasks started by a run belong to that run."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

from showandtell.errors import BadInput

#: The locks held by the current task, or by its parent when it was started.
HELD_TURNS: ContextVar[frozenset[object]] = ContextVar("MINE", default=frozenset())


class TurnLock:
    """A lock for the tasks of one event loop. Tasks of other loops are refused while it is in use."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._users = 0
        self._holder: object | None = None

    @property
    def is_held_here(self) -> bool:
        """Whether this task, or the one it belongs to, holds the lock."""
        return self._holder in HELD_TURNS.get()

    async def __aenter__(self) -> None:
        if self.is_held_here:
            raise BadInput(
                "this task is part of a run of this conversation: nothing else can start in it before that run ends"
            )
        await self._acquire()
        self._holder = object()
        HELD_TURNS.set(HELD_TURNS.get() | {self._holder})

    async def _acquire(self) -> None:
        with self._guard:  # no await inside: it would block the thread
            loop = asyncio.get_running_loop()
            if self._loop is not loop:
                if self._users:
                    raise BadInput("another thread is using this conversation: give each its own, or one event loop")
                self._loop, self._lock = loop, asyncio.Lock()
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
        HELD_TURNS.set(HELD_TURNS.get() - {self._holder})
        self._holder = None
        self._lock.release()
        self._leave()
