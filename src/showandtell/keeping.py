"""Where the command line keeps its conversations, and how one is begun or found there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from msgspec import Struct
from msgspec.structs import replace

from showandtell.agent.agent import Agent, Run
from showandtell.attachments.shelf import MAX_FILE_BYTES, Shelf
from showandtell.errors import NotFound, ProviderError, StorageFailed
from showandtell.files import Variant
from showandtell.given import WrongUsage
from showandtell.history.memory import MemoryConversation
from showandtell.providers.retry import Patience
from showandtell.settings import data_folder

if TYPE_CHECKING:
    from showandtell.history.lease import Terms
    from showandtell.history.store import Store
    from showandtell.history.stored import StoredConversation

#: Whose the conversations of the command line are.
OWNER = "local"
NEW, LAST, NONE = "new", "last", "none"
LIBRARIES = ("sqlalchemy", "alembic")
INSTALL = "pip install 'showandtell[history]'"
LACKING = f"conversations can't be kept here: {INSTALL}"


class Place(Struct, frozen=True):
    """Where conversations lie: a folder for all of it, or a database and a store of blobs by URL in its stead.

    `quota` is how many bytes all files that are kept may have; with `strip_location` photos lose where they were made.
    Without `keeps` it holds conversations only until the program ends.
    """

    data: Path | None = None
    database: str | None = None
    blobs: str | None = None
    max_file_bytes: int = MAX_FILE_BYTES
    quota: int | None = None
    strip_location: bool = False
    keeps: bool = True

    def store(self, terms: Terms | None = None) -> Store:
        """The store there, to be opened. `WrongUsage` where its libraries are missing."""
        check_libraries()
        from showandtell.history.lease import Terms  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.history.pinning import Quotas  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.history.store import Settings, Store  # noqa: PLC0415 - the same

        settings: Settings = {
            "quotas": Quotas(file=self.max_file_bytes, owner=self.quota),
            "strip_location": self.strip_location,
            "terms": terms or Terms(),
        }
        if self.database and self.blobs and self.data is None:  # no folder is needed, so none is made
            return Store(self.database, self.blobs, **settings)
        return Store.at(self.data or data_folder(), self.database, self.blobs, **settings)

    def tell(self, store: Store) -> str:
        """The place as people are told of it: the folder, or what was named in its stead, without a password."""
        return store.database.name if self.database else str(self.data or data_folder())


def check_libraries() -> None:
    """Raise `WrongUsage` where nothing can be kept."""
    if not all(find_spec(name) is not None for name in LIBRARIES):
        raise WrongUsage(LACKING)


def settle_place(place: Place, which: str) -> Place:
    """The place, which keeps nothing where nothing is to be kept, or can be and nobody has asked: that is said."""
    if which == NONE:
        return replace(place, keeps=False)
    try:
        check_libraries()
    except WrongUsage:
        if which != NEW or place.data or place.database or place.blobs:
            raise
        typer.echo(f"showandtell: this conversation ends with the program; to keep conversations: {INSTALL}", err=True)
        return replace(place, keeps=False)
    return place


class Keeping:
    """The conversations of one program: in a store, or in memory where nothing is kept. `told` says where they are."""

    def __init__(self, place: Place, store: Store | None = None) -> None:
        self._place, self._store = place, store
        self.told = "" if store is None else place.tell(store)

    async def begin(self, which: str) -> MemoryConversation:
        """The conversation that a word names."""
        if self._store is not None:
            return await find(self._store, which)
        own = self._place
        return MemoryConversation(Shelf(max_file_bytes=own.max_file_bytes, strip_location=own.strip_location))

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
async def opened(place: Place) -> AsyncGenerator[Keeping]:
    """What keeps conversations, for as long as it is needed."""
    if not place.keeps:
        yield Keeping(place)
        return
    async with place.store() as store:
        yield Keeping(place, store)


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


async def delete_uploads(conversation: MemoryConversation, numbers: Collection[int] | None) -> tuple[str, ...]:
    """Delete what was uploaded of a conversation, or of some of its files; says what stays at its provider, and why.

    The environment's keys are used, and each provider is asked once.
    """
    if not any(isinstance(one, Variant) and one.file_id for one in conversation.known().values()):
        return ()
    return await Agent("inspector", patience=Patience(tries=0)).delete_uploads(conversation, numbers)
