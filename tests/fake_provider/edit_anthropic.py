"""Edit streams of the Messages API: broken arguments, refusals, errors mid-stream.

Names are those of anthropic 2.12's types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode

from .frames import Event, Form, change, find, keep_first, put
from .texts import StopReason

TEXT = ("delta", "text")
ARGUMENTS = ("delta", "partial_json")
STOPS: dict[StopReason, str] = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}


def is_text(event: Event) -> bool:
    return find(event.data, ("delta", "type")) == "text_delta"


def is_arguments(event: Event) -> bool:
    return bool(find(event.data, ARGUMENTS))


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Replace the arguments of every call, in one piece."""

    def key(data: dict[str, Any]) -> object:
        return data["index"] if find(data, ARGUMENTS) is not None else None

    return keep_first(events, key, lambda data: put(data, ARGUMENTS, text))


def put_stop(events: Sequence[Event], reason: StopReason) -> list[Event]:
    """Replace the stop reason. A refusal has details, whether by filter or model."""
    stopped = change(events, ("delta", "stop_reason"), STOPS[reason])
    if reason == "length":
        return stopped
    details = {"type": "refusal", "category": "general_harms", "explanation": None}
    return [
        Event(put(event.data, ("delta", "stop_details"), details), event.name)
        if find(event.data, ("delta", "stop_reason"))
        else event
        for event in stopped
    ]


def make_error(form: Form, message: str) -> list[Event]:
    """An error in the middle of a stream. On Bedrock it is an AWS exception frame."""
    if form == "chunks":
        return [
            Event(
                raw=encode("throttlingException", msgspec.json.encode({"message": message}), message_type="exception")
            )
        ]
    return [Event({"type": "error", "error": {"type": "overloaded_error", "message": message}}, "error")]
