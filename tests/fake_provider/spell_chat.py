"""How Chat Completions says what its houses in the inspector never say: broken arguments, refusals, errors mid-stream.

Names are those of openai 3.54's types; the error chunk is what hosts of this api send (Groq's and OpenRouter's docs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .frames import Event, Form, change, find, keep_first, put
from .words import Why

TEXT = ("choices", 0, "delta", "content")
CALLS = ("choices", 0, "delta", "tool_calls")
ARGUMENTS = (*CALLS, 0, "function", "arguments")
FINISH = ("choices", 0, "finish_reason")
STOPS: dict[Why, str] = {"length": "length", "filter": "content_filter", "refusal": "stop"}


def is_text(event: Event) -> bool:
    return bool(find(event.data, TEXT))


def is_arguments(event: Event) -> bool:
    return bool(find(event.data, ARGUMENTS))


def put_arguments(events: Sequence[Event], text: str) -> list[Event]:
    """Every call gets this text for its arguments, in the chunk that opens it."""

    def key(data: dict[str, Any]) -> object:
        return find(data, (*CALLS, 0, "index"))

    return keep_first(events, key, lambda data: put(data, ARGUMENTS, text))


def put_stop(events: Sequence[Event], why: Why) -> list[Event]:
    """Another reason to end; a refusal's words stand in a field of their own."""
    stopped = change(events, FINISH, STOPS[why])
    if why != "refusal":
        return stopped
    return [_refuse(event) if is_text(event) else event for event in stopped]


def _refuse(event: Event) -> Event:
    return replace(event, data=put(event.data, ("choices", 0, "delta"), {"refusal": find(event.data, TEXT)}))


def spell_error(form: Form, words: str) -> list[Event]:  # noqa: ARG001 - every api has the same functions
    """An error in the middle of a stream."""
    return [Event({"error": {"message": words, "type": "server_error", "param": None, "code": "overloaded"}})]
