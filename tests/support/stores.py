"""Builders for tests of stored conversations: a store on either database, a clock that obeys, drafts to record."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import select, update

from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.planning.step_record import Step
from showandtell.errors import NotFound
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.lease import Terms
from showandtell.storage.database.tables import conversations, messages
from support.postgres import ready_database

#: Who holds a lease on another machine.
ELSEWHERE = {"lease_holder": "elsewhere/1/2", "lease_token": "of another"}
CALL = ToolCall("call_1", "draw", '{"what": "a house"}')


class Time:
    """A clock in the past that moves only when a task sleeps. What runs every `beat` seconds waits until released."""

    def __init__(self, now=1_700_000_000.0, beat=10.0):
        self.now, self.beat = now, beat
        self._released, self._idle, self._moved = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        if seconds == self.beat:
            self._idle.set()
            await self._released.wait()
            self._released.clear()
        else:
            self.now += seconds
            self._moved.set()
            await asyncio.sleep(0)

    def tell(self):
        """Let the heart beat once."""
        self._idle.clear()
        self._released.set()

    async def idle(self):
        """Wait until it waits for the next beat."""
        await self._idle.wait()

    async def moved(self):
        """Wait until somebody has slept."""
        await self._moved.wait()

    def terms(self):
        return Terms(self, self.sleep, length=3 * self.beat)


class Place:
    """Where a store lies, to open it more than once."""

    def __init__(self, database, folder):
        self.url, self.folder = ready_database(database, folder), folder

    def store(self, **settings):
        return Store(self.url, self.folder / "blobs", **settings)


@asynccontextmanager
async def two_stores(place, **settings):
    """The same database, opened twice, as by two processes."""
    async with place.store(**settings) as one, place.store(**settings) as two:
        yield one, two


def user_draft(words, *files):
    return Draft("user", (Text(words), *files))


def note(words, name="note.txt"):
    return File.from_bytes(words.encode(), name=name)


async def write_row(store, **values):
    """What another machine would have written into the row of each conversation."""
    await store.database.write(lambda connection: connection.execute(update(conversations).values(**values)))


async def show(store, *files, owner="local"):
    """A new conversation, in which the user has shown these files."""
    conversation = await store.create(owner)
    await post(conversation, user_draft("look", *files))
    return conversation


async def check_not_found(*works):
    """To each, as if what it names weren't there."""
    for work in works:
        with pytest.raises(NotFound):
            await work


async def places(store):
    """The numbers of all messages in their conversation, in order."""
    return [row[0] for row in await store.database.read(select(messages.c.seq).order_by(messages.c.seq))]


async def post(conversation, draft, **step):
    return await conversation.record(draft, await conversation.probe(draft), Step(**step) if step else None)


async def add_run(database, row):
    """Store a run without a worker that executes it."""
    await database.write(lambda connection: runs.insert_run(connection, row))
