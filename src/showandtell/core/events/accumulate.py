"""Accumulates the events of a stream into the assistant's message.

Text is a growing UTF-8 buffer: most deltas are a few characters, and a string for each would take far more memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from showandtell.core.collect.surrogates import is_json, replace_lone_escapes
from showandtell.core.events.annotations import Annotation, Thought, TruncatedCall
from showandtell.core.events.types import (
    BlockRead,
    FileMade,
    HostedCall,
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RemoteFile,
    SourceEvent,
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
from showandtell.core.messages.file import File, Uri, missing_file
from showandtell.core.messages.message import Draft, Stop
from showandtell.core.messages.parts import DraftPart, HostedBlock, Opaque, Source, Text, ToolCall

#: The scheme of files that are fetched from the provider. No file of a program has it.
REMOTE = "provider-file:"


@dataclass(slots=True)
class _Text:
    text: bytearray = field(default_factory=bytearray)
    opaque: str | None = None
    sources: list[Source] = field(default_factory=list[Source])


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

    @property
    def text(self) -> str:
        """The arguments. A lone half of a character would make their JSON unreadable for everybody after us."""
        return replace_lone_escapes(bytes(self.arguments)).decode()


_Item: TypeAlias = _Text | _Thinking | _Call | Opaque | HostedBlock | File


@dataclass(slots=True)
class _SameId:
    """Calls with the same id from the provider: their new ids in order, how many have ended, the newest suffix."""

    ids: list[str] = field(default_factory=list[str])
    ended: int = 0
    count: int = 1
    hosted: str | None = None


#: Events that name a call.
WITH_CALLS = frozenset({ToolInputStart, ToolInputDelta, ToolInputEnd, HostedCall, BlockRead})


class CallIds:
    """Gives every call of a stream a unique id in all its events, because results refer to calls by id.

    Hosts repeat ids within a message and from step to step. `used` are the ids of the conversation so far. The ids of
    the stream are added to it.
    """

    def __init__(self, used: set[str] | None = None) -> None:
        self._used = set[str]() if used is None else used
        self._by_id: dict[str, _SameId] = {}

    def rename(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """A batch with new ids for calls whose id is already used."""
        return [self._rename(event) if type(event) in WITH_CALLS else event for event in events]

    def _rename(self, event: StreamEvent) -> StreamEvent:
        match event:
            case ToolInputStart() | ToolInputDelta() | ToolInputEnd():
                return self._rename_call(event)
            case HostedCall(call_id=call_id, state=state):
                own = self._hosted_id(call_id, starts=state == "running")
                return event if own == call_id else replace(event, call_id=own)
            case BlockRead(part):
                own = self._hosted_id(part.call_id, starts=part.state == "running")
                return event if own == part.call_id else BlockRead(replace(part, call_id=own))
            case _:
                return event

    def _hosted_id(self, call_id: str, *, starts: bool) -> str:
        """The id of a call that the provider runs. The result of a call of an earlier message keeps its id."""
        same = self._by_id.setdefault(call_id, _SameId())
        if same.hosted is None and starts:
            same.hosted = self._choose(call_id, same)
        return same.hosted or call_id

    def _rename_call(self, event: ToolInputStart | ToolInputDelta | ToolInputEnd) -> StreamEvent:
        same = self._by_id.setdefault(event.call_id, _SameId())
        match event:
            case ToolInputStart():
                same.ids.append(self._choose(event.call_id, same))
                own = same.ids[-1]
            case ToolInputDelta():
                own = same.ids[-1]
            case ToolInputEnd():
                own = same.ids[same.ended]
                same.ended += 1
        return event if own == event.call_id else replace(event, call_id=own)

    def _choose(self, call_id: str, same: _SameId) -> str:
        own = call_id
        while own in self._used:
            same.count += 1
            own = f"{call_id}_{same.count}"
        self._used.add(own)
        return own


class Accumulator:
    """Accepts batches of one parser's events, split anywhere, and builds the message at any time, its files as claims.

    `usage` and `detail` are empty until the provider reports them at the end. Ids of calls must be unique: see
    `CallIds`. `provider` and `base_url` are those that its opaque parts go back to.
    """

    def __init__(self, provider: str, base_url: str = "") -> None:
        self.usage = Usage()
        self.detail = ""
        self._provider = provider
        self._base_url = base_url
        self._stop: Stop = "cut"
        self._items: list[_Item] = []
        self._texts: dict[str, _Text] = {}
        self._thinking: dict[str, _Thinking] = {}
        self._calls: dict[str, _Call] = {}

    @property
    def stop(self) -> Stop:
        """Why the message ended: "cut" until the provider reports it, or if it reports it in the middle of a call."""
        is_truncated = self._stop in ("end", "tool_calls", "pause") and any(
            _is_unfinished(item) for item in self._items
        )
        return "cut" if is_truncated else self._stop

    def add(self, events: Sequence[StreamEvent]) -> None:
        """Add one batch."""
        for event in events:
            self._apply(event)

    def draft(self) -> Draft:
        """The message so far: texts, opaque items, files and calls in the order of the stream.

        A call with unfinished arguments, or cut off by the token limit, is left out: it must not run.
        """
        truncated = self._truncated_call()
        parts = [part for item in self._items if item is not truncated for part in self._parts(item)]
        return Draft("assistant", tuple(parts), stop=self.stop)

    def annotations(self) -> tuple[Annotation, ...]:
        """Output that isn't part of the message: thoughts, and calls that are left out of it."""
        annotations: list[Annotation] = []
        truncated, place = self._truncated_call(), 0
        for item in self._items:
            match item:
                case _Thinking() if item.text:
                    annotations.append(Thought(place, item.id, item.text.decode()))
                case _Call() if item is truncated or not item.has_ended:
                    annotations.append(TruncatedCall(place, item.call_id, item.tool, item.text))
                case _Call():
                    place += 1
                case _Text() if item.text:
                    place += 1
                case HostedBlock() if item.tool:
                    place += 1
                case _:
                    pass
        return tuple(annotations)

    def _truncated_call(self) -> _Call | None:
        """The call whose arguments were cut off by the token limit."""
        last = next((item for item in reversed(self._items) if not isinstance(item, _Thinking)), None)
        return last if isinstance(last, _Call) and self._stop == "length" and not is_json(last.text) else None

    def _parts(self, item: _Item) -> list[DraftPart]:
        match item:
            case Opaque() | HostedBlock() | File():
                return [item]
            case _Text() if item.text:
                return [Text(item.text.decode()), *item.sources, *self._opaque(item.opaque)]
            case _Call() if item.has_ended:
                opaque = next(iter(self._opaque(item.opaque)), None)
                return [ToolCall(item.call_id, item.tool, item.text or "{}", opaque)]
            case _:
                return []

    def _opaque(self, text: str | None) -> list[Opaque]:
        return [] if text is None else [Opaque(self._provider, text, self._base_url)]

    def _apply(self, event: StreamEvent) -> None:
        match event:
            case TextDelta():
                self._texts[event.id].text += event.text.encode()
            case ToolInputDelta():
                self._calls[event.call_id].arguments += event.text.encode()
            case ReasoningDelta():
                self._thinking[event.id].text += event.text.encode()
            case ReasoningStart():
                self._items.append(thinking := _Thinking(event.id))
                self._thinking[event.id] = thinking
            case TextEnd():
                self._texts[event.id].opaque = event.opaque
            case TextStart():
                self._items.append(text := _Text())
                self._texts[event.id] = text
            case ReasoningEnd():
                self._items += self._opaque(event.opaque)
            case ToolInputStart():
                self._items.append(call := _Call(event.call_id, event.tool))
                self._calls[event.call_id] = call
            case ToolInputEnd():
                call = self._calls[event.call_id]
                call.has_ended, call.opaque = True, event.opaque
            case FileMade():
                self._items.append(_claim(event))
            case SourceEvent(name, source):
                self._texts[name].sources.append(source)
            case BlockRead(part):
                self._items.append(replace(part, provider=self._provider, base_url=self._base_url))
            case HostedCall():
                pass  # its blocks are what is stored
            case StepEnd():
                self._stop, self.usage, self.detail = event.stop, event.usage, event.detail
            case ProviderFault():
                self._stop, self.detail = "error", event.text
            case _:
                assert_never(event)


def _claim(event: FileMade) -> File:
    if event.remote is not None:
        return File(remote_uri(event.remote), event.media_type, event.name, made_by=event.made_by)
    if event.problem is not None:
        return missing_file(event.problem, event.media_type, event.name)
    return File(event.data, event.media_type, event.name, made_by=event.made_by)


def remote_uri(remote: RemoteFile) -> Uri:
    """The source of a file that is fetched from the provider before its message is stored."""
    return Uri(f"{REMOTE}{remote.container_id}/{remote.file_id}")


def remote_of(file: File) -> RemoteFile | None:
    """What to fetch from the provider for a file of a draft; None for files of any other source."""
    if not isinstance(file.source, Uri) or not file.source.value.startswith(REMOTE):
        return None
    container_id, _, file_id = file.source.value.removeprefix(REMOTE).partition("/")
    return RemoteFile(file_id, container_id)


def _is_unfinished(item: _Item) -> bool:
    return isinstance(item, _Call) and not item.has_ended
