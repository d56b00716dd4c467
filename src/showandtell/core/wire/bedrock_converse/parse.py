"""Parses bedrock-converse responses, streamed or complete.

Blocks of tools that the provider runs, and of unknown types, are kept whole. Shapes are those of botocore 1.44.5
(ConverseStreamOutput and ConverseResponse of bedrock-runtime), and of recorded answers, which differ: calls have a
type. Images, audio and citations rest on botocore's types alone. Blobs are base64 in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

from showandtell.core.collect.surrogates import is_json
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    FileMade,
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
from showandtell.core.wire.bedrock_converse.converse_types import (
    Block,
    Body,
    Call,
    Chunk,
    Delta,
    Media,
    Reasoning,
    TokenCounts,
)
from showandtell.core.wire.bedrock_converse.hosted import close_arguments, describe_block, extend_block, read_citation
from showandtell.core.wire.bedrock_converse.render import FORMATS
from showandtell.core.wire.hosted_blocks import Fields, format_citations, read_block
from showandtell.core.wire.stop_reasons import read_stop
from showandtell.core.wire.stream import MAX_DETAIL, decode_optional, full_parser

#: Converse's stop reasons, and ours. Malformed output counts as "cut", because it is not a success.
STOP_REASONS: dict[str, Stop] = {
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
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"", "end_turn", "tool_use", "max_tokens"})
#: Media type by block and format name; the first one if several types share a format.
MEDIA_TYPES = {block_and_format: media_type for media_type, block_and_format in reversed(FORMATS.items())}
Kind: TypeAlias = Literal["text", "reasoning", "call", "image", "audio", "hosted"]


@dataclass(slots=True)
class _OpenBlock:
    """A block between its start and its stop; `pieces` collects reasoning or arguments, `data` blobs."""

    kind: Kind
    id: str
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""
    data: bytearray = field(default_factory=bytearray)
    format: str = ""
    problem: str | None = None
    citations: list[Fields] = field(default_factory=list[Fields])
    fields: Fields = field(default_factory=dict[str, Any])


_chunk = msgspec.json.Decoder(Chunk)
_body = msgspec.json.Decoder(Body)
_block = msgspec.json.Decoder(Block)
_any = msgspec.json.Decoder()
_counts = msgspec.json.Decoder(TokenCounts | None)


@dataclass(slots=True)
class _Reader:
    """Reads one response: tracks its open blocks, the reason it ended, and its usage."""

    blocks: dict[int, _OpenBlock] = field(default_factory=dict[int, _OpenBlock])
    reason: str | None = None
    usage: Usage | None = None
    hosted: HostedCalls = field(default_factory=HostedCalls)
    tools: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0
    is_torn: bool = False
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the JSON of one frame."""
        self.feed(_chunk.decode(text), text, events)

    def feed(self, chunk: Chunk, raw: bytes, events: list[StreamEvent]) -> None:
        if (more := chunk.content_block_delta) is not None:
            if more.delta is not None and (not more.delta.is_known or self.is_hosted(more.content_block_index)):
                self.extend_hosted(more.content_block_index, _any.decode(raw)["contentBlockDelta"]["delta"], events)
            elif more.delta is not None:
                self.add_delta(more.content_block_index, more.delta, events)
        elif (started := chunk.content_block_start) is not None:
            if started.start is not None and not started.start.is_known:
                self.start_hosted(started.content_block_index, _any.decode(raw)["contentBlockStart"]["start"], events)
            elif started.start is not None:
                self.start_block(started.content_block_index, started.start, events)
        elif chunk.content_block_stop is not None:
            self.stop_block(chunk.content_block_stop.content_block_index, events)
        elif chunk.message_stop is not None:
            self.reason = chunk.message_stop.stop_reason
            self.end_if_complete(events)
        elif chunk.metadata is not None:
            self.usage = _usage(chunk.metadata.usage)
            self.end_if_complete(events)
        elif chunk.error is not None:
            self.done = True
            events.append(ProviderFault(f"{chunk.error.type}: {chunk.error.message}"))

    def is_hosted(self, index: int) -> bool:
        """Whether the open block at an index goes back as it is."""
        return (block := self.blocks.get(index)) is not None and block.kind == "hosted"

    def extend_hosted(self, index: int, delta: Fields, events: list[StreamEvent]) -> None:
        """Add to a block that goes back as it is."""
        if delta:
            extend_block(self.find_block(index, "hosted", events).fields, delta)

    def start_hosted(self, index: int, fields: Fields, events: list[StreamEvent]) -> None:
        """Open a block that goes back as it is."""
        if not fields:
            return
        self.open_block(index, "hosted", events).fields = fields
        started = describe_block(fields, index, dict(self.tools))
        if "toolResult" not in fields:
            events.append(HostedCall(started.call_id, started.tool, state="running"))

    def start_block(self, index: int, start: Block, events: list[StreamEvent]) -> None:
        """Open a call or an image. Text and reasoning open with their first delta, because few models send a start."""
        if start.tool_use is not None:
            self.start_call(index, start.tool_use, events)
        elif start.image is not None:
            self.open_block(index, "image", events).format = start.image.format

    def start_call(self, index: int, call: Call, events: list[StreamEvent]) -> _OpenBlock:
        """Open a call."""
        self.blocks[index] = block = _OpenBlock("call", call.tool_use_id)
        events.append(ToolInputStart(call.tool_use_id, call.name))
        return block

    def add_delta(self, index: int, delta: Delta, events: list[StreamEvent]) -> None:
        if delta.text is not None:
            block = self.find_block(index, "text", events)
            if delta.text:
                events.append(TextDelta(block.id, delta.text))
        elif delta.tool_use is not None:
            _add_arguments(self.blocks.get(index), delta.tool_use.input, events)
        elif delta.reasoning_content is not None:
            _add_reasoning(self.find_block(index, "reasoning", events), delta.reasoning_content, events)
        elif delta.image is not None:
            _add_media(self.find_block(index, "image", events), delta.image)
        elif delta.citation is not None:
            block = self.find_block(index, "text", events)
            block.citations.append(delta.citation)
            events.append(read_citation(block.id, delta.citation))

    def find_block(self, index: int, kind: Kind, events: list[StreamEvent]) -> _OpenBlock:
        block = self.blocks.get(index)
        return block if block is not None and block.kind == kind else self.open_block(index, kind, events)

    def open_block(self, index: int, kind: Kind, events: list[StreamEvent]) -> _OpenBlock:
        """Open a block, ending an open block of another kind at its index. An open call is dropped as truncated."""
        if index in self.blocks and self.blocks[index].kind != "call":
            self.stop_block(index, events)
        self.blocks[index] = block = _OpenBlock(kind, f"{kind[0]}{index}")
        match kind:
            case "text":
                events.append(TextStart(block.id))
            case "reasoning":
                events.append(ReasoningStart(block.id))
            case _:
                pass
        return block

    def stop_block(self, index: int, events: list[StreamEvent]) -> None:
        block = self.blocks.pop(index, None)
        if block is None:
            return
        self.count += 1
        match block.kind:
            case "text":
                events.append(TextEnd(block.id, format_citations(block.citations)))
            case "hosted":
                close_arguments(block.fields)
                read_block(describe_block(block.fields, index, self.tools), self.hosted, events)
            case "call":
                self.is_torn = self.is_torn or not is_json("".join(block.pieces))
                if not block.pieces:
                    events.append(ToolInputDelta(block.id, "{}"))
                events.append(ToolInputEnd(block.id))
            case "reasoning":
                events.append(ReasoningEnd(block.id, _reasoning_opaque(block)))
            case "image" | "audio":
                events.append(_file_event(block))

    def end_if_complete(self, events: list[StreamEvent]) -> None:
        """End the message once both its reason and its usage are known; usage comes last."""
        if self.reason is not None and self.usage is not None:
            self.end(events)

    def end(self, events: list[StreamEvent]) -> None:
        if self.done:
            return
        self.done = True
        reason = self.reason or ""
        is_whole = self.reason is not None and self.usage is not None
        has_content = self.count > 0 and not self.blocks and not self.is_torn
        stop = read_stop(reason, STOP_REASONS, is_whole=is_whole and has_content)
        events.append(StepEnd(stop, self.usage or Usage(), "" if reason in WITHOUT_DETAIL else reason))


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed. Raises `BadAnswer` if it is not the API's JSON."""
    body = _body.decode(data)
    return [ProviderFault(body.message)] if body.output is None and body.message else _parse_body(body)


def _parse_body(body: Body) -> list[StreamEvent]:
    message = body.output.message if body.output else None
    blocks = message.content if message else []
    events: list[StreamEvent] = []
    reader = _Reader(reason=body.stop_reason, usage=_usage(body.usage))
    for index, raw in enumerate(blocks):
        block = _block.decode(raw)
        if block.is_known:
            _add_full_block(reader, index, block, events)
        else:
            reader.start_hosted(index, _any.decode(raw), events)
        # The limit may have cut off the last block, even if the provider completed its input to valid JSON.
        if not (
            reader.blocks[index].kind == "call"
            and index == len(blocks) - 1
            and read_stop(body.stop_reason, STOP_REASONS, is_whole=True) == "length"
        ):
            reader.stop_block(index, events)
    reader.end(events)
    return events


def _add_full_block(reader: _Reader, index: int, block: Block, events: list[StreamEvent]) -> None:
    if block.tool_use is not None:
        arguments = bytes(block.tool_use.input).decode()
        _add_arguments(reader.start_call(index, block.tool_use, events), arguments, events)
    elif block.citations_content is not None:
        text = "".join(part.text for part in block.citations_content.content)
        reader.add_delta(index, Delta(text=text), events)
        for citation in block.citations_content.citations:
            reader.add_delta(index, Delta(citation=citation), events)
    elif block.audio is not None:
        _add_media(reader.open_block(index, "audio", events), block.audio)
    else:
        reader.add_delta(index, Delta(block.text, None, block.reasoning_content, block.image), events)


def _add_arguments(block: _OpenBlock | None, text: str, events: list[StreamEvent]) -> None:
    """Add arguments to a call; those of a tool that runs at the provider have no open block and are ignored."""
    if text and block is not None and block.kind == "call":
        block.pieces.append(text)
        events.append(ToolInputDelta(block.id, text))


def _add_reasoning(block: _OpenBlock, delta: Reasoning, events: list[StreamEvent]) -> None:
    reasoning = delta.reasoning_text or delta
    if reasoning.text:
        block.pieces.append(reasoning.text)
        events.append(ReasoningDelta(block.id, reasoning.text))
    block.signature += reasoning.signature or ""
    block.data += delta.redacted_content


def _add_media(block: _OpenBlock, media: Media) -> None:
    block.format = media.format or block.format
    if media.error is not None:
        block.problem = f"was not made ({media.error.message[:MAX_DETAIL]})"
    if media.source is not None and media.source.s3_location is not None:
        block.problem = "was given as an address"
    if media.source is not None:
        block.data += media.source.data


def _file_event(block: _OpenBlock) -> FileMade:
    media_type = MEDIA_TYPES.get((block.kind, block.format), "application/octet-stream")
    return FileMade(media_type, b"" if block.problem else bytes(block.data), problem=block.problem)


def _reasoning_opaque(block: _OpenBlock) -> str | None:
    """Return the block as Converse wants it back, or None for reasoning without a signature, as for Anthropic."""
    if block.data:
        return _json({"redactedContent": bytes(block.data)})
    if not block.signature:
        return None
    return _json({"reasoningText": {"text": "".join(block.pieces), "signature": block.signature}})


def _json(reasoning: dict[str, bytes] | dict[str, dict[str, str]]) -> str:
    return msgspec.json.encode({"reasoningContent": reasoning}).decode()


def _usage(raw: msgspec.Raw) -> Usage:
    """Convert the counts. Converse's inputTokens exclude cached tokens; ours count the whole prompt."""
    usage = decode_optional(_counts, raw)
    if usage is None:
        return Usage()
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_write_input_tokens or 0
    return Usage(usage.input_tokens + cached + written, usage.output_tokens, cached, written)
