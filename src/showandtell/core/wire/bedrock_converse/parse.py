"""Answers of bedrock-converse as events, be they streamed or whole.

Every member is looked for by its name, so those that we don't know are skipped. Shapes are those of botocore 1.44.5
(ConverseStreamOutput and ConverseResponse of bedrock-runtime); blobs are base64 in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from showandtell.core.events.types import (
    FileMade,
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
from showandtell.core.wire.bedrock_converse.render import FORMATS
from showandtell.core.wire.stream import MOST_WORDS, read_aside, whole_answer
from showandtell.core.wire.usage import NOTHING

#: Why a message ended, in Converse's words and ours. What is malformed is no success: it counts as cut.
STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
    "malformed_model_output": "cut",
    "malformed_tool_use": "cut",
}
#: Words that ours say as well; every other one goes into the event's `detail`.
PLAIN = frozenset({"end_turn", "tool_use", "max_tokens"})
#: The first media type that each block's word for a format stands for.
MEDIA_TYPES = {block_and_word: media_type for media_type, block_and_word in reversed(FORMATS.items())}
Kind: TypeAlias = Literal["text", "reasoning", "call", "image", "audio"]


class _Fields(Struct, gc=False, rename="camel"):
    """One loose struct takes every variant of a union: the members that it doesn't have stay None."""


class _Words(_Fields):
    text: str = ""
    input: str = ""
    message: str = ""


class _Source(_Fields):
    data: bytes = msgspec.field(default=b"", name="bytes")
    s3_location: dict[str, object] | None = None


class _Media(_Fields):
    format: str = ""
    source: _Source | None = None
    error: _Words | None = None


class _Call(_Fields):
    tool_use_id: str
    name: str
    input: msgspec.Raw = msgspec.Raw(b"{}")
    type: str | None = None


class _Thought(_Fields):
    text: str = ""
    signature: str | None = None
    redacted_content: bytes = b""
    reasoning_text: _Thought | None = None


class _Cited(_Fields):
    content: list[_Words] = []


class _Delta(_Fields):
    text: str | None = None
    tool_use: _Words | None = None
    reasoning_content: _Thought | None = None
    image: _Media | None = None


class _Block(_Fields):
    text: str | None = None
    tool_use: _Call | None = None
    reasoning_content: _Thought | None = None
    citations_content: _Cited | None = None
    image: _Media | None = None
    audio: _Media | None = None


class _Usage(_Fields):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class _Event(_Fields):
    content_block_index: int = 0
    start: _Block | None = None
    delta: _Delta | None = None
    stop_reason: str = ""
    usage: msgspec.Raw = NOTHING


class _Error(_Fields):
    type: str = "error"
    message: str = ""


class _Chunk(_Fields):
    content_block_delta: _Event | None = None
    content_block_start: _Event | None = None
    content_block_stop: _Event | None = None
    message_stop: _Event | None = None
    metadata: _Event | None = None
    error: _Error | None = None


class _Message(_Fields):
    content: list[_Block] = []


class _Output(_Fields):
    message: _Message | None = None


class _Body(_Fields):
    output: _Output | None = None
    stop_reason: str = ""
    usage: msgspec.Raw = NOTHING
    message: str = ""


@dataclass(slots=True)
class _Open:
    """A block between its start and its stop; `pieces` are those of thoughts and arguments, `data` those of blobs."""

    kind: Kind
    id: str
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""
    data: bytearray = field(default_factory=bytearray)
    format: str = ""
    problem: str | None = None


_chunk = msgspec.json.Decoder(_Chunk)
_body = msgspec.json.Decoder(_Body)
_counts = msgspec.json.Decoder(_Usage | None)


@dataclass(slots=True)
class _Reading:
    """What has been read of one message: blocks that are open, the reason it ended, tokens so far."""

    blocks: dict[int, _Open] = field(default_factory=dict[int, _Open])
    reason: str | None = None
    usage: Usage | None = None
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the JSON of one frame."""
        self.take(_chunk.decode(text), events)

    def take(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        if (grown := chunk.content_block_delta) is not None:
            if grown.delta is not None:
                self.grow(grown.content_block_index, grown.delta, events)
        elif (started := chunk.content_block_start) is not None:
            if started.start is not None:
                self.start(started.content_block_index, started.start, events)
        elif chunk.content_block_stop is not None:
            self.stop(chunk.content_block_stop.content_block_index, events)
        elif chunk.message_stop is not None:
            self.reason = chunk.message_stop.stop_reason
            self.close(events)
        elif chunk.metadata is not None:
            self.usage = _count(chunk.metadata.usage)
            self.close(events)
        elif chunk.error is not None:
            self.done = True
            events.append(ProviderFault(f"{chunk.error.type}: {chunk.error.message}"))

    def start(self, index: int, start: _Block, events: list[StreamEvent]) -> None:
        """Open a block that says so; texts and thoughts are opened by their first delta, for few models start them."""
        if start.tool_use is not None:
            self.call(index, start.tool_use, events)
        elif start.image is not None:
            self.open(index, "image", events).format = start.image.format

    def call(self, index: int, call: _Call, events: list[StreamEvent]) -> _Open | None:
        """Open a call, except of a tool that runs at the provider: its type says so."""
        if call.type is not None:
            return None
        self.blocks[index] = block = _Open("call", call.tool_use_id)
        events.append(ToolInputStart(call.tool_use_id, call.name))
        return block

    def grow(self, index: int, delta: _Delta, events: list[StreamEvent]) -> None:
        if delta.text is not None:
            block = self.opened(index, "text", events)
            if delta.text:
                events.append(TextDelta(block.id, delta.text))
        elif delta.tool_use is not None:
            _grow_call(self.blocks.get(index), delta.tool_use.input, events)
        elif delta.reasoning_content is not None:
            _grow_thought(self.opened(index, "reasoning", events), delta.reasoning_content, events)
        elif delta.image is not None:
            _grow_media(self.opened(index, "image", events), delta.image)

    def opened(self, index: int, kind: Kind, events: list[StreamEvent]) -> _Open:
        block = self.blocks.get(index)
        return block if block is not None and block.kind == kind else self.open(index, kind, events)

    def open(self, index: int, kind: Kind, events: list[StreamEvent]) -> _Open:
        """Open a block, and end one of another kind that is still there, unless it is a call: that one is torn."""
        if index in self.blocks and self.blocks[index].kind != "call":
            self.stop(index, events)
        self.blocks[index] = block = _Open(kind, f"{kind[0]}{index}")
        match kind:
            case "text":
                events.append(TextStart(block.id))
            case "reasoning":
                events.append(ReasoningStart(block.id))
            case _:
                pass
        return block

    def stop(self, index: int, events: list[StreamEvent]) -> None:
        block = self.blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "text":
                events.append(TextEnd(block.id))
            case "call":
                if not block.pieces:
                    events.append(ToolInputDelta(block.id, "{}"))
                events.append(ToolInputEnd(block.id))
            case "reasoning":
                events.append(ReasoningEnd(block.id, _opaque(block)))
            case "image" | "audio":
                events.append(_made(block))

    def close(self, events: list[StreamEvent]) -> None:
        """End the message once its reason and its tokens are both known; the tokens come last."""
        if self.reason is not None and self.usage is not None:
            self.end(events)

    def end(self, events: list[StreamEvent]) -> None:
        if self.done:
            return
        self.done = True
        reason = self.reason or ""
        # A word that we don't know proves no success, so it counts as cut; `detail` says it.
        stop = STOPS.get(reason, "cut")
        events.append(StepEnd(stop, self.usage or Usage(), "" if reason in PLAIN else reason))


#: A new reader of one answer.
reading = _Reading


@whole_answer
def whole(data: bytes) -> list[StreamEvent]:
    """Read the body of an answer that was not streamed. Raises `BadAnswer` where it is not the api's JSON."""
    body = _body.decode(data)
    return [ProviderFault(body.message)] if body.output is None and body.message else _events_of(body)


def _events_of(body: _Body) -> list[StreamEvent]:
    message = body.output.message if body.output else None
    blocks = message.content if message else []
    events: list[StreamEvent] = []
    reading = _Reading(reason=body.stop_reason, usage=_count(body.usage))
    for index, block in enumerate(blocks):
        _take_whole(reading, index, block, events)
        # The limit may have cut the last block, whose input was closed to make it JSON.
        if not (block.tool_use and index == len(blocks) - 1 and STOPS.get(body.stop_reason) == "length"):
            reading.stop(index, events)
    reading.end(events)
    return events


def _take_whole(reading: _Reading, index: int, block: _Block, events: list[StreamEvent]) -> None:
    if block.tool_use is not None:
        given = bytes(block.tool_use.input).decode()
        _grow_call(reading.call(index, block.tool_use, events), given, events)
    elif block.citations_content is not None:
        words = "".join(each.text for each in block.citations_content.content)
        reading.grow(index, _Delta(text=words), events)
    elif block.audio is not None:
        _grow_media(reading.open(index, "audio", events), block.audio)
    else:
        reading.grow(index, _Delta(block.text, None, block.reasoning_content, block.image), events)


def _grow_call(block: _Open | None, text: str, events: list[StreamEvent]) -> None:
    """More arguments of a call; those of a tool that runs at the provider belong to no open block."""
    if text and block is not None and block.kind == "call":
        block.pieces.append(text)
        events.append(ToolInputDelta(block.id, text))


def _grow_thought(block: _Open, thought: _Thought, events: list[StreamEvent]) -> None:
    said = thought.reasoning_text or thought
    if said.text:
        block.pieces.append(said.text)
        events.append(ReasoningDelta(block.id, said.text))
    block.signature += said.signature or ""
    block.data += thought.redacted_content


def _grow_media(block: _Open, media: _Media) -> None:
    block.format = media.format or block.format
    if media.error is not None:
        block.problem = f"was not made ({media.error.message[:MOST_WORDS]})"
    if media.source is not None and media.source.s3_location is not None:
        block.problem = "was given as an address"
    if media.source is not None:
        block.data += media.source.data


def _made(block: _Open) -> FileMade:
    media_type = MEDIA_TYPES.get((block.kind, block.format), "application/octet-stream")
    return FileMade(media_type, b"" if block.problem else bytes(block.data), problem=block.problem)


def _opaque(block: _Open) -> str | None:
    """The block as Converse wants it back; a thought without its signature isn't kept, as with Anthropic itself."""
    if block.data:
        return _json({"redactedContent": bytes(block.data)})
    if not block.signature:
        return None
    return _json({"reasoningText": {"text": "".join(block.pieces), "signature": block.signature}})


def _json(reasoning: dict[str, bytes] | dict[str, dict[str, str]]) -> str:
    return msgspec.json.encode({"reasoningContent": reasoning}).decode()


def _count(told: msgspec.Raw) -> Usage:
    """The tokens in our sense: Converse's inputTokens are only those that no cache was read or written for."""
    usage = read_aside(_counts, told)
    if usage is None:
        return Usage()
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_write_input_tokens or 0
    return Usage(usage.input_tokens + cached + written, usage.output_tokens, cached, written)
