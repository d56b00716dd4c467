"""Edit streams of generateContent: broken arguments, refusals, errors mid-stream.

Arguments are JSON values, so the API never sends broken ones: there is a finish reason for them. Names are those of
google-genai 3.4's types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from .frames import Event, Form, change, find, put
from .texts import StopReason

PARTS = ("candidates", 0, "content", "parts")
TEXT = (*PARTS, 0, "text")
CALL = (*PARTS, 0, "functionCall")
FINISH = ("candidates", 0, "finishReason")
STOPS: dict[StopReason, str] = {"length": "MAX_TOKENS", "filter": "SAFETY"}


def is_text(event: Event) -> bool:
    return bool(find(event.data, TEXT))


def is_arguments(event: Event) -> bool:
    return find(event.data, CALL) is not None


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Replace the arguments: none for an empty text; for invalid JSON no call, but its finish reason."""
    if not text:
        return [_without_args(event) if is_arguments(event) else event for event in events]
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        kept = [event for event in events if not is_arguments(event)]
        return change(kept, FINISH, "MALFORMED_FUNCTION_CALL")
    return change(events, (*CALL, "args"), msgspec.json.decode(text))


def _without_args(event: Event) -> Event:
    call = {key: value for key, value in find(event.data, CALL).items() if key != "args"}
    return replace(event, data=put(event.data, CALL, call))


def put_stop(events: Sequence[Event], reason: StopReason) -> list[Event]:
    """Replace the finish reason. A blocked prompt has no candidate."""
    if reason != "refusal":
        return change(events, FINISH, STOPS[reason])
    last = events[-1].data or {}
    kept = {key: last[key] for key in ("usageMetadata", "modelVersion", "responseId")}
    return [Event({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **kept})]


def make_error(form: Form, message: str) -> list[Event]:  # noqa: ARG001 - all modules have the same functions
    """An error in the middle of a stream."""
    return [Event({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})]
