"""Answers of anthropic-messages as events, be they streamed or whole.

One loose struct takes every chunk: a field that a chunk's type doesn't have stays empty, an unknown one is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from showandtell.core.events.types import (
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.messages import Stop
from showandtell.core.wire.stream import read_aside, type_of, unreadable, whole_answer
from showandtell.core.wire.usage import NOTHING

#: Why a message ended, in Anthropic's words and ours.
STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "refusal",
    "stop_sequence": "end",
    "pause_turn": "end",
    "model_context_window_exceeded": "length",
}
#: Words that ours say as well; every other one goes into the event's `detail`.
PLAIN = frozenset({"end_turn", "tool_use", "max_tokens", "refusal"})
CHUNKS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "message",
        "error",
    }
)
BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
DELTAS = frozenset({"text_delta", "thinking_delta", "signature_delta", "input_json_delta"})
#: The one kind of block that each of these is more of.
GROWN = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class _Delta(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Block(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _GeneratedFile(Struct, gc=False):
    thinking_tokens: int | None = None


class _Usage(Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _GeneratedFile | None = None


class _Message(Struct, gc=False):
    usage: msgspec.Raw = NOTHING


class _Error(Struct, gc=False):
    type: str = "error"
    message: str = ""


class _Chunk(Struct, gc=False):
    type: str
    index: int = 0
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: msgspec.Raw = NOTHING
    error: _Error | None = None


class _Body(Struct, gc=False):
    type: str = ""
    content: list[msgspec.Raw] = []
    stop_reason: str | None = None
    usage: msgspec.Raw = NOTHING
    error: _Error | None = None


@dataclass(slots=True)
class _Open:
    """A block between its start and its stop; `pieces` are those of thoughts and arguments."""

    kind: str
    id: str
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""


_chunk = msgspec.json.Decoder(_Chunk)
_body = msgspec.json.Decoder(_Body)
_block = msgspec.json.Decoder(_Block)
_counts = msgspec.json.Decoder(_Usage | None)
_plain = msgspec.json.Decoder()


@dataclass(slots=True)
class _Reading:
    """What has been read of one message: blocks that are open, the reason it ended, tokens so far."""

    blocks: dict[int, _Open] = field(default_factory=dict[int, _Open])
    reason: str = ""
    usage: _Usage = field(default_factory=_Usage)
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event."""
        if chunk := _decode(text):
            self.take(chunk, events)

    def take(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        match chunk.type:
            case "content_block_delta" if chunk.delta and (block := self.blocks.get(chunk.index)):
                _grow(block, chunk.delta, events)
            case "content_block_start" if chunk.content_block:
                self.start(chunk.index, chunk.content_block, events)
            case "content_block_stop":
                self.stop(chunk.index, events)
            case "message_start" if chunk.message:
                self.count(chunk.message.usage)
            case "message_delta":
                self.count(chunk.usage)
                self.reason = (chunk.delta and chunk.delta.stop_reason) or self.reason
            case "message_stop":
                self.end(events)
            case "error":
                self.done = True
                events.append(_fault(chunk.error))
            case _:
                pass

    def start(self, index: int, block: _Block, events: list[StreamEvent]) -> None:
        match block.type:
            case "text":
                opened = _Open("text", f"t{index}")
                events.append(TextStart(opened.id))
                _grow(opened, _Delta("text_delta", text=block.text), events)
            case "thinking":
                opened = _Open("thinking", f"r{index}")
                events.append(ReasoningStart(opened.id))
                _grow(opened, _Delta("thinking_delta", thinking=block.thinking), events)
                _grow(opened, _Delta("signature_delta", signature=block.signature), events)
            case "redacted_thinking":
                opened = _Open("redacted_thinking", f"r{index}", [block.data])
                events.append(ReasoningStart(opened.id))
            case "tool_use":
                opened = _Open("tool_use", block.id)
                events.append(ToolInputStart(block.id, block.name))
                given = bytes(block.input).decode()
                if given != "{}":  # a stream starts with an empty object, which is not yet the input
                    _grow(opened, _Delta("input_json_delta", partial_json=given), events)
            case _:
                return
        self.blocks[index] = opened

    def stop(self, index: int, events: list[StreamEvent]) -> None:
        block = self.blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "text":
                events.append(TextEnd(block.id))
            case "tool_use":
                if not block.pieces:
                    events.append(ToolInputDelta(block.id, "{}"))
                events.append(ToolInputEnd(block.id))
            case _:
                events.append(ReasoningEnd(block.id, _opaque(block)))

    def count(self, told: msgspec.Raw) -> None:
        """Take the newer numbers: Anthropic's are sums up to now, and a chunk may leave out what hasn't changed."""
        usage = read_aside(_counts, told)
        for name in _Usage.__struct_fields__ if usage else ():
            if (newer := getattr(usage, name)) is not None:
                setattr(self.usage, name, newer)

    def end(self, events: list[StreamEvent]) -> None:
        if self.done:
            return
        self.done = True
        # A word that we don't know proves no success, so it counts as cut; `detail` says it.
        stop = STOPS.get(self.reason, "cut")
        events.append(StepEnd(stop, _told(self.usage), "" if self.reason in PLAIN else self.reason))


#: A new reader of one answer.
reading = _Reading


@whole_answer
def whole(data: bytes) -> list[StreamEvent]:
    """Read the body of an answer that was not streamed. Raises `BadAnswer` where it is not the api's JSON."""
    body = _body.decode(data)
    return [_fault(body.error)] if body.error else _events_of(body)


def _events_of(body: _Body) -> list[StreamEvent]:
    blocks = [_block.decode(raw) for raw in body.content if type_of(_plain.decode(raw)) in BLOCKS]
    events: list[StreamEvent] = []
    reading = _Reading(reason=body.stop_reason or "")
    for index, block in enumerate(blocks):
        reading.start(index, block, events)
        # The limit may have cut the last block, whose input was closed to make it JSON.
        if not (block.type == "tool_use" and index == len(blocks) - 1 and STOPS.get(reading.reason) == "length"):
            reading.stop(index, events)
    reading.count(body.usage)
    reading.end(events)
    return events


def _grow(block: _Open, delta: _Delta, events: list[StreamEvent]) -> None:
    if GROWN.get(delta.type, block.kind) != block.kind:
        raise ValueError(f"{delta.type} is no part of a block of type {block.kind}")
    match delta.type:
        case "text_delta" if delta.text:
            events.append(TextDelta(block.id, delta.text))
        case "input_json_delta" if delta.partial_json:
            block.pieces.append(delta.partial_json)
            events.append(ToolInputDelta(block.id, delta.partial_json))
        case "thinking_delta" if delta.thinking:
            block.pieces.append(delta.thinking)
            events.append(ReasoningDelta(block.id, delta.thinking))
        case "signature_delta":
            block.signature += delta.signature
        case _:
            pass


def _opaque(block: _Open) -> str | None:
    """The block as Anthropic wants it back; a thought without its signature is refused there, so it isn't kept."""
    content = "".join(block.pieces)
    if block.kind == "redacted_thinking":
        return _json({"type": "redacted_thinking", "data": content})
    if not block.signature:
        return None
    return _json({"type": "thinking", "thinking": content, "signature": block.signature})


def _told(usage: _Usage) -> Usage:
    """Anthropic's `input_tokens` are those that no cache had to do with; ours are the whole prompt."""
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    made = usage.output_tokens_details or _GeneratedFile()
    prompt = (usage.input_tokens or 0) + read + written
    return Usage(prompt, usage.output_tokens or 0, read, written, made.thinking_tokens or 0)


def _json(value: dict[str, str]) -> str:
    return msgspec.json.encode(value).decode()


def _fault(error: _Error | None) -> ProviderFault:
    return ProviderFault(f"{error.type}: {error.message}" if error else "error")


def _decode(text: bytes) -> _Chunk | None:
    """Decode one chunk; None for one of a type that we don't know, whatever its fields hold."""
    try:
        return _chunk.decode(text)
    except msgspec.ValidationError as error:
        if _is_known(text):
            raise unreadable(error) from error
        return None


def _is_known(text: bytes) -> bool:
    """Whether a chunk that didn't fit names only types that we know."""
    chunk: Any = _plain.decode(text)
    if type_of(chunk) is None:
        return True
    inner = ((chunk.get("content_block"), BLOCKS), (chunk.get("delta"), DELTAS))
    return type_of(chunk) in CHUNKS and all(type_of(value) in (None, *known) for value, known in inner)
