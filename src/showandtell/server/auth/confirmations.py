"""Ask the accounts' issuer again, when its token has expired, if the user of a session still exists."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from showandtell.errors import StorageFailed
from showandtell.server.auth import session_rows
from showandtell.server.auth.errors import IssuerSilent, LoginUnavailable, Unauthorised
from showandtell.server.auth.oidc import Issuer
from showandtell.server.auth.session_rows import TAKEN, Session
from showandtell.server.auth.stored_secrets import StoredSecrets, WrongSecret
from showandtell.server.auth.token_endpoint import refresh
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)

#: Seconds after the token's end in which requests don't wait for the issuer: it is asked in the background.
WAIT_AFTER: Final = 60.0
#: Seconds after the token's end in which sessions work although the issuer doesn't respond.
GRACE: Final = 3600.0
#: Seconds before the issuer is asked again about a session that it could not confirm; about any, if it was silent.
RETRY_AFTER: Final = 30.0
#: Maximum number of sessions that wait for that.
MAX_RETRIES: Final = 10_000
#: Seconds that another worker may take to use a refresh token, and seconds between looks at its row. A worker that was
#: killed meanwhile has lost the token, because the issuer may have voided it.
OTHER_WORKER_SECONDS, POLL_SECONDS = 20.0, 0.2
CLOSE_SECONDS: Final = 1.0


class Confirmations:
    """Confirms sessions at one issuer. `secrets` encrypts the refresh tokens in the database."""

    def __init__(self, database: Database, issuer: Issuer, secrets: StoredSecrets, clock: Callable[[], float]) -> None:
        self._database, self._issuer, self._secrets, self._clock = database, issuer, secrets, clock
        self._tasks: dict[str, asyncio.Task[bool]] = {}
        #: When the issuer is asked again: about anybody, after it gave no answer, and about single sessions.
        self._retry_at = 0.0
        self._retries: LruDict[str, float] = LruDict(MAX_RETRIES)

    def encrypt(self, refresh_token: str, session_id: str) -> str:
        """Encrypt a refresh token for the row of this session alone."""
        return self._secrets.encrypt(refresh_token, f"refresh token {session_id}")

    def decrypt(self, encrypted: str, session_id: str) -> str:
        """Return the refresh token. Raises `Unauthorised` if it was encrypted with another secret."""
        try:
            return self._secrets.decrypt(encrypted, f"refresh token {session_id}")
        except WrongSecret as error:
            raise Unauthorised(f"the session can't be confirmed: {error}") from None

    async def confirm(self, session: Session, now: float, changed: Callable[[str], None]) -> bool:
        """As `Confirmer.confirm`. Soon after the token's end, the issuer is asked in the background."""
        overdue = 0.0 if session.confirmed_until is None else now - session.confirmed_until
        if overdue <= 0:
            return True
        if session.refresh_token is None:
            return overdue <= WAIT_AFTER
        if now < max(self._retry_at, self._retries.get(session.id) or 0.0):
            return self._check_grace(overdue, None)
        task = self._tasks.get(session.id)
        if task is None:
            task = self._tasks[session.id] = asyncio.create_task(self._ask(session, changed))
            task.add_done_callback(lambda done: self._finish(session.id, done))
        if overdue <= WAIT_AFTER:
            return True
        try:
            return await asyncio.shield(task)
        except LoginUnavailable as error:
            return self._check_grace(overdue, error)

    async def close(self) -> None:
        """Wait briefly for requests to the issuer, because a refresh token that was used has to be replaced."""
        tasks = [*self._tasks.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _check_grace(self, overdue: float, error: LoginUnavailable | None) -> bool:
        if overdue > GRACE:
            raise error or LoginUnavailable("the accounts' issuer does not respond: try again")
        return True

    def _finish(self, session_id: str, task: asyncio.Task[bool]) -> None:
        del self._tasks[session_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            retry_at = self._clock() + RETRY_AFTER
            if isinstance(error, IssuerSilent):
                self._retry_at = retry_at
            else:
                self._retries.add(session_id, retry_at)
            log.warning("a session can't be confirmed by the accounts' issuer: %s", error)

    async def _ask(self, session: Session, changed: Callable[[str], None]) -> bool:
        """Confirm a session, and return whether it continues. Raises `LoginUnavailable`."""
        old = session.refresh_token or TAKEN
        try:
            if old != TAKEN and await session_rows.take_refresh_token(self._database, session.id, old):
                return await self._use(session, old)
            return await self._wait_for_other(session.id)
        except StorageFailed as error:
            raise LoginUnavailable("the server's storage is not available: try again") from error
        finally:
            changed(session.id)

    async def _use(self, session: Session, old: str) -> bool:
        """Use a refresh token that this worker has taken, and store its successor."""
        kept, until = old, session.confirmed_until or 0.0
        try:
            grant = await refresh(self._issuer, self.decrypt(old, session.id), session.user, self._clock())
            until = grant.confirmed_until
            kept = self.encrypt(grant.refresh_token, session.id) if grant.refresh_token else old
        except Unauthorised as error:
            log.info("a session has ended: %s", error)
            await session_rows.end_session(self._database, session.id, self._clock())
            return False
        finally:  # does nothing to a session that has ended
            await session_rows.store_refresh_token(self._database, session.id, kept, until)
        return True

    async def _wait_for_other(self, session_id: str) -> bool:
        """Wait until another worker has used the token. If it never does, the session ends."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + OTHER_WORKER_SECONDS
        while loop.time() < deadline:
            session = await session_rows.read_session(self._database, session_id)
            if session is None or session.ended is not None:
                return False
            if session.refresh_token != TAKEN:
                return True
            await asyncio.sleep(POLL_SECONDS)
        await session_rows.end_session(self._database, session_id, self._clock())
        return False
