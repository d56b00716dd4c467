"""Answers of openai-responses as events, be they streamed or whole, from OpenAI, xAI, and gateways that speak its api.

Items are known by their place in the output. Deltas give them early; an item's end and the answer's end repeat it
whole, so what a host leaves out before is taken from there. A whole body is an answer of which only the end came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from showandtell.core.events.types import (
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
from showandtell.core.wire.openai_responses.parse_items import (
    LAST,
    Chunk,
    Error,
    Item,
    Response,
    fault_of,
    image_of,
    opaque_of,
    read_chunk,
    read_item,
    usage_of,
)
from showandtell.core.wire.stream import whole_answer
from showandtell.errors import BadAnswer

#: Why an answer is incomplete, in OpenAI's words and ours. A word that we don't know proves no success: it is "cut".
INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}
#: Words that ours say as well; every other one goes into the event's `detail`.
PLAIN = frozenset({"max_output_tokens"})
STATUSES = frozenset({"completed", "incomplete", "failed", "cancelled"})

_Key: TypeAlias = int | str


@dataclass(slots=True)
class _Text:
    """One content part of a message: how many characters of it were given."""

    id: str
    size: int = 0
    has_ended: bool = False


@dataclass(slots=True)
class _Open:
    """An item that began. `id` is that of its events; `pieces` are a call's; `place` is where a thought grows."""

    kind: str
    id: str
    item_id: str | None
    texts: dict[int, _Text] = field(default_factory=dict[int, _Text])
    pieces: list[str] = field(default_factory=list[str])
    place: tuple[str, int] | None = None
    is_told: bool = False
    is_done: bool = False


_response = msgspec.json.Decoder(Response)


@dataclass(slots=True)
class _Reading:
    """What has been read of one answer: its items by their place, and whether one is a call or a refusal."""

    items: dict[_Key, _Open] = field(default_factory=dict[_Key, _Open])
    count: int = 0
    has_calls: bool = False
    is_refused: bool = False
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event."""
        if text == b"[DONE]":
            self.end(events)
        elif chunk := read_chunk(text):
            self.take(chunk, events)

    def take(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        match chunk.type:
            case "response.output_text.delta":
                self.say(chunk, events)
            case "response.function_call_arguments.delta":
                self.argue(chunk, events)
            case "response.reasoning_summary_text.delta":
                self.think(chunk, ("summary", chunk.summary_index), events)
            case "response.reasoning_text.delta":
                self.think(chunk, ("content", chunk.content_index), events)
            case "response.refusal.delta":
                self.is_refused = True
                self.say(chunk, events)
            case "response.output_text.done" | "response.refusal.done":
                self.is_refused = self.is_refused or chunk.type == "response.refusal.done"
                message = self.find(_place(chunk), "message", chunk.item_id, events)
                self.conclude(message, chunk.content_index, chunk.text or chunk.refusal, events)
            case "response.function_call_arguments.done":
                self.tell(chunk, events)
            case "response.output_item.added":
                self.begin(chunk, events)
            case "response.output_item.done":
                if item := read_item(chunk.item):
                    self.close(_place(chunk, item), item, chunk.item, events)
            case "error":
                self.fail(chunk.error or Error(chunk.code, None, chunk.message), events)
            case "" if chunk.error:
                self.fail(chunk.error, events)
            case "":
                raise BadAnswer("the answer is not what the api promises: an event says no type")
            case _ if chunk.type in LAST:
                self.finish(_response.decode(chunk.response), LAST[chunk.type], events)
            case _:
                pass

    def find(self, key: _Key, kind: str, item_id: str | None, events: list[StreamEvent]) -> _Open:
        """The item at a place; a new one where none of its kind is there."""
        found = self.items.get(key)
        return found if found and found.kind == kind else self.put(key, kind, item_id, events)

    def put(self, key: _Key, kind: str, item_id: str | None, events: list[StreamEvent]) -> _Open:
        """A new item; what is open at its place ends."""
        if (old := self.items.get(key)) and not old.is_done:
            _shut(old, events, is_complete=False)
        opened = self.items[key] = _Open(kind, "", item_id)
        return opened

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count - 1}"

    def begin(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """An item is announced; what it holds already is said again later."""
        item = read_item(chunk.item)
        if item is None:
            return
        opened = self.put(_place(chunk, item), item.type, item.id, events)
        match item.type:
            case "reasoning":
                self.start_thought(opened, events)
            case "function_call" if item.name and item.call_id:
                self.start_call(opened, item, events)
            case _:
                pass

    def start_thought(self, opened: _Open, events: list[StreamEvent]) -> None:
        opened.id = self.name("r")
        events.append(ReasoningStart(opened.id))

    def start_call(self, opened: _Open, item: Item, events: list[StreamEvent]) -> None:
        self.has_calls = True
        opened.id = item.call_id or item.id or self.name("call_")
        events.append(ToolInputStart(opened.id, item.name or ""))

    def say(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        message = self.find(_place(chunk), "message", chunk.item_id, events)
        if chunk.delta and not message.is_done:
            part = message.texts.get(chunk.content_index) or self.start_text(message, chunk.content_index, events)
            part.size += len(chunk.delta)
            events.append(TextDelta(part.id, chunk.delta))

    def start_text(self, message: _Open, index: int, events: list[StreamEvent]) -> _Text:
        part = message.texts[index] = _Text(self.name("t"))
        events.append(TextStart(part.id))
        return part

    def conclude(self, message: _Open, index: int, text: str, events: list[StreamEvent]) -> None:
        """End one text, which is told whole: what the deltas left out is given."""
        part = message.texts.get(index)
        if message.is_done or (part and part.has_ended) or not (part or text):
            return
        part = part or self.start_text(message, index, events)
        if rest := text[part.size :]:
            events.append(TextDelta(part.id, rest))
        part.has_ended = True
        events.append(TextEnd(part.id))

    def think(self, chunk: Chunk, place: tuple[str, int], events: list[StreamEvent]) -> None:
        if not chunk.delta:
            return
        thought = self.find(_place(chunk), "reasoning", chunk.item_id, events)
        if thought.is_done:
            return
        if not thought.id:
            self.start_thought(thought, events)
        # Summaries and texts of one thought are paragraphs.
        gap = "\n\n" if thought.place not in (None, place) else ""
        thought.place = place
        events.append(ReasoningDelta(thought.id, gap + chunk.delta))

    def argue(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """More of a call that is open; of one that isn't, all is said at its end."""
        call = self.items.get(_place(chunk))
        if call and call.kind == "function_call" and call.id and not call.is_done and chunk.delta:
            call.pieces.append(chunk.delta)
            events.append(ToolInputDelta(call.id, chunk.delta))

    def tell(self, chunk: Chunk, events: list[StreamEvent]) -> None:
        """A call's arguments are told whole. Only its item says that they weren't cut, so the call doesn't end here."""
        call = self.items.get(_place(chunk))
        if call and call.kind == "function_call" and call.id and not call.is_done:
            call.is_told = True
            _complete(call, chunk.arguments, events)

    def close(self, key: _Key, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        """An item is done, and told whole."""
        opened = self.find(key, item.type, item.id, events)
        if _is_other(item, opened):
            opened = self.put(key, item.type, item.id, events)
        elif opened.is_done:
            return
        match item.type:
            case "message":
                self.close_message(opened, item, events)
            case "reasoning":
                self.close_thought(opened, item, raw, events)
            case "function_call":
                self.close_call(opened, item, events)
            case _:
                events.append(image_of(item))
        opened.is_done = True

    def close_message(self, message: _Open, item: Item, events: list[StreamEvent]) -> None:
        for index, part in enumerate(item.content or ()):
            self.is_refused = self.is_refused or part.type == "refusal"
            self.conclude(message, index, part.text or part.refusal or "", events)
        _end_texts(message, events)

    def close_thought(self, thought: _Open, item: Item, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        if not thought.id:
            self.start_thought(thought, events)
        parts = [part.text for part in item.summary or item.content or () if part.text]
        if parts and thought.place is None:
            events.append(ReasoningDelta(thought.id, "\n\n".join(parts)))
        events.append(ReasoningEnd(thought.id, opaque_of(item, raw)))

    def close_call(self, call: _Open, item: Item, events: list[StreamEvent]) -> None:
        if not call.id:
            self.start_call(call, item, events)
        _complete(call, item.arguments or "", events)
        if item.status != "incomplete":
            _end_call(call, events)

    def finish(self, response: Response, status: str, events: list[StreamEvent]) -> None:
        """The answer has ended, and is told whole."""
        status = response.status if response.status in STATUSES else status
        if response.error or status == "failed":
            self.fail(response.error, events)
            return
        self.fill(response.output or [], events)
        for opened in self.items.values():
            _shut(opened, events, is_complete=status == "completed")
        self.done = True
        stop, detail = self.stop(status, (response.incomplete_details and response.incomplete_details.reason) or "")
        events.append(StepEnd(stop, usage_of(response.usage), detail))

    def fill(self, output: list[msgspec.Raw], events: list[StreamEvent]) -> None:
        """Take from the whole answer what its stream left out: all, or the ends of items that are open."""
        is_new = not self.items
        if not is_new and all(opened.is_done for opened in self.items.values()):
            return
        for index, raw in enumerate(output):
            item = read_item(raw)
            key = index if is_new else item and self.waiting(item)
            if item and key is not None:
                self.close(key, item, raw, events)

    def waiting(self, item: Item) -> _Key | None:
        """Where the open item lies that this one is. Its place here may be another, for hosts leave items out."""
        for key, opened in self.items.items():
            is_same = (item.id and item.id == opened.item_id) or (item.call_id and item.call_id == opened.id)
            if is_same and not opened.is_done:
                return key
        return None

    def stop(self, status: str, reason: str) -> tuple[Stop, str]:
        match status:
            case "completed":
                return "tool_calls" if self.has_calls else "refusal" if self.is_refused else "end", ""
            case "incomplete" if reason:
                return INCOMPLETE.get(reason, "cut"), "" if reason in PLAIN else reason
            case _:
                return "cut", status

    def fail(self, error: Error | str | None, events: list[StreamEvent]) -> None:
        self.done = True
        events.append(fault_of(error))

    def end(self, events: list[StreamEvent]) -> None:
        """The stream is over; an answer that didn't say so itself was cut."""
        if not self.done:
            self.done = True
            events.append(StepEnd("cut", Usage()))


#: A new reader of one answer.
reading = _Reading


@whole_answer
def whole(data: bytes) -> list[StreamEvent]:
    """Read the body of an answer that was not streamed. Raises `BadAnswer` where it is not the api's JSON."""
    events: list[StreamEvent] = []
    _Reading().finish(_response.decode(data), "", events)
    return events


def _place(chunk: Chunk, item: Item | None = None) -> _Key:
    """Where the item of an event lies. Gateways change ids from event to event, so the number counts, where told."""
    if chunk.output_index is not None:
        return chunk.output_index
    return chunk.item_id or (item and item.id) or ""


def _is_other(item: Item, opened: _Open) -> bool:
    """Whether an item that is done isn't the one at its place: some hosts have one place for all."""
    if item.call_id:
        return opened.id not in ("", item.call_id)
    return opened.is_done and opened.item_id != item.id


def _complete(call: _Open, arguments: str, events: list[StreamEvent]) -> None:
    """Give what the deltas of a call left out of its arguments; where the two differ, the deltas are believed."""
    given = "".join(call.pieces)
    if arguments.startswith(given) and (rest := arguments[len(given) :]):
        call.pieces.append(rest)
        events.append(ToolInputDelta(call.id, rest))


def _end_call(call: _Open, events: list[StreamEvent]) -> None:
    if not call.pieces:
        events.append(ToolInputDelta(call.id, "{}"))
    events.append(ToolInputEnd(call.id))


def _end_texts(message: _Open, events: list[StreamEvent]) -> None:
    for part in message.texts.values():
        if not part.has_ended:
            part.has_ended = True
            events.append(TextEnd(part.id))


def _shut(opened: _Open, events: list[StreamEvent], *, is_complete: bool) -> None:
    """End an item whose own end never came; of calls only one that was told whole, in an answer that is complete."""
    match opened.kind:
        case _ if opened.is_done:
            pass
        case "message":
            _end_texts(opened, events)
        case "reasoning":
            events.append(ReasoningEnd(opened.id))
        case "function_call" if opened.is_told and is_complete:
            _end_call(opened, events)
        case _:
            pass
