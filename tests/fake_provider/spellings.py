"""The five spellings by api. Each is a module of the same few functions, so that knowing one is knowing all.

Those are of streams. `WHOLES` says where the same things stand in answers that come as one JSON value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from showandtell.core.capabilities.cells import Api

from . import spell_anthropic, spell_bedrock, spell_chat, spell_gemini, spell_responses
from .frames import Data, Event, Form, Path, find, put
from .words import MARK, Why


class Spelling(Protocol):
    """What each of them offers. All of it is pure."""

    @property
    def TEXT(self) -> Path:  # noqa: N802 - a constant of the module
        """Where the words stand in an event that has some."""
        ...

    def is_text(self, event: Event) -> bool:
        """Whether an event holds words of the answer."""
        ...

    def is_arguments(self, event: Event) -> bool:
        """Whether an event holds a piece of a call's arguments."""
        ...

    def put_arguments(self, events: Sequence[Event], text: str) -> list[Event]:
        """The answer with this text for every call's arguments."""
        ...

    def put_stop(self, events: Sequence[Event], why: Why) -> list[Event]:
        """The answer with another reason to end."""
        ...

    def spell_error(self, form: Form, words: str) -> list[Event]:
        """An error in the middle of a stream."""
        ...


SPELLINGS: dict[Api, Spelling] = {
    "anthropic-messages": spell_anthropic,
    "openai-chat": spell_chat,
    "openai-responses": spell_responses,
    "gemini": spell_gemini,
    "bedrock-converse": spell_bedrock,
}


#: As spell_anthropic says it in a stream.
REFUSED = {"type": "refusal", "category": "general_harms", "explanation": None}


@dataclass(frozen=True)
class Whole:
    """Where a whole answer of an api says its first text, the arguments of its first call, and why it ended."""

    api: Api
    text: Path
    arguments: Path
    stop: Path

    def put_arguments(self, data: Data, text: str) -> Data:
        """The answer with this text for its call's arguments; as a value, where the api gives them as one."""
        match self.api:
            case "openai-chat" | "openai-responses":
                return put(data, self.arguments, text)
            case "gemini":
                kept = spell_gemini.put_arguments([Event(data)], text)
                return kept[0].data or {} if kept else _malformed(data)
            case "anthropic-messages" | "bedrock-converse":
                return put(data, self.arguments, close(text))

    def put_stop(self, data: Data, why: Why) -> Data:
        """The answer with another reason to end."""
        match self.api:
            case "openai-responses":
                # The last event of its stream holds the whole answer.
                return spell_responses.put_stop([_completed(data)], why)[0].data["response"]  # type: ignore
            case "gemini":
                return spell_gemini.put_stop([Event(data)], why)[0].data or {}
            case "anthropic-messages":
                stopped = put(data, self.stop, spell_anthropic.STOPS[why])
                return stopped if why == "length" else {**stopped, "stop_details": REFUSED}
            case "openai-chat":
                stopped = put(data, self.stop, spell_chat.STOPS[why])
                return _refuse(stopped) if why == "refusal" else stopped
            case "bedrock-converse":
                return put(data, self.stop, spell_bedrock.STOPS[why])

    def spell_error(self, data: Data, words: str) -> Data:
        """An error under a status of 200, in the place of the answer."""
        match self.api:
            case "openai-responses":
                error = {"code": "server_error", "message": words}
                return {**data, "status": "failed", "error": error, "output": []}
            case "bedrock-converse":
                return {"message": words}
            case _:
                return SPELLINGS[self.api].spell_error("sse", words)[0].data or {}

    def split(self, data: Data, path: Path) -> tuple[bytes, bytes]:
        """The answer's JSON before and behind the value at a path, which is a text or becomes one."""
        before, _, after = msgspec.json.encode(put(data, path, MARK)).partition(MARK.encode())
        return before, after


def close(text: str) -> Any:
    """Arguments as a value: those that were cut are closed, and what can't be is a text."""
    for ending in ("", '"}', "}"):
        try:
            return msgspec.json.decode(text + ending) if text else {}
        except msgspec.DecodeError:
            continue
    return text


def _malformed(data: Data) -> Data:
    """Gemini's answer in the place of a call that was no JSON."""
    return put(put(data, spell_gemini.PARTS, []), spell_gemini.FINISH, "MALFORMED_FUNCTION_CALL")


def _completed(data: Data) -> Event:
    return Event({"type": "response.completed", "response": data}, "response.completed")


def _refuse(data: Data) -> Data:
    """A refusal of Chat Completions stands beside the text, which is none."""
    message = ("choices", 0, "message")
    said = find(data, (*message, "content"))
    return put(data, message, {**find(data, message), "content": None, "refusal": said})


_CHAT, _CONVERSE = ("choices", 0), ("output", "message", "content", 0)
WHOLES: dict[Api, Whole] = {
    one.api: one
    for one in (
        Whole("anthropic-messages", ("content", 0, "text"), ("content", 0, "input"), ("stop_reason",)),
        Whole(
            "openai-chat",
            (*_CHAT, "message", "content"),
            (*_CHAT, "message", "tool_calls", 0, "function", "arguments"),
            spell_chat.FINISH,
        ),
        Whole("openai-responses", ("output", 0, "content", 0, "text"), ("output", 0, "arguments"), ("status",)),
        Whole("gemini", spell_gemini.TEXT, (*spell_gemini.CALL, "args"), spell_gemini.FINISH),
        Whole("bedrock-converse", (*_CONVERSE, "text"), (*_CONVERSE, "toolUse", "input"), ("stopReason",)),
    )
}
