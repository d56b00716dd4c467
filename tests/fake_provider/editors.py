"""Change responses of each API. Each `edit_*` module has the same functions, for streams.

`RESPONSE_EDITORS` do the same for JSON responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from showandtell.core.capabilities.cells import Api

from . import edit_anthropic, edit_bedrock, edit_chat, edit_gemini, edit_responses
from .frames import Data, Event, Form, Path, find, put
from .texts import MARK, StopReason


class StreamEditor(Protocol):
    """The functions of each `edit_*` module."""

    @property
    def TEXT(self) -> Path:  # noqa: N802 - a constant of the module
        """The path of the text in a text event."""
        ...

    def is_text(self, event: Event) -> bool:
        """Whether an event has text of the response."""
        ...

    def is_arguments(self, event: Event) -> bool:
        """Whether an event has a piece of a call's arguments."""
        ...

    def put_arguments(self, events: Sequence[Event], text: str) -> list[Event]:
        """Replace the arguments of every call."""
        ...

    def put_stop(self, events: Sequence[Event], reason: StopReason) -> list[Event]:
        """Replace the stop reason."""
        ...

    def make_error(self, form: Form, message: str) -> list[Event]:
        """An error in the middle of a stream."""
        ...


STREAM_EDITORS: dict[Api, StreamEditor] = {
    "anthropic-messages": edit_anthropic,
    "openai-chat": edit_chat,
    "openai-responses": edit_responses,
    "gemini": edit_gemini,
    "bedrock-converse": edit_bedrock,
}


#: The same details as in edit_anthropic.
REFUSED = {"type": "refusal", "category": "general_harms", "explanation": None}


@dataclass(frozen=True)
class ResponseEditor:
    """The paths of the first text, the first call's arguments and the stop reason in a JSON response."""

    api: Api
    text: Path
    arguments: Path
    stop: Path

    def put_arguments(self, data: Data, text: str) -> Data:
        """Replace the arguments of the call, as a parsed value if the API has them as one."""
        match self.api:
            case "openai-chat" | "openai-responses":
                return put(data, self.arguments, text)
            case "gemini":
                events = edit_gemini.put_arguments([Event(data)], text)
                return events[0].data or {} if events else _malformed(data)
            case _:  # "anthropic-messages" | "bedrock-converse"
                return put(data, self.arguments, close(text))

    def put_stop(self, data: Data, reason: StopReason) -> Data:
        """Replace the stop reason."""
        match self.api:
            case "openai-responses":
                # The last event of a stream holds the complete response.
                return edit_responses.put_stop([_completed(data)], reason)[0].data["response"]  # type: ignore
            case "gemini":
                return edit_gemini.put_stop([Event(data)], reason)[0].data or {}
            case "anthropic-messages":
                stopped = put(data, self.stop, edit_anthropic.STOPS[reason])
                return stopped if reason == "length" else {**stopped, "stop_details": REFUSED}
            case "openai-chat":
                stopped = put(data, self.stop, edit_chat.STOPS[reason])
                return _refuse(stopped) if reason == "refusal" else stopped
            case _:  # "bedrock-converse"
                return put(data, self.stop, edit_bedrock.STOPS[reason])

    def make_error(self, data: Data, message: str) -> Data:
        """An error with status 200 instead of the response."""
        match self.api:
            case "openai-responses":
                error = {"code": "server_error", "message": message}
                return {**data, "status": "failed", "error": error, "output": []}
            case "bedrock-converse":
                return {"message": message}
            case _:
                return STREAM_EDITORS[self.api].make_error("sse", message)[0].data or {}

    def split(self, data: Data, path: Path) -> tuple[bytes, bytes]:
        """The JSON before and after the text at a path."""
        before, _, after = msgspec.json.encode(put(data, path, MARK)).partition(MARK.encode())
        return before, after


def close(text: str) -> Any:
    """Parse arguments. Truncated JSON is closed; if that fails, the value is the text."""
    for ending in ("", '"}', "}"):
        try:
            return msgspec.json.decode(text + ending) if text else {}
        except msgspec.DecodeError:
            continue
    return text


def _malformed(data: Data) -> Data:
    """Gemini's response for a call with invalid JSON."""
    return put(put(data, edit_gemini.PARTS, []), edit_gemini.FINISH, "MALFORMED_FUNCTION_CALL")


def _completed(data: Data) -> Event:
    return Event({"type": "response.completed", "response": data}, "response.completed")


def _refuse(data: Data) -> Data:
    """Chat Completions has a refusal in a field of its own, and null as content."""
    message = ("choices", 0, "message")
    text = find(data, (*message, "content"))
    return put(data, message, {**find(data, message), "content": None, "refusal": text})


_CHAT, _CONVERSE = ("choices", 0), ("output", "message", "content", 0)
RESPONSE_EDITORS: dict[Api, ResponseEditor] = {
    editor.api: editor
    for editor in (
        ResponseEditor("anthropic-messages", ("content", 0, "text"), ("content", 0, "input"), ("stop_reason",)),
        ResponseEditor(
            "openai-chat",
            (*_CHAT, "message", "content"),
            (*_CHAT, "message", "tool_calls", 0, "function", "arguments"),
            edit_chat.FINISH,
        ),
        ResponseEditor(
            "openai-responses", ("output", 0, "content", 0, "text"), ("output", 0, "arguments"), ("status",)
        ),
        ResponseEditor("gemini", edit_gemini.TEXT, (*edit_gemini.CALL, "args"), edit_gemini.FINISH),
        ResponseEditor("bedrock-converse", (*_CONVERSE, "text"), (*_CONVERSE, "toolUse", "input"), ("stopReason",)),
    )
}
