"""Notice in a running server that a command has renewed the token."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from showandtell.errors import StorageFailed
from showandtell.server.auth.keys import Keys
from showandtell.server.auth.login_codes import read_generation
from showandtell.server.auth.sessions import Sessions
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)

#: Seconds between two looks at the database.
POLL_SECONDS: Final = 3.0


async def follow_renewals(database: Database, keys: Keys, sessions: Sessions) -> None:
    """Use the newest token, forever. The sessions that its renewal has ended leave the cache."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            if keys.use_generation(await read_generation(database)):
                sessions.forget()
                log.warning("the token was renewed: this process refuses the old one from now on")
        except StorageFailed as error:
            log.warning("the server can't look for a renewed token: %s", error)
