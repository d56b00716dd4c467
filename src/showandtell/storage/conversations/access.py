"""Who may do what: one question that every way to a conversation, message or file asks. Not yours is not found."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, literal, or_, select

from showandtell.errors import BadInput, NotFound
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.tables import attachments, conversations, messages, shares

#: A writer may read, too. Only the owner may share, and delete.
Right: TypeAlias = Literal["reader", "writer", "owner"]

ENOUGH: dict[Right, tuple[str, ...]] = {"reader": ("reader", "writer"), "writer": ("writer",), "owner": ()}
RIGHTS = tuple(ENOUGH)
ID = re.compile(r"[a-z]+_[A-Za-z0-9_-]{22}", re.ASCII)
NO_TEXT = re.compile("[\0\ud800-\udfff]")
WORDS = {"conv": "conversation", "msg": "message", "att": "file"}


@cache
def allowed(right: Right) -> ColumnElement[bool]:
    """The condition on a conversation's row that `user` has this right."""
    own = conversations.c.owner == bindparam("user")
    if not ENOUGH[right]:
        return own
    shared = exists().where(
        shares.c.conversation_id == conversations.c.id,
        shares.c.user_id == bindparam("user"),
        or_(*(shares.c.access == literal(one) for one in ENOUGH[right])),
    )
    return or_(own, shared)


def check_right(right: Right) -> Right:
    """The same right. Raises `BadInput` for what is none."""
    if right not in RIGHTS:
        raise BadInput(f"there is no right {right!r:.40}: use one of {', '.join(RIGHTS)}")
    return right


@cache
def question(kind: str, right: Right) -> Select[*tuple[Any, ...]]:
    """The query for the conversation of an id, and its owner."""
    asked: Select[*tuple[Any, ...]] = select(conversations.c.id, conversations.c.owner).where(allowed(right))
    match kind:
        case "msg":
            asked = asked.join(messages, messages.c.conversation_id == conversations.c.id)
            return asked.where(messages.c.id == bindparam("id"))
        case "att":
            asked = asked.join(attachments, attachments.c.conversation_id == conversations.c.id)
            return asked.where(attachments.c.id == bindparam("id"))
        case _:
            return asked.where(conversations.c.id == bindparam("id"))


async def resolve(database: Database, id: str, user: str, right: Right = "reader") -> Row:  # noqa: A002 - it is one
    """The conversation (its id, its owner) of a conversation's, a message's or a file's id, if `user` has this right.

    Raises `NotFound`, in the same words whether it isn't there or isn't theirs.
    """
    rows = await database.read(question_of(id, right), id=id, user=check_user(user))
    if not rows:
        raise not_found(id)
    return rows[0]


def resolve_in(connection: Connection, id: str, user: str, right: Right) -> None:  # noqa: A002 - it is one
    """Raise `NotFound` in a transaction, where `user` has no such right to what this is the id of."""
    if connection.execute(question_of(id, right), {"id": id, "user": check_user(user)}).first() is None:
        raise not_found(id)


def question_of(id: str, right: Right) -> Select[Any]:  # noqa: A002 - it is one
    """What asks for the conversation of an id, by a right to it."""
    kind = check_id(id).partition("_")[0]
    return question(kind if kind in WORDS else "conv", check_right(right))


def check_id(id: object) -> str:  # noqa: A002 - it is one
    """The same id. Raises `NotFound` for what no id looks like, which a database might not even take as text."""
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise not_found(id)
    return id


def check_user(user: object) -> str:
    """The same name of a user. Raises `BadInput` for what a database doesn't take as text."""
    if not isinstance(user, str) or NO_TEXT.search(user):
        raise BadInput(f"{user!r:.40} can't be a user's name: use text without NUL and lone surrogates")
    return user


def not_found(id: object) -> NotFound:  # noqa: A002 - it is one
    """The error for an id."""
    kind = str(id).partition("_")[0]
    return NotFound(f"there is no {WORDS.get(kind, 'conversation')} {str(id)[:40]!r}: check the id")
