"""Titles of conversations: made of their first message, and replaced by better ones."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Text
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import conversations
from showandtell.storage.files.file_cache import strip_invisible

#: Maximum length of a generated title.
MAX_TITLE = 60
#: A conversation whose title is still the one that was made.
IS_UNCHANGED = (conversations.c.id == bindparam("conversation")) & (conversations.c.title == bindparam("made"))
SELECT_UNCHANGED = select(conversations.c.id).where(IS_UNCHANGED)
UPDATE_UNCHANGED = update(conversations).where(IS_UNCHANGED).values(title=bindparam("words"))


def title_of(message: Message) -> str:
    """The start of a message as a title, without texts that are for the model or the user alone."""
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.audience == "both"]
    return shorten("".join(texts))


def shorten(text: str) -> str:
    """Text as a title: on one line, at most 60 characters."""
    text = strip_invisible(" ".join(text.split()))
    return text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1].rsplit(" ", 1)[0] + "…"


async def is_generated(database: Database, conversation_id: str, title: str) -> bool:
    """Whether a conversation still has the title that was made for it."""
    return bool(await database.read(SELECT_UNCHANGED, conversation=conversation_id, made=title))


async def replace_generated(database: Database, conversation_id: str, title: str, better: str) -> bool:
    """Store a better title, unless the one that was made has been changed. Returns whether it is stored."""
    values = {"conversation": conversation_id, "made": title, "words": better}
    return await database.write(lambda connection: connection.execute(UPDATE_UNCHANGED, values).rowcount > 0)
