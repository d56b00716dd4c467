"""The sessions of two workers on one database."""

from contextlib import asynccontextmanager

from showandtell.server.auth.sessions import Sessions
from showandtell.storage.database.database import Database
from support.middleware_app import NOON
from support.postgres import ready_database


class Clock:
    """A clock that tests set."""

    now = NOON

    def __call__(self):
        return self.now


@asynccontextmanager
async def two_workers(kind, folder):
    """The sessions of two workers on one database, with one clock."""
    clock, one, two = Clock(), *(Database(url) for url in [ready_database(kind, folder)] * 2)
    await one.open()
    await two.open()
    try:
        yield Sessions(one, clock), Sessions(two, clock), clock
    finally:
        await one.close()
        await two.close()
