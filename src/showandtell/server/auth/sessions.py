"""The sessions of a server: started, found behind a cache, ended."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection

from showandtell.core.messages.ids import new_id
from showandtell.errors import StorageFailed, StorageFull
from showandtell.server.auth import login_codes, session_rows
from showandtell.server.auth.cached_fetch import CachedFetch
from showandtell.server.auth.errors import LoginUnavailable
from showandtell.server.auth.keys import COOKIE_AGE, DAY
from showandtell.server.auth.session_rows import Session
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)
T = TypeVar("T")

#: Seconds that a session is cached: one that another worker has ended works here for so long.
MAX_AGE: Final = 30.0
#: Seconds that a cached session is used while the database fails.
MAX_STALE: Final = 600.0
#: Maximum number of cached sessions.
MAX_CACHED: Final = 10_000
#: Minimum seconds between two records of a session's use.
SEEN_SECONDS: Final = 3600.0
#: Seconds that a session's row is kept after its last use. By then its cookie has expired.
KEEP_SECONDS: Final = COOKIE_AGE + 2 * DAY
UNAVAILABLE: Final = "the server can't check who is signed in, because its storage is not available: try again"


class Confirmer(Protocol):
    """Asks the accounts' issuer whether the user of a session still exists."""

    def encrypt(self, refresh_token: str, session_id: str) -> str:
        """Encrypt a refresh token for the row of this session alone."""
        ...

    async def confirm(self, session: Session, now: float, changed: Callable[[str], None]) -> bool:
        """Whether the session may be used. Calls `changed` with its id if its row has changed, also later.

        Raises `LoginUnavailable`.
        """
        ...


class Sessions:
    """The sessions in one database. `clock` returns epoch seconds.

    `make_room` frees space on a full disk: only people who are signed in can delete something there.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float],
        confirmer: Confirmer | None = None,
        make_room: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._database, self._clock, self._confirmer = database, clock, confirmer
        self._make_room = make_room
        self._cached: LruDict[str, CachedFetch[Session]] = LruDict(MAX_CACHED)

    async def start(self, user: str, *, code: str | None = None, generation: int | None = None) -> str | None:
        """Start a session of a user, and return its id; None if the code is not good, or the token was renewed.

        Both are checked in the transaction that stores the session, so that a renewal ends it or comes before it.
        """
        now = self._clock()
        session = Session(new_id("session"), user, now, now)

        def transaction(connection: Connection) -> str | None:
            if code is not None and not login_codes.use_code(connection, code, now):
                return None
            if generation is not None and login_codes.lock_generation(connection) != generation:
                return None
            session_rows.insert_session(connection, session)
            return session.id

        return await self._store(transaction)

    async def add(self, session: Session) -> str:
        """Store a new session, and return its id."""
        await self._store(lambda connection: session_rows.insert_session(connection, session))
        return session.id

    async def _store(self, transaction: Callable[[Connection], T]) -> T:
        """Run a transaction that stores a session, if necessary in the space that is reserved for deletions."""
        try:
            return await self._database.write(transaction)
        except StorageFull:
            if self._make_room is None:
                raise
        await self._make_room()
        return await self._database.write(transaction)

    def encrypt(self, refresh_token: str, session_id: str) -> str:
        """Encrypt the issuer's refresh token for the row of a session. Only servers with accounts get one."""
        if self._confirmer is None:
            raise AssertionError(session_id)
        return self._confirmer.encrypt(refresh_token, session_id)

    async def find(self, session_id: str) -> Session | None:
        """Return a session, or None if it has ended. Raises `LoginUnavailable` if that can't be checked."""
        now = self._clock()
        cached = self._cached.get(session_id)
        if cached is None:
            cached = CachedFetch(lambda now: self._read(session_id, now), MAX_AGE, MAX_STALE)
            self._cached.add(session_id, cached)
        session = await cached.get(now)
        if session.ended is not None:
            return None
        if self._confirmer is not None and not await self._confirmer.confirm(session, now, self._cached.drop):
            return None
        return session

    async def end(self, session_id: str) -> None:
        """End a session. It stops working here at once, and at other workers within `MAX_AGE` seconds."""
        await session_rows.end_session(self._database, session_id, self._clock())
        self._cached.drop(session_id)

    async def end_at_issuer(self, issuer_session: str, *, before: float) -> None:
        """End what belongs to a session at the issuer and was started before `before`."""
        for user in await session_rows.users_of_issuer_session(self._database, issuer_session):
            await self.end_all(user, before=before, issuer_session=issuer_session)

    async def end_all(self, user: str, *, before: float | None = None, issuer_session: str | None = None) -> None:
        """End sessions of a user, like `end_sessions_of`."""
        now = self._clock()

        def transaction(connection: Connection) -> list[str]:
            return session_rows.end_sessions_of(connection, user, now, before=before, issuer_session=issuer_session)

        for session_id in await self._database.write(transaction):
            self._cached.drop(session_id)

    def forget(self) -> None:
        """Empty the cache: a command has ended sessions."""
        self._cached = LruDict(MAX_CACHED)

    async def collect(self) -> None:
        """Delete sessions whose cookies have expired, and codes that are too old."""
        await session_rows.collect_sessions(self._database, self._clock() - KEEP_SECONDS)
        await login_codes.collect_codes(self._database, self._clock())

    async def _read(self, session_id: str, now: float) -> Session:
        """Return the row of a session; a missing one has ended."""
        try:
            session = await session_rows.read_session(self._database, session_id)
        except StorageFailed as error:
            log.warning("sessions can't be read: %s", error)
            raise LoginUnavailable(UNAVAILABLE) from error
        if session is None:
            return Session(session_id, "", now, now, ended=now)
        if session.ended is None and now - session.seen > SEEN_SECONDS:
            with suppress(StorageFailed):  # a full disk signs nobody out
                await session_rows.mark_seen(self._database, session_id, now)
        return session
