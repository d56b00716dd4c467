"""What a message to a conversation needs first, in one query: where it is, who may write, and what it may repeat."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, Text, bindparam, false, literal, select

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.storage.conversations.access import ID, allowed, check_user
from showandtell.storage.conversations.conversation_settings import decode_settings
from showandtell.storage.conversations.keys import check_key
from showandtell.storage.conversations.preferences import Preferences, decode_preferences
from showandtell.storage.conversations.runs import RUN_COLUMNS, RunRow
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import aliases, conversations, preferences
from showandtell.storage.database.tables import runs as r


class Head(Struct, frozen=True):
    """A conversation as it is now, without its content.

    id: the conversation's id; None if there is none, or the user may not write.
    is_named: whether the user has a conversation with this key, also one that was deleted meanwhile.
    version: that of `StoredConversation`.
    is_free: nobody has its lease.
    run: the run that the client's message has started.
    preferences: the user's.
    settings: those of the conversation.
    """

    id: str | None
    is_named: bool
    version: int
    is_free: bool
    run: RunRow | None
    preferences: Preferences
    settings: ConversationSettings


def is_conversation_id(chat_id: str) -> bool:
    """Whether a chat id has the form of our conversation ids; any other is a client's own name."""
    return chat_id.startswith("conv_") and ID.fullmatch(chat_id) is not None


@cache
def select_head(*, by_id: bool) -> Select[Any]:
    """The query of `read_head`. Its row is there even if nothing else is."""
    one = select(literal(1).label("one")).subquery("one")
    user, chat = bindparam("user", type_=Text), bindparam("chat", type_=Text)
    key = aliases.c.conversation_id
    of_key = (aliases.c.owner == user) & (aliases.c.alias == chat) if not by_id else false()
    of_run = (r.c.conversation_id == conversations.c.id) & (r.c.client_id == bindparam("client"))
    return select(
        conversations.c.id,
        key,
        conversations.c.version,
        conversations.c.lease_token,
        conversations.c.settings,
        preferences.c.record,
        *RUN_COLUMNS,
    ).select_from(
        one.outerjoin(aliases, of_key)
        .outerjoin(conversations, (conversations.c.id == (chat if by_id else key)) & allowed("writer"))
        .outerjoin(preferences, preferences.c.owner == user)
        .outerjoin(r, of_run)
    )


async def read_head(database: Database, user: str, chat_id: str, client_id: str | None) -> Head:
    """Read the head of the conversation with an id of ours, or with a key of the user.

    Raises `BadInput` for what can be neither, and `StorageFailed` for damaged preferences or settings.
    """
    by_id = is_conversation_id(chat_id)
    values = {"user": check_user(user), "chat": chat_id if by_id else check_key(chat_id), "client": client_id}
    ((found, named, version, token, settings, record, *run),) = await database.read(select_head(by_id=by_id), **values)
    row = RunRow(*run) if run[0] is not None else None
    own, preferred = decode_settings(settings).settings, decode_preferences(record)
    return Head(found, named is not None, version or 0, token is None, row, preferred, own)
