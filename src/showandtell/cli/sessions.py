"""Where the command line keeps its conversations, and how one is begun or found there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import typer
from msgspec.structs import replace

from showandtell.agent.agent import Run
from showandtell.errors import NotFound, ProviderError, StorageFailed, UsageError
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.location import INSTALL, StorageLocation, check_libraries

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.conversations.stored_conversation import StoredConversation

#: Whose the conversations of the command line are.
OWNER = "local"
NEW, LAST, NONE = "new", "last", "none"


def settle_place(place: StorageLocation, which: str) -> StorageLocation:
    """The place, which keeps nothing where nothing is to be kept, or can be and nobody has asked: that is said."""
    if which == NONE:
        return replace(place, keeps=False)
    try:
        check_libraries()
    except UsageError:
        if which != NEW or place.data or place.database or place.blobs:
            raise
        typer.echo(f"showandtell: this conversation ends with the program; to keep conversations: {INSTALL}", err=True)
        return replace(place, keeps=False)
    return place


class Sessions:
    """The conversations of one program: in a store, or in memory where nothing is kept. `told` says where they are."""

    def __init__(self, place: StorageLocation, store: Store | None = None) -> None:
        self._place, self._store = place, store
        self.told = "" if store is None else place.tell(store)

    async def begin(self, which: str) -> MemoryConversation:
        """The conversation that a word names."""
        if self._store is not None:
            return await find(self._store, which)
        own = self._place
        return MemoryConversation(FileCache(max_file_bytes=own.max_file_bytes, strip_location=own.strip_location))

    async def settle(self, run: Run, which: str) -> str | None:
        """The id by which the conversation of a run that has ended is kept; None where it isn't.

        A new one in which nothing could be sent is forgotten: a file was refused, a key is missing.
        """
        if self._store is None:
            return None
        answered = any(one.role == "assistant" for one in run.messages)
        if which != NEW or answered or run.error is None or isinstance(run.error, ProviderError):
            return run.conversation.id
        with suppress(StorageFailed):  # the run's own error is the one to tell
            await self._store.delete(run.conversation.id, OWNER)
        return None


@asynccontextmanager
async def opened(place: StorageLocation) -> AsyncGenerator[Sessions]:
    """What keeps conversations, for as long as it is needed."""
    if not place.keeps:
        yield Sessions(place)
        return
    async with place.store() as store:
        yield Sessions(place, store)


async def find(store: Store, which: str) -> StoredConversation:
    """The conversation that a word names: its id, `last` for the one that changed last, `new` for another one."""
    if which == NEW:
        return await store.create(OWNER)
    if which == LAST:
        newest = await store.newest(OWNER)
        if newest is None:
            raise NotFound("no conversation is kept here yet: begin one")
        which = newest.id
    return await store.open(which, OWNER)
