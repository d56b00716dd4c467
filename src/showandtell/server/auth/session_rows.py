"""Sessions in browsers, as rows of the database. What is cached of them, and for how long, is decided elsewhere."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import sessions

#: The refresh token of a session while a worker uses it. Issuers take a second use of a token for theft.
TAKEN: Final = ""


class Session(Struct, frozen=True):
    """A session: times in epoch seconds. `refresh_token` is encrypted, `TAKEN`, or None if the issuer gave none."""

    id: str
    user: str
    created: float
    seen: float
    ended: float | None = None
    issuer_session: str | None = None
    refresh_token: str | None = None
    confirmed_until: float | None = None


IS_THIS = sessions.c.id == bindparam("session")
IS_OPEN = sessions.c.ended.is_(None)
SELECT_SESSION = select(
    sessions.c.id,
    sessions.c.user_id,
    sessions.c.created,
    sessions.c.seen,
    sessions.c.ended,
    sessions.c.issuer_session,
    sessions.c.refresh_token,
    sessions.c.confirmed_until,
).where(IS_THIS)
SELECT_USERS = select(sessions.c.user_id).distinct().where(sessions.c.issuer_session == bindparam("sid"), IS_OPEN)
UPDATE_SEEN = update(sessions).where(IS_THIS, IS_OPEN).values(seen=bindparam("now"))
UPDATE_ENDED = update(sessions).where(IS_OPEN).values(ended=bindparam("now"), refresh_token=None)
UPDATE_TOKEN = update(sessions).where(IS_THIS, IS_OPEN, sessions.c.refresh_token == bindparam("old"))
UPDATE_TAKEN = UPDATE_TOKEN.values(refresh_token=TAKEN).returning(sessions.c.id)
UPDATE_CONFIRMED = UPDATE_TOKEN.values(refresh_token=bindparam("new"), confirmed_until=bindparam("until"))
DELETE_UNSEEN = delete(sessions).where(sessions.c.seen < bindparam("before"))


def insert_session(connection: Connection, session: Session) -> None:
    """Store a new session, in a transaction of the caller."""
    row = {
        "id": session.id,
        "user_id": session.user,
        "created": session.created,
        "seen": session.seen,
        "issuer_session": session.issuer_session,
        "refresh_token": session.refresh_token,
        "confirmed_until": session.confirmed_until,
    }
    connection.execute(insert(sessions), row)


async def read_session(database: Database, session_id: str) -> Session | None:
    """Return a session, also one that has ended."""
    rows = await database.read(SELECT_SESSION, session=session_id)
    return Session(*rows[0]) if rows else None


async def mark_seen(database: Database, session_id: str, now: float) -> None:
    """Record that a session is in use."""
    await database.write(lambda connection: connection.execute(UPDATE_SEEN, {"session": session_id, "now": now}))


async def end_session(database: Database, session_id: str, now: float) -> None:
    """End one session. Its refresh token is deleted."""
    parameters = {"session": session_id, "now": now}
    await database.write(lambda connection: connection.execute(UPDATE_ENDED.where(IS_THIS), parameters))


def end_sessions_of(
    connection: Connection, user: str, now: float, *, before: float | None = None, issuer_session: str | None = None
) -> list[str]:
    """End all sessions of a user, in a transaction of the caller. Returns their ids.

    With `before`, only those that were started before it. With `issuer_session`, only those that belong to this session
    at the issuer, or to an unknown one.
    """
    statement, parameters = UPDATE_ENDED.where(sessions.c.user_id == user), {"now": now}
    if before is not None:
        statement = statement.where(sessions.c.created < before)
    if issuer_session is not None:
        of_issuer = sessions.c.issuer_session
        statement = statement.where(or_(of_issuer == issuer_session, of_issuer.is_(None)))
    return [row[0] for row in connection.execute(statement.returning(sessions.c.id), parameters)]


async def users_of_issuer_session(database: Database, issuer_session: str) -> list[str]:
    """Return the users with a session that belongs to this session at the issuer: usually one."""
    return [row[0] for row in await database.read(SELECT_USERS, sid=issuer_session)]


async def take_refresh_token(database: Database, session_id: str, old: str) -> bool:
    """Reserve the use of a refresh token. False if another worker has, or if the session has ended."""
    parameters = {"session": session_id, "old": old}

    def transaction(connection: Connection) -> bool:
        return connection.execute(UPDATE_TAKEN, parameters).first() is not None

    return await database.write(transaction)


async def store_refresh_token(database: Database, session_id: str, new: str, until: float) -> None:
    """Store the token that follows a taken one, and until when the user is confirmed."""
    parameters = {"session": session_id, "old": TAKEN, "new": new, "until": until}
    await database.write(lambda connection: connection.execute(UPDATE_CONFIRMED, parameters))


async def collect_sessions(database: Database, before: float) -> None:
    """Delete sessions that were not seen since `before`. Their cookies have expired."""
    await database.write(lambda connection: connection.execute(DELETE_UNSEEN, {"before": before}))
