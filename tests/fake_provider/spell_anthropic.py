"""How the Messages api says what its house in the inspector never says: broken arguments, refusals, errors mid-stream.

Names are those of anthropic 2.12's types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode

from .frames import Event, Form, change, find, keep_first, put
from .words import Why

TEXT = ("delta", "text")
ARGUMENTS = ("delta", "partial_json")
STOPS: dict[Why, str] = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}


def is_text(event: Event) -> bool:
    return find(event.data, ("delta", "type")) == "text_delta"


def is_arguments(event: Event) -> bool:
    return bool(find(event.data, ARGUMENTS))


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Every call gets this text for its arguments, in one piece."""

    def key(data: dict[str, Any]) -> object:
        return data["index"] if find(data, ARGUMENTS) is not None else None

    return keep_first(events, key, lambda data: put(data, ARGUMENTS, text))


def put_stop(events: Sequence[Event], why: Why) -> list[Event]:
    """Another reason to end; a refusal comes with details, and both filter and model say it so."""
    stopped = change(events, ("delta", "stop_reason"), STOPS[why])
    if why == "length":
        return stopped
    details = {"type": "refusal", "category": "general_harms", "explanation": None}
    return [
        Event(put(event.data, ("delta", "stop_details"), details), event.name)
        if find(event.data, ("delta", "stop_reason"))
        else event
        for event in stopped
    ]


def spell_error(form: Form, words: str) -> list[Event]:
    """An error in the middle of a stream; on Bedrock it is a frame of AWS's own."""
    if form == "chunks":
        return [
            Event(raw=encode("throttlingException", msgspec.json.encode({"message": words}), message_type="exception"))
        ]
    return [Event({"type": "error", "error": {"type": "overloaded_error", "message": words}}, "error")]
