"""One writer at a time for each conversation, across processes: a lease in its row, and a fencing token for writes."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from sqlalchemy import Connection, Double, Update, bindparam, cast, extract, func, or_, select, update

from showandtell.errors import Busy, LeaseLost, NotFound, StorageFailed
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import conversations as c
from showandtell.storage.uncancelled import shielded

OUTDATED = "another process has written to this conversation since it was read: send the message again"
LOST = "another process has taken over or deleted this conversation: open it again"
BUSY = "another run is in progress in this conversation: try again when it has ended"


class Outdated(Busy):
    """The conversation was changed, or its lease taken, since it was read. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of leases. `length` and `timeout` are in seconds; `clock` returns epoch seconds, `sleep` waits.

    A lease expires after `length` unless it is renewed; acquiring one fails after `timeout`. With the system clock,
    leases on PostgreSQL use the database's clock, because those of machines differ.
    """

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    length: float = 30.0
    timeout: float = 45.0


#: Writes a transaction.
Write: TypeAlias = Callable[[Callable[[Connection], Any]], Awaitable[Any]]

#: In seconds. A lease that ends later than this from now was written by a clock that jumped.
MAX_CLOCK_SKEW = 3600.0
#: The current time on PostgreSQL in epoch seconds, even if the transaction started long ago.
CLOCK = cast(extract("epoch", func.clock_timestamp()), Double)
SELECT_CLOCK = select(CLOCK)
#: Free, expired, too far ahead, held by a process known to be dead, or left by this process.
UPDATE_LEASE = (
    update(c)
    .where(
        c.c.id == bindparam("conversation"),
        or_(
            c.c.lease_token.is_(None),
            c.c.lease_until <= bindparam("now"),
            c.c.lease_until > bindparam("furthest"),
            c.c.lease_holder == bindparam("dead"),
            c.c.lease_token == bindparam("left"),
        ),
    )
    .values(lease_holder=bindparam("holder"), lease_token=bindparam("token"), lease_until=bindparam("until"))
    .returning(c.c.version)
)
SELECT_HOLDER = select(c.c.lease_holder, c.c.lease_until, c.c.lease_token).where(c.c.id == bindparam("conversation"))
UPDATE_HELD = update(c).where(c.c.id == bindparam("conversation"), c.c.lease_token == bindparam("token"))


def take_lease(statement: Update, *, has_shared_clock: bool) -> Update:
    """An update of a conversation that also takes its lease. Only if it is as it was read, and nobody has the lease."""
    now = CLOCK if has_shared_clock else bindparam("now", type_=Double)
    return statement.where(c.c.version == bindparam("unchanged"), c.c.lease_token.is_(None)).values(
        lease_holder=bindparam("holder"), lease_token=bindparam("token"), lease_until=now + bindparam("length")
    )


UPDATE_RENEWED = UPDATE_HELD.values(lease_until=bindparam("until"))
UPDATE_RELEASED = UPDATE_HELD.values(lease_holder=None, lease_token=None, lease_until=None)


class Lease:
    """The lease of one conversation. Every write must present its `token`."""

    #: Tokens that this process failed to release; a lease with one of them is free.
    _unreleased: ClassVar[set[str]] = set()

    def __init__(self, database: Database, conversation: str, terms: Terms) -> None:
        self._database, self._conversation, self._terms = database, conversation, terms
        self._heartbeat: asyncio.Task[None] | None = None
        self._is_lost = False
        self._token: str | None = None
        #: The version of the conversation for which the lease was claimed, until it is taken.
        self._claimed: int | None = None

        #: Whether the time is the database's, because those of machines differ.
        self.has_shared_clock = not database.is_sqlite and terms.clock is time.time

    @property
    def is_held(self) -> bool:
        """Whether the lease was acquired or claimed, and not released."""
        return self._heartbeat is not None or self._claimed is not None

    @property
    def is_claimed(self) -> bool:
        """Whether the next write has to take the lease."""
        return self._claimed is not None

    @property
    def token(self) -> str:
        """The token for a write. Raises `LeaseLost` if the lease is known to be lost."""
        if self._is_lost or self._token is None:
            raise LeaseLost(LOST)
        return self._token

    async def acquire(self, check: Callable[[Connection], None]) -> int:
        """Wait for the lease and return the conversation's version. Raises `Busy`, `NotFound` and errors of `check`.

        `check` runs in the same transaction and may refuse.
        """
        pause, waited = 0.005, 0.0
        while (version := await self._try(check)) is None:
            if waited >= self._terms.timeout:
                raise Busy(BUSY)
            pause = min(pause * 1.5, 0.1)
            delay = pause * random.uniform(0.5, 1.5)  # noqa: S311 - jitter
            await self._terms.sleep(delay)
            waited += delay
        self._is_lost = False
        self.keep()
        return version

    def claim(self, version: int) -> None:
        """Begin without the lease: the first write takes it by `take_lease`, if the version is still this one."""
        self._token, self._claimed, self._is_lost = secrets.token_hex(16), version, False

    def claimed(self) -> dict[str, object]:
        """The parameters of `take_lease`."""
        claim = {"token": self.token, "unchanged": self._claimed, "holder": this_process()}
        return {**claim, "length": self._terms.length}

    def keep(self) -> None:
        """Renew the lease from now on, once the transaction that took it is committed."""
        self._claimed = None
        self._heartbeat = asyncio.create_task(self._renew())

    async def release(self, write: Write | None = None) -> None:
        """Release the lease, even if the caller is cancelled. Raises what `write` raises, if it is given."""
        await shielded(self._release(write))

    def lose(self) -> None:
        """Give the lease up in the middle of a run: its further writes raise `LeaseLost`."""
        self._is_lost = True

    async def abandon(self) -> None:
        """Release the lease in the middle of a run, after `lose`."""
        self.lose()
        await self.release()

    async def _release(self, write: Write | None) -> None:
        is_taken, self._claimed = self._claimed is None, None
        heartbeat, self._heartbeat = self._heartbeat, None
        if heartbeat is not None:
            heartbeat.cancel()
            await asyncio.wait({heartbeat})
        token, self._token = self._token, None
        if token is None or not is_taken:
            return
        self._unreleased.add(token)  # if this fails, it expires, or this process acquires it again
        parameters = {"conversation": self._conversation, "token": token}
        with nullcontext() if write else suppress(StorageFailed):
            await (write or self._database.write)(lambda connection: connection.execute(UPDATE_RELEASED, parameters))
            self._unreleased.discard(token)

    def _now(self, connection: Connection) -> float:
        """The current time on a clock that all candidates share."""
        return connection.execute(SELECT_CLOCK).scalar_one() if self.has_shared_clock else self._terms.clock()

    async def _try(self, check: Callable[[Connection], None]) -> int | None:
        # Set before it is acquired, so that a cancellation in between releases it.
        token = self._token = secrets.token_hex(16)

        def transaction(connection: Connection) -> int | None:
            check(connection)
            return self._acquire(connection, token)

        version = await self._database.write(transaction)
        if version is None:
            self._token = None
        return version

    def _acquire(self, connection: Connection, token: str) -> int | None:
        row = connection.execute(SELECT_HOLDER, {"conversation": self._conversation}).first()
        if row is None:
            raise NotFound(LOST)
        holder, until, held_token = row
        dead = holder if holder is not None and is_dead(holder) else ""
        unreleased = held_token if held_token in self._unreleased else ""
        now = self._now(connection)
        if holder is not None and not dead and not unreleased and now < until <= now + MAX_CLOCK_SKEW:
            return None
        parameters = {
            "conversation": self._conversation,
            "dead": dead,
            "left": unreleased,
            "holder": this_process(),
            "token": token,
        }
        times = {"now": now, "until": now + self._terms.length, "furthest": now + MAX_CLOCK_SKEW}
        return connection.execute(UPDATE_LEASE, {**parameters, **times}).scalar_one_or_none()

    async def _renew(self) -> None:
        while not self._is_lost:
            await self._terms.sleep(self._terms.length / 3)
            await shielded(self._renew_once())

    async def _renew_once(self) -> None:
        """Extend the lease if it is still ours."""

        def transaction(connection: Connection) -> bool:
            until = self._now(connection) + self._terms.length
            parameters = {"conversation": self._conversation, "token": self._token, "until": until}
            return connection.execute(UPDATE_RENEWED, parameters).rowcount == 0

        with suppress(StorageFailed):  # the database may be back in time for the next renewal
            self._is_lost = await self._database.write(transaction)


def this_process() -> str:
    """This process: machine, pid and start time, because pids are reused."""
    return name_of(os.getpid())


@cache  # a child that is forked has another pid
def name_of(process: int) -> str:
    """The name of a process of this machine."""
    return f"{machine()}/{process}/{start_time(process)}"


def machine() -> str:
    """This machine, or in a container its pid namespace, where pids are unique."""
    with suppress(OSError):
        return f"{socket.gethostname()}:{Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname()


def start_time(process: int) -> str:
    """When a process was started, in clock ticks; empty if unknown."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def is_dead(holder: str) -> bool:
    """Whether a holder is a process of this machine that has exited. Unknown, so false, for other machines."""
    host, number, start = holder.rsplit("/", 2)
    if host != machine():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return bool(start) and start_time(int(number)) != start
