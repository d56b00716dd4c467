"""Keys of conversations: what a program or a client calls one. A key is unique among the conversations of its owner."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Connection, bindparam, select

from showandtell.errors import BadInput, Busy, NotFound
from showandtell.storage.conversations.access import ID, NO_TEXT, check_user, not_found
from showandtell.storage.database.database import Database
from showandtell.storage.database.prepared import Prepared
from showandtell.storage.database.tables import aliases
from showandtell.storage.database.upserts import upsert_in

#: Maximum length of a key.
MAX_KEY = 200
SELECT_BY_KEY = select(aliases.c.conversation_id).where(
    aliases.c.owner == bindparam("who"), aliases.c.alias == bindparam("key")
)
#: What the keys of imported conversations begin with; the hash of the file follows, or the id of its conversation.
IMPORT = "import:"
SELECT_SOURCE = (
    select(aliases.c.alias)
    .where(
        aliases.c.conversation_id == bindparam("conversation"),
        aliases.c.owner == bindparam("who"),
        aliases.c.alias.startswith(f"{IMPORT}conv_", autoescape=True),
    )
    .order_by(aliases.c.alias)
    .limit(1)
)
INSERT_KEY = Prepared(lambda dialect: upsert_in(dialect, aliases).on_conflict_do_nothing().returning(aliases.c.alias))


class KeyTaken(Busy):
    """Another conversation has the key that a new one was to get."""


def check_key(key: Any) -> str:
    """Return `key`. Raises `BadInput` for invalid keys, and `NotFound` for what looks like our own ids.

    So a key can't shadow another conversation's id.
    """
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY or NO_TEXT.search(key):
        raise BadInput(f"a conversation can't have the key {key!r:.40}: use text of 1 to {MAX_KEY} characters")
    if re.match(r"(conv|msg|att)_", key) and ID.fullmatch(key):
        raise not_found(key)
    return key


def check_new_key(key: Any) -> str:
    """Like `check_key`, for a conversation that is created if there is none: every error is `BadInput`."""
    try:
        return check_key(key)
    except NotFound:
        raise BadInput(f"{key!r} is the form of our own ids: open it by id, or use another key") from None


async def find_key(database: Database, owner: str, key: str) -> str | None:
    """The id of the conversation with this key, or None."""
    rows = await database.read(SELECT_BY_KEY, who=check_user(owner), key=check_key(key))
    return rows[0][0] if rows else None


def insert_key(connection: Connection, owner: str, key: str, conversation_id: str) -> None:
    """Give a new conversation its key. Raises `KeyTaken` if another one has it."""
    row = {"owner": owner, "alias": key, "conversation_id": conversation_id}
    if INSERT_KEY.execute(connection, row).first() is None:
        raise KeyTaken(f"another conversation has the key {key[:40]!r}: open that one")


async def read_source(database: Database, conversation_id: str, owner: str) -> str | None:
    """The id of the conversation of which this one is an imported copy; None if it isn't one."""
    rows = await database.read(SELECT_SOURCE, conversation=conversation_id, who=owner)
    return str(rows[0][0]).removeprefix(IMPORT) if rows else None
