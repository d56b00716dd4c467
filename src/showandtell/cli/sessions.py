"""Where the commands store conversations, and how they create or find one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer
from msgspec.structs import replace

from showandtell.agent.agent import Run
from showandtell.cli.person import OWNER, Person, read_person, remember_model
from showandtell.config.settings import Settings
from showandtell.errors import NotFound, ProviderError, StorageFailed, UsageError
from showandtell.installation import install_command
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.location import DATABASE_NAME, StorageLocation, check_libraries

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.conversations.stored_conversation import StoredConversation

NEW, LAST, NONE = "new", "last", "none"
NOTHING_STORED = "no conversation is stored here yet: start one"
T = TypeVar("T")


def place_of(settings: Settings) -> StorageLocation:
    """Where conversations are stored."""
    own = settings.storage
    data = None if own.data is None else Path(own.data)
    size = settings.file_policy.max_file_bytes
    return StorageLocation(data, own.database, own.blobs, size, own.quota, own.strip_location, schema=own.schema)


def choose_location(place: StorageLocation, which: str) -> StorageLocation:
    """Where to store a conversation; in memory for `none`.

    If libraries are missing, also in memory, with a message; but raises `UsageError` if a location was given.
    """
    if which == NONE:
        return replace(place, persistent=False)
    try:
        check_libraries()
    except UsageError:
        if which != NEW or place.data or place.database or place.blobs:
            raise
        line = install_command("history")
        typer.echo(f"showandtell: this conversation is not stored; to store conversations: {line}", err=True)
        return replace(place, persistent=False)
    return place


class Sessions:
    """The conversations of one program: in a store, or in memory. `location` is empty for memory."""

    def __init__(self, place: StorageLocation, store: Store | None = None) -> None:
        self._place, self._store, self._person = place, store, Person()
        self.location = "" if store is None else place.describe(store)

    async def begin(self, which: str) -> MemoryConversation:
        """Create or open a conversation; `which` is as in `find`."""
        if self._store is not None:
            return await find(self._store, which)
        own = self._place
        return MemoryConversation(FileCache(max_file_bytes=own.max_file_bytes, strip_location=own.strip_location))

    async def read_person(self) -> Person:
        """What is stored of the person here, also if this conversation isn't stored."""
        store, place = self._store, self._place
        self._person = await person_at(place) if store is None else await read_person(store, place)
        return self._person

    async def remember(self, run: Run, model: str) -> None:
        """Keep which model answered, for answers that name none."""
        if self._store is not None and run.has_begun and (run.error is None or isinstance(run.error, ProviderError)):
            self._person = await remember_model(self._store, model, self._person)

    async def finish(self, run: Run, which: str) -> str | None:
        """The id of the stored conversation of a run that has ended; None if it isn't stored.

        A new conversation is deleted if nothing could be sent, because a file was refused or a key is missing.
        """
        if self._store is None:
            return None
        if not run.has_begun:
            return run.conversation.id
        answered = any(message.role == "assistant" for message in run.messages)
        if which != NEW or answered or run.error is None or isinstance(run.error, ProviderError):
            return run.conversation.id
        with suppress(StorageFailed):  # the run's own error is more important
            await self._store.delete(run.conversation.id, OWNER)
        return None


@asynccontextmanager
async def opened(place: StorageLocation) -> AsyncGenerator[Sessions]:
    """Open the location, and close it in the end."""
    if not place.persistent:
        yield Sessions(place)
        return
    async with place.store() as store:
        with suppress(StorageFailed):
            await store.restore_reserve()
        yield Sessions(place, store)


async def find(store: Store, which: str) -> StoredConversation:
    """A conversation by its id, the one that changed last for `last`, or a new one for `new`. Raises `NotFound`."""
    if which == NEW:
        return await store.create(OWNER)
    if which == LAST:
        newest = await store.newest(OWNER)
        if newest is None:
            raise NotFound(NOTHING_STORED)
        which = newest.id
    return await store.open(which, OWNER)


def with_store(place: StorageLocation, task: Callable[[Store], Awaitable[T]], *, deletes: bool = False) -> T:
    """Run a task with the store at a location, which is created if necessary. `deletes` makes room on a full disk."""

    async def go() -> T:
        store = place.store()
        if deletes:
            await store.make_room()  # a full disk has no space to open a database either
        async with store:
            return await task(store)

    return asyncio.run(go())


def with_existing(place: StorageLocation, task: Callable[[Store], Awaitable[T]], *, deletes: bool = False) -> T:
    """Run a task with the store at a location. Raises like `check_existing`, and creates nothing then."""
    check_existing(place)
    return with_store(place, task, deletes=deletes)


async def person_at(place: StorageLocation) -> Person:
    """What is stored of the person at a location. Creates nothing."""
    if not is_there(place):
        return Person()
    async with replace(place, persistent=True).store() as store:
        return await read_person(store, place)


def is_there(place: StorageLocation) -> bool:
    """Whether something is stored at a location, as far as this installation can tell."""
    try:
        return place.missing() is None
    except UsageError:  # the libraries are missing
        return False


def check_existing(place: StorageLocation) -> None:
    """Raise `UsageError` if a location that was given doesn't exist, and `NotFound` if nothing is stored there yet."""
    missing = place.missing()
    if missing is None:
        return
    if place.database is not None:
        raise UsageError(f"--database: there is no file {missing}: nothing was stored there yet, or its name is wrong")
    if place.data is not None and missing.name != DATABASE_NAME:
        raise UsageError(f"--data: there is no folder {missing}: nothing was stored there yet, or its name is wrong")
    raise NotFound(NOTHING_STORED)
