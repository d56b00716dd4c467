"""Checks that the messages of a program are drafts, with errors that say how to make drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, Message, Role
from showandtell.core.messages.parts import (
    Approval,
    Correction,
    HostedBlock,
    Json,
    Opaque,
    Shown,
    Source,
    Summary,
    Text,
    ToolCall,
)
from showandtell.errors import BadConversation

PARTS = (Text, Json, File, Shown, ToolCall, Opaque, HostedBlock, Source, Approval, Correction, Summary)


def as_drafts(messages: object) -> Sequence[Draft]:
    """Return the messages if each is a valid `Draft`. Raises `BadConversation` with advice otherwise."""
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
    """Why a value isn't a valid draft, with advice; None if it is."""
    match message:
        case Message():
            return "is stored already: render its whole conversation instead"
        case Draft():
            return role_problem(message.role) or part_problem(message.parts)
        case _:
            kind = type(message).__name__
            return f"is a {kind}, not a Draft: adopt it with from_openai, from_anthropic or from_gemini"


def role_problem(role: str) -> str | None:
    """Why a role is invalid, with advice; None if it is valid."""
    if role in get_args(Role):
        return None
    advice = "pass its text as instructions=" if role in {"system", "developer"} else "use user, assistant or tool"
    return f"has the role {role!r}: {advice}"


def part_problem(parts: Any) -> str | None:
    """Why parts are invalid, with advice; None if they are valid."""
    if not isinstance(parts, tuple | list):
        return f"has a {type(parts).__name__} for its parts: give a tuple, as (Text('hello'),)"
    for part in cast("Sequence[object]", parts):
        if not isinstance(part, PARTS):
            return f"holds a {type(part).__name__}: wrap text in Text, and bytes in File.from_bytes"
    return None
