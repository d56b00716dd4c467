"""Access control for conversations, messages and files. Missing and forbidden both raise the same `NotFound`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, literal, or_, select

from showandtell.errors import BadInput, NotFound
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.tables import attachments, conversations, messages, shares

#: A writer may also read. Only the owner may share and delete.
Right: TypeAlias = Literal["reader", "writer", "owner"]

GRANTED_BY: dict[Right, tuple[str, ...]] = {"reader": ("reader", "writer"), "writer": ("writer",), "owner": ()}
RIGHTS = tuple(GRANTED_BY)
ID = re.compile(r"[a-z]+_[A-Za-z0-9_-]{22}", re.ASCII)
NO_TEXT = re.compile("[\0\ud800-\udfff]")
NOUNS = {"conv": "conversation", "msg": "message", "att": "file", "pending": "pending message"}


@cache
def allowed(right: Right) -> ColumnElement[bool]:
    """The condition on a conversation's row that `user` has a right to it."""
    own = conversations.c.owner == bindparam("user")
    if not GRANTED_BY[right]:
        return own
    shared = exists().where(
        shares.c.conversation_id == conversations.c.id,
        shares.c.user_id == bindparam("user"),
        or_(*(shares.c.access == literal(access) for access in GRANTED_BY[right])),
    )
    return or_(own, shared)


def check_right(right: Right) -> Right:
    """Return `right`. Raises `BadInput` if it is invalid."""
    if right not in RIGHTS:
        raise BadInput(f"unknown right {right!r:.40}: use one of {', '.join(RIGHTS)}")
    return right


@cache
def select_by_id(kind: str, right: Right) -> Select[*tuple[Any, ...]]:
    """The query for the conversation (id, owner) of an id of this kind."""
    query: Select[*tuple[Any, ...]] = select(conversations.c.id, conversations.c.owner).where(allowed(right))
    match kind:
        case "msg":
            query = query.join(messages, messages.c.conversation_id == conversations.c.id)
            return query.where(messages.c.id == bindparam("id"))
        case "att":
            query = query.join(attachments, attachments.c.conversation_id == conversations.c.id)
            return query.where(attachments.c.id == bindparam("id"))
        case _:
            return query.where(conversations.c.id == bindparam("id"))


async def resolve(database: Database, id: str, user: str, right: Right = "reader") -> Row:  # noqa: A002 - it is one
    """The conversation (id, owner) of a conversation, message or file id, if `user` has this right.

    Raises the same `NotFound` whether it doesn't exist or isn't accessible.
    """
    rows = await database.read(query_for(id, right), id=id, user=check_user(user))
    if not rows:
        raise not_found(id)
    return rows[0]


def resolve_in(connection: Connection, id: str, user: str, right: Right) -> None:  # noqa: A002 - it is one
    """Raise `NotFound` unless `user` has this right. Runs inside a transaction."""
    if connection.execute(query_for(id, right), {"id": id, "user": check_user(user)}).first() is None:
        raise not_found(id)


def query_for(id: str, right: Right) -> Select[Any]:  # noqa: A002 - it is one
    """The query for the conversation of an id."""
    kind = check_id(id).partition("_")[0]
    return select_by_id(kind if kind in NOUNS else "conv", check_right(right))


def check_id(id: object) -> str:  # noqa: A002 - it is one
    """Return `id`. Raises `NotFound` for malformed ids, which some databases reject as text."""
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise not_found(id)
    return id


def check_user(user: object) -> str:
    """Return `user`. Raises `BadInput` for text that some databases reject."""
    if not isinstance(user, str) or NO_TEXT.search(user):
        raise BadInput(f"{user!r:.40} is not a valid user name: use text without NUL and lone surrogates")
    return user


def not_found(id: object) -> NotFound:  # noqa: A002 - it is one
    """The error for an id."""
    kind = str(id).partition("_")[0]
    return NotFound(f"there is no {NOUNS.get(kind, 'conversation')} {str(id)[:40]!r}: check the id")
