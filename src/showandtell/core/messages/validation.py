"""Whether what a program hands in as messages are drafts, and how to make drafts of it where it isn't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft, Message, Role
from showandtell.core.messages.parts import Approval, Json, Opaque, Shown, Text, ToolCall
from showandtell.errors import BadConversation

PARTS = (Text, Json, File, Shown, ToolCall, Opaque, Approval)


def as_drafts(messages: object) -> Sequence[Draft]:
    """The same messages, each proved to be a `Draft`. Raises `BadConversation` that says how to make drafts of them."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise BadConversation(f"messages are a {type(messages).__name__}: give a list of Draft, or a conversation")
    if not messages:
        raise BadConversation("there are no messages to answer")
    for index, one in enumerate(cast("Sequence[object]", messages)):
        problem = wrong(one)
        if problem is not None:
            raise BadConversation(f"messages[{index}] {problem}")
    return cast("Sequence[Draft]", messages)


def wrong(message: object) -> str | None:
    """What keeps a value from being a draft, with what to do; None where nothing does."""
    match message:
        case Message():
            return "is stored already: render its whole conversation instead"
        case Draft():
            return wrong_role(message.role) or wrong_part(message.parts)
        case _:
            kind = type(message).__name__
            return f"is a {kind}, not a Draft: adopt it with from_openai, from_anthropic or from_gemini"


def wrong_role(role: str) -> str | None:
    """What is wrong with a role."""
    if role in get_args(Role):
        return None
    how = "give its words as instructions=" if role in {"system", "developer"} else "write user, assistant or tool"
    return f"has the role {role!r}: {how}"


def wrong_part(parts: Any) -> str | None:
    """What is wrong with the parts."""
    if not isinstance(parts, tuple | list):
        return f"has a {type(parts).__name__} for its parts: give a tuple, as (Text('hello'),)"
    for part in cast("Sequence[object]", parts):
        if not isinstance(part, PARTS):
            return f"holds a {type(part).__name__}: wrap words in Text, and bytes in File.from_bytes"
    return None
