"""Edit streams of Chat Completions: broken arguments, refusals, errors mid-stream.

Names are those of openai 3.54's types; the error chunk is what hosts of this api send (Groq's and OpenRouter's docs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .frames import Event, Form, change, find, keep_first, put
from .texts import StopReason

TEXT = ("choices", 0, "delta", "content")
CALLS = ("choices", 0, "delta", "tool_calls")
ARGUMENTS = (*CALLS, 0, "function", "arguments")
FINISH = ("choices", 0, "finish_reason")
STOPS: dict[StopReason, str] = {"length": "length", "filter": "content_filter", "refusal": "stop"}


def is_text(event: Event) -> bool:
    return bool(find(event.data, TEXT))


def is_arguments(event: Event) -> bool:
    return bool(find(event.data, ARGUMENTS))


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Replace the arguments of every call, in its first chunk."""

    def key(data: dict[str, Any]) -> object:
        return find(data, (*CALLS, 0, "index"))

    return keep_first(events, key, lambda data: put(data, ARGUMENTS, text))


def put_stop(events: Sequence[Event], reason: StopReason) -> list[Event]:
    """Replace the finish reason. A refusal is a field of its own."""
    stopped = change(events, FINISH, STOPS[reason])
    if reason != "refusal":
        return stopped
    return [_refuse(event) if is_text(event) else event for event in stopped]


def _refuse(event: Event) -> Event:
    return replace(event, data=put(event.data, ("choices", 0, "delta"), {"refusal": find(event.data, TEXT)}))


def make_error(form: Form, message: str) -> list[Event]:  # noqa: ARG001 - all modules have the same functions
    """An error in the middle of a stream."""
    return [Event({"error": {"message": message, "type": "server_error", "param": None, "code": "overloaded"}})]
