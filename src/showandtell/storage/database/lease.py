"""One writer at a time for each conversation, over all processes: a lease in its row, a token that fences writes."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, Double, bindparam, cast, extract, func, or_, select, update

from showandtell.errors import Busy, LeaseLost, NotFound, StorageFailed
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import conversations as c
from showandtell.storage.uncancelled import shielded

LOST = "another process has taken this conversation over, or deleted it: open it again"
BUSY = "somebody else is answering in this conversation: try again when that has ended"


@dataclass(frozen=True, slots=True)
class Terms:
    """How leases are given. `length` and `patience` are seconds; `clock` gives epoch seconds, `sleep` waits for some.

    A lease that isn't renewed ends after `length`; who waits for one gives up after `patience`. Where `clock` is the
    machine's own, leases on PostgreSQL go by the database's, for the clocks of machines differ.
    """

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    length: float = 30.0
    patience: float = 45.0


#: No clock is so far ahead of another, in seconds: a lease that is must come from one that jumped.
FAR = 3600.0
#: What time it is on PostgreSQL, in epoch seconds, also where a transaction began long ago.
SELECT_CLOCK = select(cast(extract("epoch", func.clock_timestamp()), Double))
#: Free, ended, too far ahead, or held by a process that is known to be dead.
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
RENEW = UPDATE_HELD.values(lease_until=bindparam("until"))
FREE = UPDATE_HELD.values(lease_holder=None, lease_token=None, lease_until=None)


class Lease:
    """The lease of one conversation: `token` while it is held, and every write asks for it."""

    #: Tokens that this process couldn't give back: who finds one of them in the row has the lease.
    _left: ClassVar[set[str]] = set()

    def __init__(self, database: Database, conversation: str, terms: Terms) -> None:
        self._database, self._conversation, self._terms = database, conversation, terms
        self._beat: asyncio.Task[None] | None = None
        self._is_lost = False
        self._token: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether it was taken, and not given back."""
        return self._beat is not None

    @property
    def token(self) -> str:
        """What a write shows. Raises `LeaseLost` where the lease is known to be gone."""
        if self._is_lost or self._token is None:
            raise LeaseLost(LOST)
        return self._token

    async def take(self, check: Callable[[Connection], None]) -> int:
        """Wait until it is ours; gives the conversation's version. Raises `Busy`, `NotFound`, and what `check` does.

        `check` is asked in the same transaction whether it may be taken at all.
        """
        pause, waited = 0.005, 0.0
        while (version := await self._try(check)) is None:
            if waited >= self._terms.patience:
                raise Busy(BUSY)
            pause = min(pause * 1.5, 0.1)
            moment = pause * random.uniform(0.5, 1.5)  # noqa: S311 - so that those who wait don't march in step
            await self._terms.sleep(moment)
            waited += moment
        self._is_lost = False
        self._beat = asyncio.create_task(self._renew())
        return version

    async def give_back(self) -> None:
        """Let others write; also where the one who had it is cancelled."""
        await shielded(self._give_back())

    async def leave(self) -> None:
        """Let others write, in the midst of a run: whatever it still writes raises `LeaseLost`."""
        self._is_lost = True
        await self.give_back()

    async def _give_back(self) -> None:
        beat, self._beat = self._beat, None
        if beat is not None:
            beat.cancel()
            await asyncio.wait({beat})
        token, self._token = self._token, None
        if token is not None:
            self._left.add(token)
            with suppress(StorageFailed):  # it ends by itself, or we take it again
                mine = {"conversation": self._conversation, "token": token}
                await self._database.write(lambda connection: connection.execute(FREE, mine))
                self._left.discard(token)

    def _now(self, connection: Connection) -> float:
        """What time it is, for everybody who may want this lease."""
        if self._database.is_sqlite or self._terms.clock is not time.time:
            return self._terms.clock()
        return connection.execute(SELECT_CLOCK).scalar_one()

    async def _try(self, check: Callable[[Connection], None]) -> int | None:
        # Known before it is ours: whoever is cancelled in between gives it back.
        token = self._token = secrets.token_hex(16)

        def work(connection: Connection) -> int | None:
            check(connection)
            return self._take(connection, token)

        version = await self._database.write(work)
        if version is None:
            self._token = None
        return version

    def _take(self, connection: Connection, token: str) -> int | None:
        row = connection.execute(SELECT_HOLDER, {"conversation": self._conversation}).first()
        if row is None:
            raise NotFound(LOST)
        holder, until, held = row
        dead = holder if holder is not None and is_dead(holder) else ""
        left = held if held in self._left else ""
        now = self._now(connection)
        if holder is not None and not dead and not left and now < until <= now + FAR:
            return None
        asked = {"conversation": self._conversation, "dead": dead, "left": left, "holder": myself(), "token": token}
        times = {"now": now, "until": now + self._terms.length, "furthest": now + FAR}
        return connection.execute(UPDATE_LEASE, {**asked, **times}).scalar_one_or_none()

    async def _renew(self) -> None:
        while not self._is_lost:
            await self._terms.sleep(self._terms.length / 3)
            await shielded(self._beat_once())

    async def _beat_once(self) -> None:
        """Hold it for as long again, if it is still ours."""

        def work(connection: Connection) -> bool:
            until = self._now(connection) + self._terms.length
            asked = {"conversation": self._conversation, "token": self._token, "until": until}
            return connection.execute(RENEW, asked).rowcount == 0

        with suppress(StorageFailed):  # the database may be back in time for the next beat
            self._is_lost = await self._database.write(work)


def myself() -> str:
    """This process: machine, number and start, for numbers are given again."""
    return f"{machine()}/{os.getpid()}/{started(os.getpid())}"


def machine() -> str:
    """This machine; in a container, the container, for only there do the numbers of processes mean the same."""
    with suppress(OSError):
        return f"{socket.gethostname()}:{Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname()


def started(process: int) -> str:
    """When a process was started, in the system's own count; empty where the system doesn't tell."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def is_dead(holder: str) -> bool:
    """Whether a holder is a process of this machine that has ended; of other machines nobody knows."""
    where, number, start = holder.rsplit("/", 2)
    if where != machine():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return bool(start) and started(int(number)) != start
