"""The list of an owner's conversations: a summary of each, without its messages."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, exists, func, or_, select

from showandtell.errors import BadInput
from showandtell.storage.database.tables import attachments, conversations, messages

#: Maximum length of a list.
MAX_LISTED = 10_000


class Summary(Struct, frozen=True):
    """A conversation in a list: title, times (epoch seconds) and counts."""

    id: str
    title: str
    created: float
    changed: float
    messages: int
    files: int


COUNTS = (
    select(func.count()).where(messages.c.conversation_id == conversations.c.id).scalar_subquery(),
    select(func.count()).where(attachments.c.conversation_id == conversations.c.id).scalar_subquery(),
)
SELECT_NEWEST = (
    select(conversations.c.id, conversations.c.title, conversations.c.created, conversations.c.changed, *COUNTS)
    .where(conversations.c.owner == bindparam("who"))
    .order_by(conversations.c.changed.desc(), conversations.c.id.desc())
    .limit(bindparam("most"))
)
ANCHOR = conversations.alias("last")
#: A conversation comes after that with the id `before`, from the most recently changed one on.
IS_AFTER = exists().where(
    ANCHOR.c.id == bindparam("before"),
    or_(
        conversations.c.changed < ANCHOR.c.changed,
        (conversations.c.changed == ANCHOR.c.changed) & (conversations.c.id < ANCHOR.c.id),
    ),
)
SELECT_OLDER = SELECT_NEWEST.where(IS_AFTER.where(ANCHOR.c.owner == conversations.c.owner))


def check_limit(limit: int) -> int:
    """Return `limit`. Raises `BadInput` unless it is 1 to 10,000."""
    if not 1 <= limit <= MAX_LISTED:
        raise BadInput(f"the limit {limit} is invalid: use 1 to {MAX_LISTED}")
    return limit
