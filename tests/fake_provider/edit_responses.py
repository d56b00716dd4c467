"""Edit streams of the Responses API: broken arguments, refusals, errors mid-stream.

Names are those of openai 3.54's types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .frames import Data, Event, Form, find, keep_first, put
from .texts import StopReason

TEXT = ("delta",)
ARGUMENTS_DELTA = "response.function_call_arguments.delta"
REASONS: dict[StopReason, str] = {"length": "max_output_tokens", "filter": "content_filter"}
#: A refusal's events by those of a text.
REFUSALS = {
    "response.output_text.delta": "response.refusal.delta",
    "response.output_text.done": "response.refusal.done",
}


def is_text(event: Event) -> bool:
    return find(event.data, ("type",)) == "response.output_text.delta"


def is_arguments(event: Event) -> bool:
    return find(event.data, ("type",)) == ARGUMENTS_DELTA


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Replace the arguments of every call, in one piece and in all later events."""

    def key(data: dict[str, Any]) -> object:
        return data["item_id"] if data["type"] == ARGUMENTS_DELTA else None

    changed = keep_first(events, key, lambda data: put(data, TEXT, text))
    return _number(
        [event if event.data is None else replace(event, data=_repeat(event.data, text)) for event in changed]
    )


def _repeat(data: Data, text: str) -> Data:
    """Replace the arguments in later events of a call."""
    if data["type"] == "response.function_call_arguments.done":
        return put(data, ("arguments",), text)
    if data["type"] == "response.output_item.done" and data["item"]["type"] == "function_call":
        return put(data, ("item", "arguments"), text)
    for at, item in enumerate(find(data, ("response", "output")) or []):
        if item["type"] == "function_call":
            data = put(data, ("response", "output", at, "arguments"), text)
    return data


def put_stop(events: Sequence[Event], reason: StopReason) -> list[Event]:
    """Mark the response and its last item as incomplete. A refusal is a part of its own type."""
    if reason == "refusal":
        return [_refuse(event) for event in events]
    *before, last = events
    response = {
        **(last.data or {})["response"],
        "status": "incomplete",
        "completed_at": None,
        "incomplete_details": {"reason": REASONS[reason]},
    }
    items = response["output"]
    response["output"] = [*items[:-1], {**items[-1], "status": "incomplete"}]
    ended = Event({**(last.data or {}), "type": "response.incomplete", "response": response}, "response.incomplete")
    return [*map(_leave_open, before), ended]


def _leave_open(event: Event) -> Event:
    """Mark a finished item as incomplete."""
    done = find(event.data, ("type",)) == "response.output_item.done"
    return replace(event, data=put(event.data, ("item", "status"), "incomplete")) if done else event


def _refuse(event: Event) -> Event:
    data = event.data or {}
    kind = REFUSALS.get(data["type"]) or str(data["type"])
    if kind == "response.refusal.done":
        data = {
            **{key: value for key, value in data.items() if key not in {"text", "logprobs"}},
            "refusal": data["text"],
        }
    return Event({**_refuse_parts(data), "type": kind}, kind)


def _refuse_parts(value: Any) -> Any:
    """Turn all text parts into refusals."""
    match value:
        case {"type": "output_text", "text": text}:
            return {"type": "refusal", "refusal": text}
        case dict():
            return {key: _refuse_parts(item) for key, item in value.items() if key != "logprobs"}
        case list():
            return [_refuse_parts(item) for item in value]
        case _:
            return value


def _number(events: Sequence[Event]) -> list[Event]:
    return [
        event if event.data is None else replace(event, data={**event.data, "sequence_number": at})
        for at, event in enumerate(events)
    ]


def make_error(form: Form, message: str) -> list[Event]:  # noqa: ARG001 - all modules have the same functions
    """An error in the middle of a stream."""
    error = {"type": "error", "sequence_number": 99, "code": "server_error", "message": message, "param": None}
    return [Event(error, "error")]
