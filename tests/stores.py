"""Builders for tests of stored conversations: a store on either database, a clock that obeys, drafts to record."""

import asyncio
from contextlib import asynccontextmanager

from postgres import new_database
from showandtell.content import Draft, File, Text, ToolCall
from showandtell.history.lease import Terms
from showandtell.history.store import Store

CALL = ToolCall("call_1", "draw", '{"what": "a house"}')


class Time:
    """A clock in the past that stands still until somebody sleeps; what beats every `beat` seconds waits until it is told to."""

    def __init__(self, now=1_700_000_000.0, beat=10.0):
        self.now, self.beat = now, beat
        self._told, self._idle = asyncio.Event(), asyncio.Event()

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        if seconds == self.beat:
            self._idle.set()
            await self._told.wait()
            self._told.clear()
        else:
            self.now += seconds
            await asyncio.sleep(0)

    def tell(self):
        """Let the heart beat once."""
        self._idle.clear()
        self._told.set()

    async def idle(self):
        """Wait until it waits for the next beat."""
        await self._idle.wait()

    def terms(self):
        return Terms(self, self.sleep)


class Place:
    """Where a store lies, to open it more than once."""

    def __init__(self, database, folder):
        self.url, self.folder = new_database(database, folder), folder

    def store(self, **settings):
        return Store(self.url, self.folder / "blobs", **settings)


@asynccontextmanager
async def two_stores(place, **settings):
    """The same database, opened twice, as by two processes."""
    async with place.store(**settings) as one, place.store(**settings) as two:
        yield one, two


def said(words, *files):
    return Draft("user", (Text(words), *files))


def note(words, name="note.txt"):
    return File.from_bytes(words.encode(), name=name)


async def post(conversation, draft, **step):
    return await conversation.record(draft, await conversation.prove(draft), **step)
