"""The statements of `StoredConversation`."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Select, Text, Update, and_, bindparam, case, delete, insert, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from showandtell.storage.conversations.access import Right, allowed
from showandtell.storage.database.lease import UPDATE_HELD, UPDATE_RELEASED, take_lease
from showandtell.storage.database.prepared import Prepared
from showandtell.storage.database.tables import attachments, conversations, intents, messages


def take_place(statement: Update) -> ReturningUpdate[int, int]:
    """Take the next seq in the conversation."""
    return statement.values(
        next_seq=conversations.c.next_seq + 1,
        version=conversations.c.version + 1,
        head=bindparam("message"),
        changed=bindparam("now"),
        title=case((conversations.c.title == "", bindparam("words", type_=Text)), else_=conversations.c.title),
    ).returning(conversations.c.next_seq, conversations.c.version)


INSERT_CONVERSATION, INSERT_MESSAGE = Prepared(insert(conversations)), Prepared(insert(messages))
UPDATE_APPENDED = Prepared(take_place(UPDATE_HELD))
#: The same at the end of a turn.
UPDATE_APPENDED_LAST = Prepared(take_place(UPDATE_RELEASED))


@cache
def first_append(right: Right, *, has_shared_clock: bool) -> Prepared:
    """Like `UPDATE_APPENDED`, for somebody who claimed the lease."""
    statement = update(conversations).where(conversations.c.id == bindparam("conversation"), allowed(right))
    return Prepared(take_place(take_lease(statement, has_shared_clock=has_shared_clock)))


UPDATE_HEAD = UPDATE_HELD.values(version=conversations.c.version + 1, head=bindparam("message")).returning(
    conversations.c.version
)
#: Started calls count as a change: another process that continues the run reads them.
UPDATE_CHANGED = UPDATE_HELD.values(version=conversations.c.version + 1, changed=bindparam("now")).returning(
    conversations.c.version
)
SELECT_MESSAGE = select(messages.c.id).where(
    messages.c.conversation_id == bindparam("conversation"), messages.c.id == bindparam("message")
)
DELETE_INTENT = delete(intents).where(
    intents.c.conversation_id == bindparam("conversation"), intents.c.call_id == bindparam("call")
)
UPDATE_ATTACHMENT = update(attachments).where(attachments.c.id == bindparam("file"))
#: Files deleted meanwhile stay deleted.
UPDATE_STATE = UPDATE_ATTACHMENT.where(attachments.c.state != "deleted").values(
    state=bindparam("now"), record=bindparam("record")
)

UPDATE_VERSION = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(version=conversations.c.version + 1)
    .returning(conversations.c.version)
)


@cache
def select_column(column: str, right: Right) -> Select[Any, Any]:
    """A column of all messages that have it, with their ids, in order.

    Without this right there is no row; without such messages there is one row of NULLs.
    """
    value = messages.c[column]
    of_conversation = and_(messages.c.conversation_id == conversations.c.id, value.is_not(None))
    return (
        select(messages.c.id, value)
        .select_from(conversations.outerjoin(messages, of_conversation))
        .where(conversations.c.id == bindparam("conversation"), allowed(right))
        .order_by(messages.c.seq)
    )
