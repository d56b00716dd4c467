"""The people who have signed in, by account id, and the display names under which others see them.

Display names are unique here: of two people called Ann, the second is "Ann (2)" while the issuer calls her Ann.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import count

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from showandtell.core.messages.display_names import MAX_NAME, clean_name, name_key
from showandtell.errors import BadInput, NotFound
from showandtell.storage.conversations.access import check_user
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import users

#: The name of people whose issuer gives them none.
UNNAMED = "Unnamed user"
#: The advisory lock on PostgreSQL while a name is chosen. SQLite has one writer anyway.
NAMES_LOCK = 0x6E616D65
#: The number of a namesake, which no issuer can give, and the longest name before it.
NUMBER = re.compile(r"( ?\(\d+\))+$", re.ASCII)
MAX_BASE = MAX_NAME - 10

#: Everybody: databases can't compare names by their look.
SELECT_NAMES: Select[str, str] = select(users.c.id, users.c.name)
SELECT_PERSON: Select[str, str] = select(users.c.id, users.c.name).where(users.c.id == bindparam("who"))
UPDATE_PERSON = (
    update(users).where(users.c.id == bindparam("who")).values(name=bindparam("called"), seen=bindparam("now"))
)
SELECT_ADMIN = select(users.c.is_admin).where(users.c.id == bindparam("who"))
UPDATE_ADMIN = update(users).where(users.c.id == bindparam("who")).values(is_admin=bindparam("admin"))


async def remember(database: Database, user: str, name: str, now: float, *, admin: bool | None = None) -> str:
    """Store that a person was here at `now` (epoch seconds). Returns the unique name under which others see them.

    `name` is a clean display name. If it is empty, the person keeps the stored one. `admin` tells whether the person
    is an administrator; None: as before.
    """
    check_user(user)

    def transaction(connection: Connection) -> str:
        called = remember_in(connection, user, name, now)
        if admin is not None:
            connection.execute(UPDATE_ADMIN, {"who": user, "admin": int(admin)})
        return called

    return await database.write(transaction)


async def is_admin(database: Database, user: str) -> bool:
    """Whether a person's account made them an administrator when they were here last."""
    rows = await database.read(SELECT_ADMIN, who=check_user(user))
    return bool(rows and rows[0][0])


def remember_in(connection: Connection, user: str, name: str, now: float) -> str:
    """Like `remember`, inside a transaction."""
    base = clean_name(base_of(name)) or UNNAMED

    def read_name() -> str | None:
        row = connection.execute(SELECT_PERSON, {"who": user}).first()
        return row[1] if row is not None and (not name or base_of(row[1]) == base) else None

    called = read_name()
    if called is None:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(NAMES_LOCK)))
            called = read_name()  # another process may have been faster
        if called is None:
            called = free_name(base, [row[1] for row in connection.execute(SELECT_NAMES) if row[0] != user])
    changed = connection.execute(UPDATE_PERSON, {"who": user, "called": called, "now": now})
    if not changed.rowcount:
        connection.execute(insert(users), {"id": user, "name": called, "seen": now})
    return called


async def name_of(database: Database, user: str) -> str | None:
    """A person's display name; None for those who have not signed in."""
    rows = await database.read(SELECT_PERSON, who=check_user(user))
    return rows[0][1] if rows else None


async def lookup(database: Database, text: str) -> str:
    """The id of the person with this account id or display name: of those who have signed in, and only in full.

    Raises `NotFound` if there is none, `BadInput` if the name is that of several people.
    """
    text = " ".join(check_user(text).split())
    if rows := await database.read(SELECT_PERSON, who=text):
        return rows[0][0]
    key = name_key(base_of(text))
    alike = [row for row in await database.read(SELECT_NAMES) if name_key(base_of(row[1])) == key != name_key(UNNAMED)]
    exact = [row[0] for row in alike if row[1].casefold() == unicodedata.normalize("NFKC", text).casefold()]
    if exact and (len(alike) == 1 or base_of(text) != text):
        return exact[0]
    if exact:
        raise BadInput(f"several people are called {text!r:.80}: ask for the account id, which their settings show")
    raise NotFound(
        f"nobody who has signed in here has the name or account id {text!r:.80}: check it, or ask them to sign in once"
    )


def base_of(name: str) -> str:
    """A name without the number that tells namesakes apart."""
    return NUMBER.sub("", name)[:MAX_BASE].rstrip()


def free_name(base: str, taken: Collection[str]) -> str:
    """The name, with the lowest number that makes it look different from the others: "Ann", "Ann (2)"."""
    others = {name_key(name) for name in taken}
    candidates = (base if number == 1 else f"{base} ({number})" for number in count(1))
    return next(name for name in candidates if name_key(name) not in others)
