"""Parses openai-responses responses, streamed or complete, from OpenAI, xAI and compatible gateways.

Items are identified by their position in the output. Deltas deliver them early. An item's end and the response's end
repeat the item completely, which fills in what a host left out before. A complete body is parsed like a stream of which
only the last event came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from showandtell.core.collect.surrogates import is_json
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    HostedCall,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    StreamEvent,
    TextDelta,
    TextStart,
    ToolInputDelta,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.message import Stop
from showandtell.core.messages.parts import HostedBlock
from showandtell.core.wire.hosted_blocks import Fields, for_people, read_block, to_json
from showandtell.core.wire.openai_responses.hosted import describe_item
from showandtell.core.wire.openai_responses.open_items import (
    OpenItem,
    OpenText,
    close_unfinished,
    end_call,
    end_texts,
    fill_arguments,
)
from showandtell.core.wire.openai_responses.parse_items import (
    FINAL_STATUS,
    Chunk,
    Error,
    Item,
    Response,
    call_fields,
    read_chunk,
    read_fault,
    read_fields,
    read_item,
    read_usage,
    reasoning_opaque,
)
from showandtell.core.wire.stop_reasons import read_stop
from showandtell.core.wire.stream import full_parser
from showandtell.core.wire.usage import NULL
from showandtell.errors import BadAnswer

#: OpenAI's reasons for an incomplete response, and ours. An unknown reason may not be a success, so it counts as "cut".
INCOMPLETE_REASONS: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"max_output_tokens"})
#: Types of a message's parts that are text. A part of any other type is for people alone.
TEXT_TYPES = frozenset({"", "output_text", "text", "refusal"})
COMPLETE: dict[str, Stop] = {"completed": "end"}
STATUSES = frozenset({"completed", "incomplete", "failed", "cancelled"})

CALLS = frozenset({"function_call", "custom_tool_call"})

_ItemKey: TypeAlias = int | str


_response = msgspec.json.Decoder(Response)


@dataclass(slots=True)
class _Reader:
    """Reads one response: collects its items by position, and whether one is a call or a refusal."""

    items: dict[_ItemKey, OpenItem] = field(default_factory=dict[_ItemKey, OpenItem])
    count: int = 0
    hosted: HostedCalls = field(default_factory=HostedCalls)
    is_waiting: bool = False
    is_refused: bool = False
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        if text == b"[DONE]":
            self.end(events)
        elif chunk := read_chunk(text):
            self.feed(chunk, events)

    def feed(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        match chunk.type:
            case "response.output_text.delta":
                self.add_text(chunk, events)
            case "response.function_call_arguments.delta":
                self.add_arguments(chunk, events)
            case "response.reasoning_summary_text.delta":
                self.add_reasoning(chunk, ("summary", chunk.summary_index), events)
            case "response.reasoning_text.delta":
                self.add_reasoning(chunk, ("content", chunk.content_index), events)
            case "response.refusal.delta":
                self.is_refused = True
                self.add_text(chunk, events)
            case "response.output_text.done" | "response.refusal.done":
                self.is_refused = self.is_refused or chunk.type == "response.refusal.done"
                message = self.find_item(_item_key(chunk), "message", chunk.item_id, events)
                text = chunk.text or chunk.refusal
                message.adopt_text(
                    chunk.content_index, text, [at for at, part in message.texts.items() if not part.is_complete]
                )
                self.finish_text(message, chunk.content_index, text, events)
            case "response.output_text.annotation.added" if chunk.annotation:
                self.add_annotation(chunk, chunk.annotation, events)
            case "response.function_call_arguments.done":
                self.finish_arguments(chunk, events)
            case "response.output_item.added":
                self.start_item(chunk, events)
            case "response.output_item.done":
                if item := read_item(chunk.item):
                    self.close_item(_item_key(chunk, item), item, chunk.item, events)
            case "error":
                self.fail(chunk.error or Error(chunk.code, None, chunk.message), events)
            case "" if chunk.error:
                self.fail(chunk.error, events)
            case "":
                raise BadAnswer("the response is not what the API promises: an event has no type")
            case _ if chunk.type in FINAL_STATUS:
                self.finish(_response.decode(chunk.response), FINAL_STATUS[chunk.type], events)
            case _:
                pass

    def find_item(self, key: _ItemKey, kind: str, item_id: str | None, events: list[StreamEvent]) -> OpenItem:
        """Return the item at a position, opening a new one if there is none of its kind."""
        item = self.items.get(key)
        return item if item and item.kind == kind else self.open_item(key, kind, item_id, events)

    def open_item(self, key: _ItemKey, kind: str, item_id: str | None, events: list[StreamEvent]) -> OpenItem:
        """Open a new item, ending an unfinished one at the same position."""
        if (old := self.items.get(key)) and not old.is_done:
            close_unfinished(old, events, is_complete=False)
        opened = self.items[key] = OpenItem(kind, "", item_id)
        return opened

    def new_id(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count - 1}"

    def start_item(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """Start an item. Any content it has already will be repeated later."""
        item = read_item(chunk.item)
        if item is None:
            return
        opened = self.open_item(_item_key(chunk, item), item.type, item.id, events)
        opened.phase = item.phase
        match item.type:
            case "reasoning":
                self.start_reasoning(opened, events)
            case "function_call" | "custom_tool_call" if item.name and item.call_id:
                self.start_call(opened, item, events)
            case "hosted":
                block = describe_item(read_fields(chunk.item), len(self.items) - 1)
                events.append(HostedCall(block.call_id, block.tool, state="running"))
            case _:
                pass

    def start_reasoning(self, opened: OpenItem, events: list[StreamEvent]) -> None:
        opened.id = self.new_id("r")
        events.append(ReasoningStart(opened.id))

    def start_call(self, opened: OpenItem, item: Item, events: list[StreamEvent]) -> None:
        opened.id = item.call_id or item.id or self.new_id("call_")
        events.append(ToolInputStart(opened.id, item.name or ""))

    def add_text(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        message = self.find_item(_item_key(chunk), "message", chunk.item_id, events)
        if chunk.delta and not message.is_done:
            part = message.texts.get(chunk.content_index) or self.start_text(message, chunk.content_index, events)
            part.written += chunk.delta.encode()
            events.append(TextDelta(part.id, chunk.delta))

    def start_text(self, message: OpenItem, index: int, events: list[StreamEvent]) -> OpenText:
        end_texts(message, events, only_complete=True)
        part = message.texts[index] = OpenText(self.new_id("t"))
        events.append(TextStart(part.id))
        return part

    def finish_text(self, message: OpenItem, index: int, text: str, events: list[StreamEvent]) -> None:
        """Complete a text, given its content, and emit what the deltas left out. It ends with its message."""
        part = message.texts.get(index)
        if message.is_done or (part and part.is_complete) or not (part or text):
            return
        part = part or self.start_text(message, index, events)
        if rest := text[len(part.written.decode()) :]:
            part.written += rest.encode()
            events.append(TextDelta(part.id, rest))
        part.is_complete = True

    def add_annotation(self, chunk: Chunk, annotation: Fields, events: list[StreamEvent]) -> None:
        message = self.find_item(_item_key(chunk), "message", chunk.item_id, events)
        part = message.texts.get(chunk.content_index)
        if part and not part.has_ended and annotation not in part.annotations:
            part.annotate([annotation], events)

    def add_reasoning(self, chunk: Chunk, section: tuple[str, int], events: list[StreamEvent]) -> None:
        if not chunk.delta:
            return
        item = self.find_item(_item_key(chunk), "reasoning", chunk.item_id, events)
        if item.is_done:
            return
        if not item.id:
            self.start_reasoning(item, events)
        # Summaries and texts of one reasoning item become paragraphs.
        gap = "\n\n" if item.section not in (None, section) else ""
        item.section = section
        events.append(ReasoningDelta(item.id, gap + chunk.delta))

    def add_arguments(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """Add arguments to a call if it is open; otherwise its end delivers them all."""
        call = self.items.get(_item_key(chunk))
        if call and call.kind == "function_call" and call.id and not call.is_done and chunk.delta:
            call.pieces.append(chunk.delta)
            events.append(ToolInputDelta(call.id, chunk.delta))

    def finish_arguments(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """Complete a call's arguments. Only the item's status tells if they were cut off, so the call stays open."""
        call = self.items.get(_item_key(chunk))
        if call and call.kind == "function_call" and call.id and not call.is_done:
            call.has_full_arguments = True
            fill_arguments(call, chunk.arguments, events)

    def close_item(self, key: _ItemKey, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        """End an item, given its complete content."""
        opened = self.find_item(key, item.type, item.id, events)
        if _is_other(item, opened):
            opened = self.open_item(key, item.type, item.id, events)
        elif opened.is_done:
            return
        match item.type:
            case "message":
                self.close_message(opened, item, raw, events)
            case "reasoning":
                self.close_reasoning(opened, item, raw, events)
            case "function_call" | "custom_tool_call":
                self.close_call(opened, item, raw, events)
            case _:
                block = describe_item(read_fields(raw), list(self.items).index(key))
                self.is_waiting = self.is_waiting or block.state == "waiting"
                read_block(block, self.hosted, events)
        opened.is_done = True

    def close_message(self, message: OpenItem, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        message.phase = item.phase or message.phase
        texts = [part.text or part.refusal or "" for part in item.content or ()]
        self.is_refused = self.is_refused or any(part.type == "refusal" for part in item.content or ())
        strays = [at for at, part in message.texts.items() if at >= len(texts) or not part.begins(texts[at])]
        for index, text in enumerate(texts):
            message.adopt_text(index, text, strays)
            self.finish_text(message, index, text, events)
        for index, content in enumerate(item.content or ()):
            if content.type not in TEXT_TYPES:
                fields = read_fields(raw)["content"][index]
                name = f"{item.id or 'message'}_{index}"
                read_block(HostedBlock("", "", name, content.type, output=for_people(fields)), self.hosted, events)
            if (part := message.texts.get(index)) and not part.has_ended:
                part.annotate((content.annotations or [])[len(part.annotations) :], events)
        end_texts(message, events)

    def close_reasoning(self, opened: OpenItem, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        if not opened.id:
            self.start_reasoning(opened, events)
        parts = [part.text for part in item.summary or item.content or () if part.text]
        if parts and opened.section is None:
            events.append(ReasoningDelta(opened.id, "\n\n".join(parts)))
        events.append(ReasoningEnd(opened.id, reasoning_opaque(item, raw)))

    def close_call(self, call: OpenItem, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        if not call.id:
            self.start_call(call, item, events)
        # The input of a custom tool is any text, which becomes the argument `input`.
        is_custom = item.type == "custom_tool_call"
        fill_arguments(call, to_json({"input": item.input or ""}) if is_custom else item.arguments or "", events)
        if item.status != "incomplete":
            end_call(call, events, call_fields(raw))

    def finish(self, response: Response, status: str, events: list[StreamEvent]) -> None:
        """End the response, given its complete content."""
        status = response.status if response.status in STATUSES else status or response.status or ""
        if response.error or status == "failed":
            self.fail(response.error, events)
            return
        self.fill_missing(response.output or [], events)
        calls = [opened for opened in self.items.values() if opened.kind in CALLS]
        is_whole = response.usage != NULL and bool(self.items) and all(is_json("".join(call.pieces)) for call in calls)
        for opened in self.items.values():
            close_unfinished(opened, events, is_complete=status == "completed" or (is_whole and status not in STATUSES))
        self.done = True
        reason = (response.incomplete_details and response.incomplete_details.reason) or ""
        stop, detail = self.stop_reason(status, reason, is_whole=is_whole)
        events.append(StepEnd(stop, read_usage(response.usage), detail))

    def fill_missing(self, output: list[msgspec.Raw], events: list[StreamEvent]) -> None:
        """Add what the stream left out, given the complete output: everything, or the ends of open items."""
        is_new = not self.items
        if not is_new and all(opened.is_done for opened in self.items.values()):
            return
        for index, raw in enumerate(output):
            item = read_item(raw)
            key = index if is_new else item and self.find_open(item)
            if item and key is not None:
                self.close_item(key, item, raw, events)

    def find_open(self, item: Item) -> _ItemKey | None:
        """Return the key of the open item that matches `item`. Positions may differ, because hosts leave items out."""
        for key, opened in self.items.items():
            is_same = (item.id and item.id == opened.item_id) or (item.call_id and item.call_id == opened.id)
            if is_same and not opened.is_done:
                return key
        return None

    def stop_reason(self, status: str, reason: str, *, is_whole: bool) -> tuple[Stop, str]:
        """Our reason, and the provider's if it adds anything. `is_whole`: nothing lacks but a status that is known."""
        if status == "incomplete" and reason:
            return INCOMPLETE_REASONS.get(reason, "cut"), "" if reason in WITHOUT_DETAIL else reason
        stop = read_stop(status, COMPLETE, is_whole=is_whole and status not in STATUSES)
        has_calls = any(opened.kind in CALLS for opened in self.items.values())
        if stop == "end" and self.is_refused and not has_calls:
            stop = "refusal"
        return stop, "" if status in COMPLETE else status

    def fail(self, error: Error | str | None, events: list[StreamEvent]) -> None:
        self.done = True
        self.end_complete_texts(events)
        events.append(read_fault(error))

    def end(self, events: list[StreamEvent]) -> None:
        """End the stream. If the response had no end of its own, it was cut off."""
        if not self.done:
            self.done = True
            self.end_complete_texts(events)
            events.append(StepEnd("cut", Usage()))

    def end_complete_texts(self, events: list[StreamEvent]) -> None:
        """End the texts that are complete, though the response is not."""
        for opened in self.items.values():
            end_texts(opened, events, only_complete=True)


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed. Raises `BadAnswer` if it is not the API's JSON."""
    events: list[StreamEvent] = []
    _Reader().finish(_response.decode(data), "", events)
    return events


def _item_key(chunk: Chunk, item: Item | None = None) -> _ItemKey:
    """Return the key of an event's item: its output index if present, because gateways change ids between events."""
    if chunk.output_index is not None:
        return chunk.output_index
    return chunk.item_id or (item and item.id) or ""


def _is_other(item: Item, opened: OpenItem) -> bool:
    """Whether a finished item differs from the one at its position; some hosts send the same index for all items."""
    if item.call_id:
        return opened.id not in ("", item.call_id)
    return opened.is_done and opened.item_id != item.id
