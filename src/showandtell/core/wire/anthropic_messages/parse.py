"""Parses anthropic-messages responses, streamed or complete.

One struct covers all types of chunks: fields that a type doesn't have stay empty, and unknown fields are ignored.
Blocks of tools that Anthropic runs, and of unknown types, are kept whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from msgspec import Struct

from showandtell.core.collect.surrogates import is_json
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    HostedCall,
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
from showandtell.core.messages.message import Stop
from showandtell.core.wire.anthropic_messages.hosted import (
    describe_block,
    extend_block,
    is_result,
    made_files,
    read_citation,
)
from showandtell.core.wire.hosted_blocks import Fields, format_citations, read_arguments, read_block, to_json
from showandtell.core.wire.stop_reasons import read_stop
from showandtell.core.wire.stream import decode_optional, full_parser, type_of, unreadable_response
from showandtell.core.wire.usage import NULL

#: Anthropic's stop reasons, and ours.
STOP_REASONS: dict[str, Stop] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "refusal",
    "stop_sequence": "end",
    "pause_turn": "pause",
    "compaction": "pause",
    "model_context_window_exceeded": "length",
}
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"", "end_turn", "tool_use", "max_tokens", "refusal", "pause_turn", "compaction"})
CHUNK_TYPES = frozenset(
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
BLOCK_TYPES = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
DELTA_TYPES = frozenset({"text_delta", "citations_delta", "thinking_delta", "signature_delta", "input_json_delta"})
#: The kind of an open block that goes back as it is.
HOSTED = "hosted"
#: The type of block that each type of delta belongs to.
BLOCK_OF_DELTA = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class _Delta(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None
    citation: Fields | None = None


class _Block(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    caller: Fields | None = None
    citations: list[Fields] | None = None


class _OutputDetails(Struct, gc=False):
    thinking_tokens: int | None = None


class _Usage(Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(Struct, gc=False):
    usage: msgspec.Raw = NULL


class _Error(Struct, gc=False):
    type: str = "error"
    message: str = ""


class _Chunk(Struct, gc=False):
    type: str
    index: int = 0
    delta: _Delta | None = None
    content_block: msgspec.Raw = NULL
    message: _Message | None = None
    usage: msgspec.Raw = NULL
    error: _Error | None = None


class _Body(Struct, gc=False):
    type: str = ""
    content: list[msgspec.Raw] = []
    stop_reason: str | None = None
    usage: msgspec.Raw = NULL
    error: _Error | None = None


@dataclass(slots=True)
class _OpenBlock:
    """A block between its start and its stop; `pieces` collects reasoning or arguments.

    `fields` are all fields of a block that goes back as it is.
    """

    kind: str
    id: str
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""
    citations: list[Fields] = field(default_factory=list[Fields])
    fields: Fields = field(default_factory=dict[str, Any])


_chunk = msgspec.json.Decoder(_Chunk)
_body = msgspec.json.Decoder(_Body)
_block = msgspec.json.Decoder(_Block)
_counts = msgspec.json.Decoder(_Usage | None)
_any = msgspec.json.Decoder()


@dataclass(slots=True)
class _Reader:
    """Reads one response: tracks its open blocks, the reason it ended, and the tokens so far."""

    blocks: dict[int, _OpenBlock] = field(default_factory=dict[int, _OpenBlock])
    hosted: HostedCalls = field(default_factory=HostedCalls)
    reason: str = ""
    usage: _Usage = field(default_factory=_Usage)
    count: int = 0
    is_torn: bool = False
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        chunk = _decode(text)
        if chunk is None:
            self.feed_hosted(_any.decode(text))
        elif chunk.type != "content_block_delta":
            self.feed(chunk, events)
        elif (block := self.blocks.get(chunk.index)) is not None:
            if block.kind == HOSTED:
                self.feed_hosted(_any.decode(text))
            elif chunk.delta:
                _add_delta(block, chunk.delta, events)

    def is_hosted(self, index: int) -> bool:
        """Whether the open block at an index goes back as it is."""
        return (block := self.blocks.get(index)) is not None and block.kind == HOSTED

    def feed_hosted(self, chunk: Fields) -> None:
        """Add a delta to a block that goes back as it is. Other chunks of unknown form have no content."""
        index, delta = chunk.get("index"), chunk.get("delta")
        if not (isinstance(index, int) and isinstance(delta, dict) and self.is_hosted(index)):
            return
        block, delta = self.blocks[index], cast("Fields", delta)
        if isinstance(piece := delta.get("partial_json"), str):
            block.pieces.append(piece)
        else:
            extend_block(block.fields, delta)

    def feed(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        match chunk.type:
            case "content_block_start" if chunk.content_block != NULL:
                self.start_block(chunk.index, chunk.content_block, events)
            case "content_block_stop":
                self.stop_block(chunk.index, events)
            case "message_start" if chunk.message:
                self.update_usage(chunk.message.usage)
            case "message_delta":
                self.update_usage(chunk.usage)
                self.reason = (chunk.delta and chunk.delta.stop_reason) or self.reason
            case "message_stop":
                self.end(events, is_whole=self.usage.output_tokens is not None)
            case "error":
                self.done = True
                events.append(_fault(chunk.error))
            case _:
                pass

    def start_block(self, index: int, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        self.count += 1
        fields = _any.decode(raw)
        if type_of(fields) not in BLOCK_TYPES:
            self.start_hosted(index, fields, events)
            return
        block = _block.decode(raw)
        match block.type:
            case "text":
                opened = _OpenBlock("text", f"t{index}")
                events.append(TextStart(opened.id))
                _add_delta(opened, _Delta("text_delta", text=block.text), events)
                for citation in block.citations or ():
                    _add_delta(opened, _Delta("citations_delta", citation=citation), events)
            case "thinking":
                opened = _OpenBlock("thinking", f"r{index}")
                events.append(ReasoningStart(opened.id))
                _add_delta(opened, _Delta("thinking_delta", thinking=block.thinking), events)
                _add_delta(opened, _Delta("signature_delta", signature=block.signature), events)
            case "redacted_thinking":
                opened = _OpenBlock("redacted_thinking", f"r{index}", [block.data])
                events.append(ReasoningStart(opened.id))
            case "tool_use":
                opened = _OpenBlock("tool_use", block.id)
                if block.caller and block.caller.get("type") != "direct":
                    opened.fields["caller"] = block.caller
                events.append(ToolInputStart(block.id, block.name))
                arguments = bytes(block.input).decode()
                if arguments != "{}":  # a stream starts with an empty object, which is only a placeholder
                    _add_delta(opened, _Delta("input_json_delta", partial_json=arguments), events)
            case _:
                return
        self.blocks[index] = opened

    def start_hosted(self, index: int, fields: Fields, events: list[StreamEvent]) -> None:
        self.blocks[index] = _OpenBlock(HOSTED, "", fields=fields)
        if not is_result(fields):
            started = describe_block(fields, index)
            events.append(HostedCall(started.call_id, started.tool, state="running"))

    def stop_block(self, index: int, events: list[StreamEvent]) -> None:
        block = self.blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "hosted":
                if block.pieces:
                    block.fields["input"] = read_arguments("".join(block.pieces))
                described = describe_block(block.fields, index)
                read_block(described, self.hosted, events)
                events += made_files(block.fields, self.hosted.calls[described.call_id].tool)
            case "text":
                events.append(TextEnd(block.id, format_citations(block.citations)))
            case "tool_use":
                self.is_torn = self.is_torn or not is_json("".join(block.pieces))
                if not block.pieces:
                    events.append(ToolInputDelta(block.id, "{}"))
                events.append(ToolInputEnd(block.id, to_json(block.fields) if block.fields else None))
            case _:
                events.append(ReasoningEnd(block.id, _reasoning_opaque(block)))

    def update_usage(self, raw: msgspec.Raw) -> None:
        """Update the counts. Anthropic sends running totals, and a chunk may leave out those that haven't changed."""
        usage = decode_optional(_counts, raw)
        for name in _Usage.__struct_fields__ if usage else ():
            if (newer := getattr(usage, name)) is not None:
                setattr(self.usage, name, newer)

    def end(self, events: list[StreamEvent], *, is_whole: bool = False) -> None:
        """End the message. `is_whole`: its last event came, and its usage."""
        if self.done:
            return
        self.done = True
        has_content = self.count > 0 and not self.blocks and not self.is_torn
        stop = read_stop(self.reason, STOP_REASONS, is_whole=is_whole and has_content)
        events.append(StepEnd(stop, _total_usage(self.usage), "" if self.reason in WITHOUT_DETAIL else self.reason))


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed. Raises `BadAnswer` if it is not the API's JSON."""
    body = _body.decode(data)
    return [_fault(body.error)] if body.error else _parse_body(body)


def _parse_body(body: _Body) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    reader = _Reader(reason=body.stop_reason or "")
    for index, raw in enumerate(body.content):
        reader.start_block(index, raw, events)
        is_call, is_last = reader.blocks[index].kind == "tool_use", index == len(body.content) - 1
        # The limit may have cut off the last block, even if the provider completed its input to valid JSON.
        if not (is_call and is_last and read_stop(reader.reason, STOP_REASONS, is_whole=True) == "length"):
            reader.stop_block(index, events)
    reader.update_usage(body.usage)
    reader.end(events, is_whole=True)
    return events


def _add_delta(block: _OpenBlock, delta: _Delta, events: list[StreamEvent]) -> None:
    if delta.type == "text_delta" and block.kind == "text":  # most of all
        if delta.text:
            events.append(TextDelta(block.id, delta.text))
        return
    if BLOCK_OF_DELTA.get(delta.type, block.kind) != block.kind:
        raise ValueError(f"{delta.type} doesn't belong in a block of type {block.kind}")
    match delta.type:
        case "input_json_delta" if delta.partial_json:
            block.pieces.append(delta.partial_json)
            events.append(ToolInputDelta(block.id, delta.partial_json))
        case "thinking_delta" if delta.thinking:
            block.pieces.append(delta.thinking)
            events.append(ReasoningDelta(block.id, delta.thinking))
        case "citations_delta" if delta.citation:
            block.citations.append(delta.citation)
            events.append(read_citation(block.id, delta.citation))
        case "signature_delta":
            block.signature += delta.signature
        case _:
            pass


def _reasoning_opaque(block: _OpenBlock) -> str | None:
    """Return the block as Anthropic wants it back, or None for reasoning without a signature, which it rejects."""
    content = "".join(block.pieces)
    if block.kind == "redacted_thinking":
        return _json({"type": "redacted_thinking", "data": content})
    if not block.signature:
        return None
    return _json({"type": "thinking", "thinking": content, "signature": block.signature})


def _total_usage(usage: _Usage) -> Usage:
    """Convert the counts. Anthropic's `input_tokens` exclude cached tokens; ours count the whole prompt."""
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    details = usage.output_tokens_details or _OutputDetails()
    prompt = (usage.input_tokens or 0) + read + written
    return Usage(prompt, usage.output_tokens or 0, read, written, details.thinking_tokens or 0)


def _json(value: dict[str, str]) -> str:
    return msgspec.json.encode(value).decode()


def _fault(error: _Error | None) -> ProviderFault:
    return ProviderFault(f"{error.type}: {error.message}" if error else "error")


def _decode(text: bytes) -> _Chunk | None:
    """Decode one chunk. Returns None for unknown types, whatever their fields contain."""
    try:
        return _chunk.decode(text)
    except msgspec.ValidationError as error:
        if _is_known(text):
            raise unreadable_response(error) from error
        return None


def _is_known(text: bytes) -> bool:
    """Whether a chunk that failed to decode has only known types."""
    chunk: Any = _any.decode(text)
    if type_of(chunk) is None:
        return True
    return type_of(chunk) in CHUNK_TYPES and type_of(chunk.get("delta")) in (None, *DELTA_TYPES)
