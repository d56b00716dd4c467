"""The transactions of a run's turn: as few as its promises allow.

The first one takes the lease if that was only claimed, and the last one releases it. A server adds its own rows to
these two, and the model's message is then stored with what follows it at once: its calls, the next message, or the end
of the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from showandtell.storage.database.database import Database
from showandtell.storage.database.lease import Lease, Write

T = TypeVar("T")


class Deferred(Protocol):
    """A part of the next transaction."""

    def __call__(self, connection: Connection, /, *, is_last: bool) -> None:
        """Run it."""
        ...


class TurnWrites:
    """Writes for the holder of a conversation's lease, one after the other.

    begin, end: write the first and the last transaction of a turn with something added, in place of `database.write`.
    With `begin`, a turn begins without the lease.
    """

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database, self._lease = database, lease
        self._deferred: Deferred | None = None
        self.begin: Write | None = None
        self.end: Write | None = None

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction, after what was deferred. If the lease is only claimed, `work` has to take it."""
        is_first, deferred = self._lease.is_claimed, self._deferred

        def transaction(connection: Connection) -> T:
            if deferred is not None:
                deferred(connection, is_last=False)
            return work(connection)

        result = await (self.begin if is_first and self.begin else self._database.write)(transaction)
        self._deferred = None
        if is_first:
            self._lease.keep()
        return result

    async def begin_now(self) -> None:
        """Write the first transaction without anything else, because the lease has to be waited for."""
        if self.begin is not None:
            await self.begin(lambda _: None)

    def defer(self, work: Deferred) -> None:
        """Run `work` in the next transaction. If that is the last one of the turn, `work` also releases the lease."""
        self._deferred = work

    async def close(self) -> None:
        """Release the lease, and write what was deferred. Raises the errors of `end` and of what was deferred."""
        deferred, self._deferred = self._deferred, None
        if deferred is None and self.end is None:
            await self._lease.release()
            return

        async def write(release: Callable[[Connection], object]) -> None:
            def transaction(connection: Connection) -> None:
                if deferred is not None:
                    deferred(connection, is_last=True)
                else:
                    release(connection)

            await (self.end or self._database.write)(transaction)

        await self._lease.release(write)
