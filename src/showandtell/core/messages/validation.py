"""Checks that the messages of a program are drafts, with errors that say how to make drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from showandtell.core.messages.message import Draft, Message
from showandtell.errors import BadConversation


def as_drafts(messages: object) -> Sequence[Draft]:
    """Return the messages if each is a `Draft`. Raises `BadConversation` with advice otherwise."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise BadConversation(f"messages are a {type(messages).__name__}: give a list of Draft, or a conversation")
    if not messages:
        raise BadConversation("there are no messages to answer")
    for index, message in enumerate(cast("Sequence[object]", messages)):
        problem = find_problem(message)
        if problem is not None:
            raise BadConversation(f"messages[{index}] {problem}")
    return cast("Sequence[Draft]", messages)


def find_problem(message: object) -> str | None:
    """Why a value isn't a draft, with advice; None if it is."""
    match message:
        case Message():
            return "is stored already: render its whole conversation instead"
        case Draft():
            return None
        case _:
            kind = type(message).__name__
            return f"is a {kind}, not a Draft: adopt it with from_openai, from_anthropic or from_gemini"
