"""Gathers a stream's events into the assistant's message.

Words are kept as UTF-8 and grow in place: most pieces are a few letters, and a text of its own for each takes far more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias, assert_never

import msgspec

from showandtell.core.events.annotations import Aside, Thought, TruncatedCall
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
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.messages import Draft, Stop
from showandtell.core.messages.parts import Claimed, Opaque, Text, ToolCall
from showandtell.errors import BadFile


@dataclass(slots=True)
class _Words:
    text: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Thinking:
    id: str
    text: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Call:
    call_id: str
    tool: str
    arguments: bytearray = field(default_factory=bytearray)
    has_ended: bool = False
    opaque: str | None = None


_Item: TypeAlias = _Words | _Thinking | _Call | Opaque | File
_OF_CALLS = (ToolInputStart, ToolInputDelta, ToolInputEnd)


@dataclass(slots=True)
class _Namesakes:
    """Calls to which a provider gave one id: their own ids in order, how many have ended, the newest suffix."""

    ids: list[str] = field(default_factory=list[str])
    ended: int = 0
    count: int = 1


class CallIds:
    """Gives every call of a stream an id of its own, in all its events, for a result must find its call.

    Hosts repeat ids within a message and from step to step. `used` are those of the conversation so far; the stream's
    own are added to it.
    """

    def __init__(self, used: set[str] | None = None) -> None:
        self._used = set[str]() if used is None else used
        self._namesakes: dict[str, _Namesakes] = {}

    def rename(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """One batch, in which a call whose id is taken has another one."""
        return [self._rename(event) if isinstance(event, _OF_CALLS) else event for event in events]

    def _rename(self, event: ToolInputStart | ToolInputDelta | ToolInputEnd) -> StreamEvent:
        same = self._namesakes.setdefault(event.call_id, _Namesakes())
        match event:
            case ToolInputStart():
                same.ids.append(self._choose(event.call_id, same))
                own = same.ids[-1]
            case ToolInputDelta():
                own = same.ids[-1]
            case ToolInputEnd():
                own = same.ids[same.ended]
                same.ended += 1
        return event if own == event.call_id else msgspec.structs.replace(event, call_id=own)

    def _choose(self, call_id: str, same: _Namesakes) -> str:
        own = call_id
        while own in self._used:
            same.count += 1
            own = f"{call_id}_{same.count}"
        self._used.add(own)
        return own


class Accumulator:
    """Takes batches of one parser's events, in any cut, and can give the message at any time, its files as claims.

    `usage` and `detail` are what the provider said at the end, or nothing yet. No two calls may have one id: see
    `CallIds`.
    """

    def __init__(self, provider: str) -> None:
        self.usage = Usage()
        self.detail = ""
        self._provider = provider
        self._stop: Stop = "cut"
        self._items: list[_Item] = []
        self._words: dict[str, _Words] = {}
        self._thinking: dict[str, _Thinking] = {}
        self._calls: dict[str, _Call] = {}

    @property
    def stop(self) -> Stop:
        """Why the message ended; "cut" until the provider says so, and where it says so in the midst of a call."""
        is_torn = self._stop in ("end", "tool_calls") and any(_is_torn(item) for item in self._items)
        return "cut" if is_torn else self._stop

    def add(self, events: Sequence[StreamEvent]) -> None:
        """Take one batch."""
        for event in events:
            self._take(event)

    def draft(self) -> Draft:
        """The message so far: texts, opaque items, files and calls in the order of the stream.

        A call whose arguments never ended, or were ended by the limit, is left out: it must not run.
        """
        torn = self._torn()
        parts = [part for item in self._items if item is not torn and (part := self._part(item))]
        return Draft("assistant", tuple(parts), stop=self.stop)

    def asides(self) -> tuple[Aside, ...]:
        """What was said that the message doesn't hold: thoughts, and calls that are left out of it."""
        found: list[Aside] = []
        torn, place = self._torn(), 0
        for item in self._items:
            match item:
                case _Thinking() if item.text:
                    found.append(Thought(place, item.id, item.text.decode()))
                case _Call() if item is torn or not item.has_ended:
                    found.append(TruncatedCall(place, item.call_id, item.tool, item.arguments.decode()))
                case _Call():
                    place += 1
                case _Words() if item.text:
                    place += 1
                case _:
                    pass
        return tuple(found)

    def _torn(self) -> _Call | None:
        """The call that was ended by the limit, in the midst of its arguments."""
        last = next((item for item in reversed(self._items) if not isinstance(item, _Thinking)), None)
        return last if isinstance(last, _Call) and self._stop == "length" and not _is_json(last) else None

    def _part(self, item: _Item) -> Claimed | None:
        match item:
            case Opaque() | File():
                return item
            case _Words():
                text = item.text.decode()
                return Text(text) if text else None
            case _Thinking():
                return None
            case _Call():
                opaque = None if item.opaque is None else Opaque(self._provider, item.opaque)
                whole = ToolCall(item.call_id, item.tool, item.arguments.decode() or "{}", opaque)
                return whole if item.has_ended else None

    def _take(self, event: StreamEvent) -> None:
        match event:
            case TextDelta():
                self._words[event.id].text += event.text.encode()
            case ToolInputDelta():
                self._calls[event.call_id].arguments += event.text.encode()
            case ReasoningDelta():
                self._thinking[event.id].text += event.text.encode()
            case ReasoningStart():
                self._items.append(thinking := _Thinking(event.id))
                self._thinking[event.id] = thinking
            case TextEnd():
                pass
            case TextStart():
                self._items.append(words := _Words())
                self._words[event.id] = words
            case ReasoningEnd():
                if event.opaque is not None:
                    self._items.append(Opaque(self._provider, event.opaque))
            case ToolInputStart():
                self._items.append(call := _Call(event.call_id, event.tool))
                self._calls[event.call_id] = call
            case ToolInputEnd():
                call = self._calls[event.call_id]
                call.has_ended, call.opaque = True, event.opaque
            case FileMade():
                self._items.append(_claim(event))
            case StepEnd():
                self._stop, self.usage, self.detail = event.stop, event.usage, event.detail
            case ProviderFault():
                self._stop, self.detail = "error", event.text
            case _:
                assert_never(event)


def _claim(made: FileMade) -> File:
    if made.problem is None:
        return File(made.data, made.media_type, made.name)
    problem = BadFile(made.name or "the file", made.problem, "ask the model to make it again")

    def fail() -> BinaryIO:
        raise problem

    return File(Reader(fail, 0), made.media_type, made.name)


def _is_torn(item: _Item) -> bool:
    return isinstance(item, _Call) and not item.has_ended


def _is_json(call: _Call) -> bool:
    try:
        msgspec.json.decode(call.arguments or b"{}")
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
