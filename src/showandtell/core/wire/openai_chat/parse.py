"""Parses openai-chat responses, streamed or complete, from OpenAI and from the many compatible hosts.

Hosts differ in how they number and repeat tool calls, so a call is identified by index and id together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, cast

import msgspec

from showandtell.core.collect.surrogates import is_json
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    ProviderFault,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    StreamEvent,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.message import Stop
from showandtell.core.wire.host_fields import JoinedFields
from showandtell.core.wire.hosted_blocks import Fields, read_block, to_json
from showandtell.core.wire.open_block import OpenBlock
from showandtell.core.wire.openai_chat.chat_types import (
    CallDelta,
    Chunk,
    CompletionDetails,
    Delta,
    Error,
    Item,
    Piece,
    PromptDetails,
    TokenCounts,
    Url,
    read_piece,
)
from showandtell.core.wire.openai_chat.hosted import (
    TEXT_ITEMS,
    Audio,
    ExecutedTools,
    describe_annotation,
    describe_item,
    read_citation,
)
from showandtell.core.wire.response_files import read_data_url
from showandtell.core.wire.stop_reasons import read_stop
from showandtell.core.wire.stream import decode_optional, full_parser
from showandtell.core.wire.usage import NULL, dollars

#: Finish reasons of the hosts, and ours. Those that aren't OpenAI's name their host.
STOP_REASONS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
    "model_length": "length",  # Mistral
    "error": "error",  # Mistral, OpenRouter
}
#: The text field of each type of OpenRouter's reasoning details that people can read.
DETAIL_TEXT_FIELDS = {"reasoning.text": "text", "reasoning.summary": "summary"}
#: What goes back with the call of a custom tool.
CUSTOM = {"type": "custom"}
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"", "stop", "length", "tool_calls", "error"})


_chunk = msgspec.json.Decoder(Chunk)
_counts = msgspec.json.Decoder(TokenCounts | None)
_item = msgspec.json.Decoder(Item)
_any = msgspec.json.Decoder()


@dataclass(slots=True)
class _Call:
    """A call. The input of a custom tool is any text, which becomes the argument `input` at its end."""

    call_id: str
    pieces: list[str] = field(default_factory=list[str])
    is_custom: bool = False
    custom: list[str] = field(default_factory=list[str])
    fields: JoinedFields = field(default_factory=JoinedFields)


@dataclass(slots=True)
class _Reader(OpenBlock):
    """Reads one response: collects its calls in order and the reason it ended."""

    calls: list[_Call] = field(default_factory=list[_Call])
    by_index: dict[int, _Call] = field(default_factory=dict[int, _Call])
    by_id: dict[str, _Call] = field(default_factory=dict[str, _Call])
    fields: JoinedFields = field(default_factory=JoinedFields)
    thinking: JoinedFields | None = None
    hosted: HostedCalls = field(default_factory=HostedCalls)
    executed: ExecutedTools = field(default_factory=ExecutedTools)
    audio: Audio = field(default_factory=Audio)
    annotations: list[Fields] = field(default_factory=list[Fields])
    early: list[Fields] = field(default_factory=list[Fields])
    text_id: str = ""
    is_refused: bool = False
    reason: str = ""
    usage: bytes | msgspec.Raw = b"null"
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        if text == b"[DONE]":
            self.end(events, is_whole=bytes(self.usage) != b"null")
        else:
            self.feed(_chunk.decode(text), events)

    def feed(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        if error := chunk.error or (chunk.x_groq and chunk.x_groq.error):
            self.done = True
            events.append(_fault(error))
            return
        if chunk.usage != NULL:  # some hosts repeat usage in every chunk, so decode only the last one
            self.usage = chunk.usage
        elif chunk.x_groq and chunk.x_groq.usage != NULL:
            self.usage = chunk.x_groq.usage
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        if piece := read_piece(choice.delta):
            self.add_piece(piece, events)
        elif piece := read_piece(choice.message):
            for index, call in enumerate(piece.delta.tool_calls or ()):
                call.index = index  # in a complete message each is a separate call, whatever its id
            self.add_piece(piece, events)
        if choice.finish_reason and not self.reason:
            self.reason = choice.finish_reason
            if self.reason in STOP_REASONS:
                self.close(STOP_REASONS[self.reason], events)

    def add_piece(self, piece: Piece, events: list[StreamEvent]) -> None:
        delta = piece.delta
        if piece.fields:
            self.fields.add(piece.fields)
            self.add_reasoning(_thought(delta), events)
        if isinstance(delta.content, str):
            self.add_text(delta.content, events)
        elif delta.content:
            self.add_content(delta.content, events)
        if delta.audio and (words := self.audio.add(delta.audio)):
            self.add_text(words, events)
        if delta.executed_tools:
            self.executed.add(delta.executed_tools, events)
        for annotation in delta.annotations or ():
            self.add_annotation(annotation, events)
        if delta.refusal:
            self.is_refused = True
            self.add_text(delta.refusal, events)
        for image in delta.images or ():
            self.close_block(events)
            url = image.image_url
            events.append(read_data_url(url.url if isinstance(url, Url) else url or ""))
        for call, own in zip_longest(delta.tool_calls or (), piece.calls):
            self.add_call_delta(call, events, own)
        # Snowflake sends an empty one beside every text.
        if delta.function_call and (delta.function_call.name or delta.function_call.arguments):
            self.add_call_delta(CallDelta(0, function=delta.function_call), events)

    def add_annotation(self, annotation: Fields, events: list[StreamEvent]) -> None:
        """Keep an annotation: the source of the newest text, or what the host read in a file."""
        if self.text_id and (source := read_citation(self.text_id, annotation)):
            events.append(source)
        elif annotation.get("type") == "url_citation":
            self.early.append(annotation)
        else:
            self.annotations.append(annotation)
            read_block(describe_annotation(annotation, len(self.annotations) - 1), self.hosted, events)

    def add_text(self, text: str | None, events: list[StreamEvent]) -> None:
        """Add text, and the sources that came before it."""
        OpenBlock.add_text(self, text, events)
        if text and self.current:
            self.text_id = self.current[1]
            if self.early:
                early, self.early = self.early, []
                for annotation in early:
                    self.add_annotation(annotation, events)

    def add_content(self, content: list[msgspec.Raw] | dict[str, Any], events: list[StreamEvent]) -> None:
        match content:
            case dict():  # Cloudflare parses the answer to a JSON schema
                self.add_text(msgspec.json.encode(content).decode(), events)
            case _:
                for at, raw in enumerate(content):
                    fields = _any.decode(raw)
                    if str(fields.get("type") or "") not in TEXT_ITEMS:
                        self.close_block(events)
                        read_block(describe_item(fields, self.count), self.hosted, events)
                        self.count += 1
                        continue
                    item = _item.decode(raw)
                    if item.type == "thinking":
                        self.add_thinking(item, fields, events, is_new=at > 0)
                    self.add_text(item.text, events)

    def add_thinking(self, item: Item, fields: Fields, events: list[StreamEvent], *, is_new: bool) -> None:
        """Add an item of Mistral's reasoning, which goes back in its place. A stream sends it in pieces."""
        if is_new or self.thinking is None:
            self.close_block(events)
            self.ensure_reasoning(events)
            self.thinking = JoinedFields()
        self.thinking.add(fields)
        self.add_reasoning("".join([thought.text for thought in item.thinking]), events)

    def close_block(self, events: list[StreamEvent]) -> None:
        """End the open block, if any. The reasoning of a content list ends with what goes back."""
        if self.thinking is not None and self.current:
            events.append(ReasoningEnd(self.current[1], self.thinking.to_json()))
            self.current = self.thinking = None
        OpenBlock.close_block(self, events)

    def add_call_delta(self, piece: CallDelta, events: list[StreamEvent], own: Fields | None = None) -> None:
        call = self.find_call(piece)
        if call is None:
            self.close_block(events)
            call = self.start_call(piece, events)
        call.fields.add(own or {})
        if piece.custom and piece.custom.input:
            call.custom.append(piece.custom.input)
        arguments = piece.function.arguments if piece.function else None
        if text := msgspec.json.encode(arguments).decode() if isinstance(arguments, dict) else arguments:
            call.pieces.append(text)
            events.append(ToolInputDelta(call.call_id, text))

    def find_call(self, piece: CallDelta) -> _Call | None:
        """Return the call that a piece continues, or None for a new call: a new id, or a name if there are no ids."""
        is_named = bool(piece.name)
        if piece.index is not None:
            call = self.by_index.get(piece.index)
            # Some hosts give every call the index 0. Others give every piece of a call a new id, but only one a name.
            is_other = call and is_named and piece.id and piece.id != call.call_id
            return None if is_other else call
        if piece.id:
            return self.by_id.get(piece.id)
        return self.calls[-1] if self.calls and not is_named else None

    def start_call(self, piece: CallDelta, events: list[StreamEvent]) -> _Call:
        call = _Call(piece.id or f"call_{len(self.calls) + 1}")
        self.calls.append(call)
        self.by_id.setdefault(call.call_id, call)
        if piece.index is not None:
            self.by_index[piece.index] = call
        call.is_custom = bool(piece.custom and piece.custom.name)
        events.append(ToolInputStart(call.call_id, piece.name))
        return call

    def close(self, stop: Stop, events: list[StreamEvent]) -> None:
        """End all blocks and calls. If the limit was hit, the last call may be cut off and stays open.

        Reasoning that was cut off itself doesn't go back: Claude rejects it without its signature.
        """
        is_cut = stop in ("length", "cut", "error")
        is_thought_cut = is_cut and self.current is not None and self.current[0] == "reasoning"
        self.thinking = None if is_thought_cut else self.thinking
        self.close_block(events)
        kept = None if is_thought_cut else self.fields.to_json()
        files = to_json({"annotations": self.annotations}) if self.annotations else None
        for fields in filter(None, (kept, files)):
            name = f"r{self.count}"
            self.count += 1
            events += [ReasoningStart(name), ReasoningEnd(name, fields)]
        complete = self.calls[:-1] if is_cut else self.calls
        for call in complete:
            if call.is_custom:
                events.append(ToolInputDelta(call.call_id, to_json({"input": "".join(call.custom)})))
            elif not call.pieces:
                events.append(ToolInputDelta(call.call_id, "{}"))
            call.fields.add(CUSTOM if call.is_custom else {})
            events.append(ToolInputEnd(call.call_id, call.fields.to_json()))

    def end(self, events: list[StreamEvent], *, is_whole: bool = False) -> None:
        """End the message. One that is whole needs no reason: Snowflake gives none, or an empty one."""
        if self.done:
            return
        self.done = True
        has_content = bool(self.count or self.calls) and all(is_json("".join(call.pieces)) for call in self.calls)
        stop = read_stop(self.reason, STOP_REASONS, is_whole=is_whole and has_content)
        if self.reason in STOP_REASONS:
            self.close_block(events)
        elif self.reason or stop != "cut":
            self.close(stop, events)
        self.audio.end(events)
        for block in self.executed.blocks():
            read_block(block, self.hosted, events)
        if self.is_refused and stop == "end" and not self.calls:
            stop = "refusal"
        events.append(StepEnd(stop, _usage(self.usage), "" if self.reason in WITHOUT_DETAIL else self.reason))


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed. Raises `BadAnswer` if it is not the API's JSON."""
    events: list[StreamEvent] = []
    reader = _Reader()
    reader.feed(_chunk.decode(data), events)
    reader.end(events, is_whole=True)
    return events


def _thought(delta: Delta) -> str:
    """Return the reasoning that people can read. OpenRouter repeats its details in `reasoning`, Snowflake doesn't."""
    if isinstance(thought := delta.reasoning_content or delta.reasoning, str):
        return thought
    given: object = delta.reasoning_details
    details = cast("list[object]", given) if isinstance(given, list) else []
    fields = [cast("Fields", detail) for detail in details if isinstance(detail, dict)]
    texts = [detail.get(DETAIL_TEXT_FIELDS.get(str(detail.get("type")), "")) for detail in fields]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(raw: bytes | msgspec.Raw) -> Usage:
    usage = decode_optional(_counts, raw) or TokenCounts()
    prompt, completion = (
        usage.prompt_tokens_details or PromptDetails(),
        usage.completion_tokens_details or CompletionDetails(),
    )
    modalities = {
        "text": prompt.text_tokens,
        "image": prompt.image_tokens,
        "audio": prompt.audio_tokens,
        "video": prompt.video_tokens,
    }
    return Usage(
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        prompt.cached_tokens or usage.prompt_cache_hit_tokens or 0,
        prompt.cache_write_tokens or 0,
        completion.reasoning_tokens or 0,
        {kind: count for kind, count in modalities.items() if count is not None},
        dollars(usage.cost),  # Perplexity's is an object (from memory)
    )


def _fault(error: Error | str) -> ProviderFault:
    if isinstance(error, str):
        return ProviderFault(error)
    return ProviderFault(": ".join(text for text in (error.type, error.message) if text) or "error")
