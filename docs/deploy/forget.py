"""Deletes all that a user has kept here, for good: conversations, their files, the display name. Give the account id.

The database and the files are those of SHOWANDTELL_DATABASE and SHOWANDTELL_BLOBS, or of the data folder.
"""

import asyncio
import os
import sys

from showandtell.config.user_settings import data_folder
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.users import forget as forget_name


async def forget(owner: str) -> None:
    """Delete all conversations of a user, then the bytes that no conversation uses."""
    environ = os.environ.get
    async with Store.at(data_folder(), environ("SHOWANDTELL_DATABASE"), environ("SHOWANDTELL_BLOBS")) as store:
        while found := await store.list(owner):
            for one in found:
                await store.delete(one.id, owner)
        await forget_name(store.database, owner)
        await store.collect()


asyncio.run(forget(sys.argv[1]))
