"""Writes the output of one step as chunks: texts, reasoning and calls, in the order of their start."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import msgspec
from msgspec import Raw

from showandtell.core.collect.result_json import Refer, encode, result_json
from showandtell.core.collect.surrogates import replace_lone_escapes
from showandtell.core.events.annotations import Annotation, TruncatedCall
from showandtell.core.events.replay import split_output
from showandtell.core.events.types import (
    HostedCall,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolOutput,
)
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Json, Source, Text, ToolCall
from showandtell.core.ui_stream import chunks as ui

TRUNCATED_TEXT = "the call was not whole, so it was not run"
#: A run of base64 of this length may be a file inside a text. The rest of the text is held until the message is stored,
#: where it is a file.
MIN_BASE64_RUN = 100
BASE64_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{100}")
#: May be keys that make the stock client discard a chunk (secureJsonParse in @ai-sdk/provider-utils).
SUSPICIOUS_KEYS = re.compile(r"__proto__|constructor|\\u00[567]", re.IGNORECASE)
#: The greatest integer that JavaScript tells from its neighbours (`Number.MAX_SAFE_INTEGER`).
MAX_SAFE_INTEGER = 2**53 - 1
#: What the text of a greater one has.
LONG_NUMBER = re.compile(r"[0-9]{16}")
_INVALID = object()

Chunks: TypeAlias = Sequence[ui.Chunk]


@dataclass(slots=True, eq=False)
class _TextBlock:
    """A text or reasoning block; `base64_run` is the number of base64 characters at its end."""

    id: str
    is_reasoning: bool
    pieces: list[str] = field(default_factory=list[str])
    sent: int = 0
    base64_run: int = 0
    is_held: bool = False
    has_started: bool = False
    has_ended: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True, eq=False)
class _Call:
    call_id: str
    tool: str
    pieces: list[str] = field(default_factory=list[str])
    has_ended: bool = False

    @property
    def text(self) -> str:
        return replace_lone_escapes("".join(self.pieces).encode()).decode()


_Item: TypeAlias = _TextBlock | _Call


class StepWriter:
    """Writes one step after the other. `open_step` returns the chunks that start a step, before its first content."""

    def __init__(self, open_step: Callable[[], Chunks]) -> None:
        self._open_step = open_step
        self.start(0)

    def start(self, step: int, *, hold_files: bool = True) -> None:
        """Start a step. If `hold_files`, texts that may contain a file are held back."""
        self._prefix, self._hold_files = f"{step}.", hold_files
        self._items: list[_Item] = []
        self._sent: list[_Item] = []
        self._texts: dict[str, _TextBlock] = {}
        self._reasoning: dict[str, _TextBlock] = {}
        self._calls: dict[str, _Call] = {}

    def start_text(self, event: TextStart) -> Chunks:
        """Start a text; its start is sent with its first content."""
        return self._start_block(self._texts, event.id, is_reasoning=False)

    def add_text(self, event: TextDelta) -> Chunks:
        """Forward a delta, unless the text may turn out to be a file in base64: then it is held back."""
        text, block = event.text, self._texts.get(event.id)
        if block is None:
            self.start_text(TextStart(event.id))
            block = self._texts[event.id]
        block.pieces.append(text)
        if block.is_held or (self._hold_files and may_hold_file(block, text)):
            block.is_held = True
            return ()
        if block.has_started:
            block.sent += 1
            return (ui.MoreText(block.id, text),)
        return self._send(block)

    def end_text(self, event: TextEnd) -> Chunks:
        """Close a block, unless it was never started or is held back until the message is stored."""
        return self._end_block(self._texts.pop(event.id, None))

    def start_reasoning(self, event: ReasoningStart) -> Chunks:
        """Start a reasoning block; its start is sent with its first content."""
        return self._start_block(self._reasoning, event.id, is_reasoning=True)

    def add_reasoning(self, event: ReasoningDelta) -> Chunks:
        """Add to a reasoning block."""
        text, block = event.text, self._reasoning.get(event.id)
        if block is None:
            self.start_reasoning(ReasoningStart(event.id))
            block = self._reasoning[event.id]
        block.pieces.append(text)
        if block.has_started:
            block.sent += 1
            return (ui.MoreReasoning(block.id, text),)
        return self._send(block)

    def end_reasoning(self, event: ReasoningEnd) -> Chunks:
        """End a reasoning block."""
        return self._end_block(self._reasoning.pop(event.id, None))

    def start_call(self, event: ToolInputStart) -> Chunks:
        """Start a tool call."""
        if event.call_id in self._calls:
            return ()
        self._calls[event.call_id] = call = _Call(event.call_id, event.tool)
        self._items.append(call)
        self._sent.append(call)
        return (*self._open_step(), ui.StartInput(call.call_id, call.tool))

    def add_input(self, event: ToolInputDelta) -> Chunks:
        """Add to a call's arguments."""
        call = self._calls.get(event.call_id)
        if call is None or call.has_ended:
            return ()
        call.pieces.append(event.text)
        return (ui.MoreInput(event.call_id, event.text),)

    def end_call(self, event: ToolInputEnd) -> Chunks:
        """End a call's arguments, valid or not."""
        call = self._calls.get(event.call_id)
        if call is None or call.has_ended:
            return ()
        call.has_ended = True
        return (input_chunk(call.call_id, call.tool, call.text or "{}"),)

    def end(self, *, drop_held: bool = False) -> list[ui.Chunk]:
        """End everything open, with an error for truncated calls. If `drop_held`, held text is discarded."""
        chunks: list[ui.Chunk] = []
        for item in self._items:
            if isinstance(item, _TextBlock):
                chunks += () if item.is_held and drop_held else self._send(item)
                item.is_held = False
                chunks += self._end_block(item)
            elif not item.has_ended:
                chunks.append(ui.InputError(item.call_id, item.tool, item.text, TRUNCATED_TEXT))
        return chunks

    def differs(self, message: Message, asides: Sequence[Annotation]) -> bool:
        """Whether the stored message differs from what was sent: a text contained files, or two texts interleaved."""
        truncated = {item.call_id for item in asides if isinstance(item, TruncatedCall)}
        items = [item for item in self._items if isinstance(item, _Call) or item.text]
        sent = [_sent_key(item) for item in items if isinstance(item, _TextBlock) or item.call_id not in truncated]
        shared = [part for part in message.parts if not isinstance(part, Text) or part.audience == "both"]
        stored = [_stored_key(part) for part in shared if isinstance(part, Text | ToolCall)]
        return [key for key in sent if key is not None] != stored or items != self._sent

    def _start_block(self, blocks: dict[str, _TextBlock], key: str, *, is_reasoning: bool) -> Chunks:
        previous_end = self._end_block(blocks.get(key))
        blocks[key] = block = _TextBlock(self._prefix + key, is_reasoning)
        self._items.append(block)
        return previous_end

    def _send(self, block: _TextBlock) -> Chunks:
        """Return the unsent content of a block. An empty block is never started."""
        text = "".join(block.pieces[block.sent :])
        if not text:
            return ()
        block.sent = len(block.pieces)
        more = ui.MoreReasoning(block.id, text) if block.is_reasoning else ui.MoreText(block.id, text)
        if block.has_started:
            return (more,)
        block.has_started = True
        self._sent.append(block)
        start = ui.StartReasoning(block.id) if block.is_reasoning else ui.StartText(block.id)
        return (*self._open_step(), start, more)

    def _end_block(self, block: _TextBlock | None) -> Chunks:
        if block is None or block.is_held or block.has_ended or not block.has_started:
            return ()
        block.has_ended = True
        return (ui.EndReasoning(block.id) if block.is_reasoning else ui.EndText(block.id),)


def input_chunk(call_id: str, tool: str, text: str) -> ui.Input | ui.InputError:
    """Return a call's arguments: unchanged if they are valid JSON that a browser reads exactly, else as a string.

    So a person approves the number that the tool gets. What is no JSON is an error.
    """
    value = _parse(text)
    if value is _INVALID:
        return ui.InputError(call_id, tool, text, TRUNCATED_TEXT)
    is_rounded = LONG_NUMBER.search(text) is not None and has_rounded_integer(value)
    if is_rounded or (SUSPICIOUS_KEYS.search(text) and is_refused(value)):
        return ui.Input(call_id, tool, Raw(msgspec.json.encode(text)))
    return ui.Input(call_id, tool, Raw(text.encode()))


def hosted_chunks(event: HostedCall) -> Chunks:
    """Return the input of a tool that the provider runs itself, and its output if it has any."""
    given = ui.Input(event.call_id, event.tool, _safe(event.input or "{}"), provider_executed=True)
    match event.state:
        case "running" | "waiting":
            return (given,)
        case "done":
            return (given, ui.Output(event.call_id, _safe(event.output or "{}"), provider_executed=True))
        case "error":
            return (
                given,
                ui.OutputError(event.call_id, event.output or f"{event.tool} failed", provider_executed=True),
            )


def source_chunk(name: str, source: Source, file: Attachment | None) -> ui.Chunk:
    """Return the source of a text: an address, or a document."""
    record = {"showandtell": msgspec.to_builtins(source)}
    record["showandtell"].pop("type")
    if source.url:
        return ui.UrlSource(name, source.url, source.title, record)
    title = source.title or source.name or (file.name if file else "a document")
    media_type = file.media_type if file else "application/octet-stream"
    return ui.DocumentSource(name, media_type, title, file.name if file else source.name, record)


def _safe(text: str) -> Raw:
    """Return JSON that the stock client accepts: unchanged, or as a string."""
    if SUSPICIOUS_KEYS.search(text) and is_refused(msgspec.json.decode(text)):
        return Raw(msgspec.json.encode(text))
    return Raw(text.encode())


def output_chunks(event: ToolOutput, refer: Refer) -> Chunks:
    """Return a tool's result, and what is for the user alone as a part of its own: clients send results back."""
    event, own = split_output(event)
    result = ui.OutputError(event.call_id, event.text) if event.is_error else output_chunk(event, refer)
    if not own:
        return (result,)
    return (result, ui.UserTextData(f"text.{event.call_id}", {"tool_call_id": event.call_id, "text": own}))


def output_chunk(event: ToolOutput, refer: Refer) -> ui.Output:
    """Return a tool's result. `text` has the words of JSON as the model got them; other texts are in `output`."""
    output = result_json(event.parts, refer)
    if SUSPICIOUS_KEYS.search(bytes(output).decode()) and is_refused(msgspec.json.decode(output)):
        output = encode(event.text)
    own: ui.Record = {"files": event.files}
    if any(isinstance(part, Json) for part in event.parts):
        own["text"] = event.text
    return ui.Output(event.call_id, output, {"showandtell": own})


def is_refused(value: object) -> bool:
    """Whether the stock client rejects this value because of keys that could pollute prototypes."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            inner = fields.get("constructor")
            if "__proto__" in fields or (isinstance(inner, dict) and "prototype" in inner):
                return True
            pending += fields.values()
        elif isinstance(item, list):
            pending += cast("list[object]", item)
    return False


def has_rounded_integer(value: object) -> bool:
    """Whether a JSON value has an integer that JavaScript rounds."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += cast("dict[str, object]", item).values()
        elif isinstance(item, list):
            pending += cast("list[object]", item)
        elif isinstance(item, int) and abs(item) > MAX_SAFE_INTEGER:
            return True
    return False


def may_hold_file(block: _TextBlock, text: str) -> bool:
    """Whether a block's text has a run of base64 long enough to be a file. `text` is its newest piece."""
    if len(text) >= MIN_BASE64_RUN and BASE64_RUN.search(text):
        return True
    rest = len(text.rstrip(BASE64_CHARACTERS))
    block.base64_run = len(text) - rest + (0 if rest else block.base64_run)
    return block.base64_run >= MIN_BASE64_RUN


def _parse(text: str) -> object:
    """Return the value of a JSON text, or `_INVALID`."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _INVALID


def _sent_key(item: _Item) -> str | None:
    if isinstance(item, _Call):
        return item.call_id
    return None if item.is_reasoning else item.text


def _stored_key(part: Text | ToolCall) -> str:
    return part.text if isinstance(part, Text) else part.call_id
