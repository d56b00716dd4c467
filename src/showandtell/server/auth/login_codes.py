"""One-time codes that sign the single user in, and the token's generation: what commands and running servers share."""

from __future__ import annotations

import hashlib
import secrets
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, insert, or_, select

from showandtell.server.auth.session_rows import end_sessions_of
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import login_codes, server_settings
from showandtell.storage.database.upserts import upsert

#: Names of settings.
GENERATION, SERVER = "token_generation", "server"
#: Where a server's token comes from: its secret, the variable SHOWANDTELL_TOKEN, or nowhere, because it has accounts.
TokenSource: TypeAlias = Literal["secret", "variable", "accounts"]

SELECT_SETTING = select(server_settings.c.value).where(server_settings.c.name == bindparam("setting"))
DELETE_USED = (
    delete(login_codes)
    .where(
        login_codes.c.sha256 == bindparam("hash"),
        or_(login_codes.c.until.is_(None), login_codes.c.until > bindparam("now")),
    )
    .returning(login_codes.c.sha256)
)
DELETE_UNLIMITED = delete(login_codes).where(login_codes.c.until.is_(None))
DELETE_EXPIRED = delete(login_codes).where(login_codes.c.until <= bindparam("now"))


class Renewal(Struct, frozen=True):
    """A renewal of the token: its generation, and how many sessions it has ended."""

    generation: int
    ended: int


class ServerRecord(Struct, frozen=True):
    """The server that was started last with a database. `mark` is its cookies' suffix, which tells its keys apart."""

    address: str
    source: TokenSource
    mark: str


def add_code(connection: Connection, now: float, seconds: float | None = None) -> str:
    """Return a new code, good for some seconds, or until it is used. One of the latter replaces the previous one."""
    code = secrets.token_urlsafe(24)
    if seconds is None:
        connection.execute(DELETE_UNLIMITED)
    until = None if seconds is None else now + seconds
    connection.execute(insert(login_codes), {"sha256": _hash(code), "created": now, "until": until})
    return code


def use_code(connection: Connection, code: str, now: float) -> bool:
    """Whether a code is good. One statement checks and deletes it, so that it works once across all workers."""
    return connection.execute(DELETE_USED, {"hash": _hash(code), "now": now}).first() is not None


async def collect_codes(database: Database, now: float) -> None:
    """Delete codes that are too old."""
    await database.write(lambda connection: connection.execute(DELETE_EXPIRED, {"now": now}))


async def read_generation(database: Database) -> int:
    """Return how often the token was renewed."""
    rows = await database.read(SELECT_SETTING, setting=GENERATION)
    return int(rows[0][0]) if rows else 0


def lock_generation(connection: Connection) -> int:
    """Return how often the token was renewed. Until the transaction ends, nobody else renews it."""
    statement = upsert(connection, server_settings).values(name=GENERATION, value="0")
    unchanged = statement.on_conflict_do_update(index_elements=["name"], set_={"value": server_settings.c.value})
    return int(connection.execute(unchanged.returning(server_settings.c.value)).scalar_one())


def renew_token(connection: Connection, user: str, now: float) -> Renewal:
    """Begin the token's next generation. Ends all sessions of the user and deletes all codes."""
    generation = lock_generation(connection) + 1
    _set(connection, GENERATION, str(generation))
    connection.execute(delete(login_codes))
    return Renewal(generation, len(end_sessions_of(connection, user, now)))


async def read_server(database: Database) -> ServerRecord | None:
    """Return the record of the server that was started last, or None."""
    rows = await database.read(SELECT_SETTING, setting=SERVER)
    return msgspec.json.decode(rows[0][0], type=ServerRecord) if rows else None


def set_server(connection: Connection, record: ServerRecord) -> None:
    """Record which server was started last."""
    _set(connection, SERVER, msgspec.json.encode(record).decode())


def _set(connection: Connection, name: str, value: str) -> None:
    statement = upsert(connection, server_settings)
    row = {"name": name, "value": value}
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}), row)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode(errors="surrogatepass")).hexdigest()
