"""Where the command line keeps its conversations, and how one is opened there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from msgspec import Struct

from showandtell.agent.agent import Agent
from showandtell.attachments.shelf import MAX_FILE_BYTES
from showandtell.errors import NotFound
from showandtell.files import Variant
from showandtell.given import WrongUsage
from showandtell.history.memory import MemoryConversation
from showandtell.providers.retry import Patience
from showandtell.settings import data_folder

if TYPE_CHECKING:
    from showandtell.history.store import Store
    from showandtell.history.stored import StoredConversation

#: Whose the conversations of the command line are.
OWNER = "local"
NEW, LAST = "new", "last"
LIBRARIES = ("sqlalchemy", "greenlet", "aiosqlite", "alembic")
INSTALL = "pip install 'showandtell[history]'"


class Place(Struct, frozen=True):
    """Where conversations lie: a folder for all of it, or a database and a store of blobs by URL in its stead."""

    data: Path | None = None
    database: str | None = None
    blobs: str | None = None
    max_file_bytes: int = MAX_FILE_BYTES

    def store(self) -> Store:
        """The store there, to be opened."""
        from showandtell.history.pinning import Quotas  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.history.store import Store  # noqa: PLC0415 - the same

        quotas = Quotas(file=self.max_file_bytes)
        if self.database and self.blobs and self.data is None:
            return Store(self.database, self.blobs, quotas=quotas)  # no folder is needed, so none is made
        return Store.at(self.data or data_folder(), self.database, self.blobs, quotas=quotas)


def place(
    data: Path | None, database: str | None, blobs: str | None, max_file_bytes: int = MAX_FILE_BYTES, which: str = NEW
) -> Place | None:
    """The place that options name; None where nothing can be kept, which is said. `WrongUsage` where it was asked."""
    if all(find_spec(name) is not None for name in LIBRARIES):
        return Place(data, database, blobs, max_file_bytes)
    if which != NEW or data or database or blobs:
        raise WrongUsage(f"conversations can't be kept here: {INSTALL}")
    typer.echo(f"showandtell: this conversation ends with the program; to keep conversations: {INSTALL}", err=True)
    return None


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


@asynccontextmanager
async def opened(agent: Agent, place: Place | None, which: str) -> AsyncGenerator[MemoryConversation]:
    """A conversation for as long as it is needed; without a place it ends with the program."""
    if place is None:
        yield agent.conversation()
        return
    async with place.store() as store:
        yield await find(store, which)
