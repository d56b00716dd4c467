"""Titles of conversations, made of their first message."""

from __future__ import annotations

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import is_for_people
from showandtell.storage.files.file_cache import strip_invisible

#: Maximum length of a generated title.
MAX_TITLE = 60


def title_of(message: Message) -> str:
    """The start of a message as a title, without texts that are for the model alone."""
    return shorten("".join(part.text for part in message.parts if is_for_people(part)))


def shorten(text: str) -> str:
    """Text as a title: on one line, at most 60 characters."""
    text = strip_invisible(" ".join(text.split()))
    return text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1].rsplit(" ", 1)[0] + "…"
