"""How many files a user may download at a time. Each open download occupies memory, a descriptor and a connection."""

from __future__ import annotations

import asyncio
from typing import Final
from weakref import WeakValueDictionary

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from showandtell.server.middleware.refusals import Problem

#: Maximum number of open downloads of a user in this process. Browsers open as many connections to a host.
MAX_OPEN: Final = 6
#: Seconds that one more waits for another to end.
WAIT_SECONDS: Final = 10.0


class Downloads:
    """The open downloads of each user: at most `max_open`; others wait for up to `seconds`."""

    def __init__(self, max_open: int = MAX_OPEN, seconds: float = WAIT_SECONDS) -> None:
        self.max_open, self.seconds = max_open, seconds
        self._slots = WeakValueDictionary[str, asyncio.Semaphore]()

    def slots(self, user: str) -> asyncio.Semaphore:
        """The free slots of a user."""
        slots = self._slots.get(user) or asyncio.Semaphore(self.max_open)
        self._slots[user] = slots
        return slots


class LimitedDownload(Response):
    """Sends a response once its user has a free slot. If that takes too long, sends a 429 instead."""

    def __init__(self, response: Response, downloads: Downloads, user: str) -> None:
        super().__init__(status_code=response.status_code)
        self._response, self._downloads, self._user = response, downloads, user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        slots, seconds = self._downloads.slots(self._user), self._downloads.seconds
        try:
            async with asyncio.timeout(seconds):
                await slots.acquire()
        except TimeoutError:
            text = f"{self._downloads.max_open} downloads are open: wait until one of them ends, or cancel one"
            return await Problem(429, "TooMany", text, {"retry-after": str(max(1, round(seconds)))})(
                scope, receive, send
            )
        try:
            await self._response(scope, receive, send)
        finally:
            slots.release()
