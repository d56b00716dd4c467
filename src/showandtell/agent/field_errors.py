"""Reads from a provider's error which fields of a model's message it doesn't take back, or misses."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from showandtell.core.planning.host_parts import sent_names
from showandtell.core.wire.request import Request
from showandtell.errors import ProviderError

#: Statuses of a body that the host doesn't take as it is.
STATUSES = frozenset({400, 422})
NAME = r"[`'\"]?\b(?P<name>[a-z]+(?:_[a-z]+)*)\b[`'\"]?"
#: What hosts say of a field that a model's message lacks: DeepSeek ("The `reasoning_content` in the thinking mode must
#: be passed back to the API", "Missing `reasoning_content` field in the assistant message at message index 2"), Kimi
#: ("reasoning_content is missing in assistant tool call message at index 2"), state of 2026-11-29.
MISSING = (
    re.compile(rf"(?:^|\bthe |: ){NAME} [^.`]{{0,60}}\bmust be passed back", re.IGNORECASE),
    re.compile(rf"\bmissing {NAME} (?:field )?in (?:the )?assistant", re.IGNORECASE),
    re.compile(rf"{NAME} is (?:missing|required) in (?:the )?assistant", re.IGNORECASE),
)
#: Fields that every message may have. A host that misses one of them misses no field of its own.
COMMON = frozenset({"role", "content", "name", "refusal", "tool_calls", "tool_call_id", "arguments", "id", "type"})

FieldState: TypeAlias = Literal["refused", "required"]


def read_fields(error: ProviderError, request: Request) -> dict[str, FieldState]:
    """The fields of a model's message that an error names: those that the host refuses, or one that it requires.

    Hosts refuse a field in any words. So whatever names one that was sent counts: the request is tried once without it,
    and only what helps is remembered.
    """
    if error.status not in STATUSES or not request.target.dialect.message_fields:
        return {}
    for pattern in MISSING:
        if (found := pattern.search(error.text)) and (name := found["name"]) not in COMMON:
            return {} if name in request.target.required_fields else {name: "required"}
    text = f"{error.path or ''} {error.text}"
    names = (name for name in sent_names(request.plan.entries) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
    # A parameter of the request may have the same name, such as `reasoning`.
    return {name: "refused" for name in names if name not in request.head or "messages" in text}
