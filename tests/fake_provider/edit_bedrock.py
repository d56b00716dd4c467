"""Edit streams of Converse: broken arguments, refusals, errors mid-stream.

Names are those of botocore 1.44.5's service model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode

from .frames import Event, Form, change, find, keep_first, put
from .texts import StopReason

TEXT = ("contentBlockDelta", "delta", "text")
ARGUMENTS = ("contentBlockDelta", "delta", "toolUse", "input")
STOPS: dict[StopReason, str] = {"length": "max_tokens", "filter": "content_filtered", "refusal": "guardrail_intervened"}


def is_text(event: Event) -> bool:
    return bool(find(event.data, TEXT))


def is_arguments(event: Event) -> bool:
    return bool(find(event.data, ARGUMENTS))


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Replace the arguments of every call, in one piece."""

    def key(data: dict[str, Any]) -> object:
        is_call = find(data, ARGUMENTS) is not None
        return data["contentBlockDelta"]["contentBlockIndex"] if is_call else None

    return keep_first(events, key, lambda data: put(data, ARGUMENTS, text))


def put_stop(events: Sequence[Event], reason: StopReason) -> list[Event]:
    """Replace the stop reason. A refusal is a guardrail intervention."""
    return change(events, ("messageStop", "stopReason"), STOPS[reason])


def make_error(form: Form, message: str) -> list[Event]:  # noqa: ARG001 - all modules have the same functions
    """An exception in the middle of a stream."""
    return [
        Event(raw=encode("throttlingException", msgspec.json.encode({"message": message}), message_type="exception"))
    ]
