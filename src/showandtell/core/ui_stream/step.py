"""What a model says in one step, as chunks: texts, thoughts and calls, in the order in which they began."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import msgspec
from msgspec import Raw

from showandtell.core.events.annotations import Aside, TruncatedCall
from showandtell.core.events.types import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.ui_stream import chunks as ui

NOT_WHOLE = "the call was not whole, so it was not run"
#: So many letters of base64 in a row may be a file that is written out among words. The rest of that text waits for
#: the stored message, in which it is a file.
LONG = 100
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
RUN = re.compile(r"[A-Za-z0-9+/_-]{100}")
#: What may be keys for which the stock client throws a chunk away (secureJsonParse in @ai-sdk/provider-utils).
SUSPECT = re.compile(r"__proto__|constructor|\\u00[567]", re.IGNORECASE)
_NOTHING = object()

Chunks: TypeAlias = Sequence[ui.Chunk]


@dataclass(slots=True, eq=False)
class _Words:
    """A text or a thought; `run` is how many letters of base64 it ends with."""

    id: str
    is_thought: bool
    pieces: list[str] = field(default_factory=list[str])
    sent: int = 0
    run: int = 0
    is_held: bool = False
    has_begun: bool = False
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
        return "".join(self.pieces)


_Item: TypeAlias = _Words | _Call


class Saying:
    """One step after the other. `open_step` gives the chunks that begin it, once its first word is there."""

    def __init__(self, open_step: Callable[[], Chunks]) -> None:
        self._open_step = open_step
        self.begin(0)

    def begin(self, step: int, *, watches: bool = True) -> None:
        """From now on this step is said. `watches`: texts are held back that may hold a file."""
        self._prefix, self._watches = f"{step}.", watches
        self._items: list[_Item] = []
        self._sent: list[_Item] = []
        self._texts: dict[str, _Words] = {}
        self._thoughts: dict[str, _Words] = {}
        self._calls: dict[str, _Call] = {}

    def start_text(self, event: TextStart) -> Chunks:
        """A text begins; its first word says so."""
        return self._start_words(self._texts, event.id, is_thought=False)

    def add_text(self, event: TextDelta) -> Chunks:
        """More of a text."""
        text, words = event.text, self._texts.get(event.id)
        if words is None:
            self.start_text(TextStart(event.id))
            words = self._texts[event.id]
        words.pieces.append(text)
        if words.is_held or (self._watches and may_hold_file(words, text)):
            words.is_held = True
            return ()
        if words.has_begun:
            words.sent += 1
            return (ui.MoreText(words.id, text),)
        return self._send(words)

    def end_text(self, event: TextEnd) -> Chunks:
        """A text is whole."""
        return self._end_words(self._texts.pop(event.id, None))

    def start_thought(self, event: ReasoningStart) -> Chunks:
        """A thought begins; its first word says so."""
        return self._start_words(self._thoughts, event.id, is_thought=True)

    def add_thought(self, event: ReasoningDelta) -> Chunks:
        """More of a thought."""
        text, words = event.text, self._thoughts.get(event.id)
        if words is None:
            self.start_thought(ReasoningStart(event.id))
            words = self._thoughts[event.id]
        words.pieces.append(text)
        if words.has_begun:
            words.sent += 1
            return (ui.MoreReasoning(words.id, text),)
        return self._send(words)

    def end_thought(self, event: ReasoningEnd) -> Chunks:
        """A thought is whole."""
        return self._end_words(self._thoughts.pop(event.id, None))

    def start_call(self, event: ToolInputStart) -> Chunks:
        """A call begins."""
        if event.call_id in self._calls:
            return ()
        self._calls[event.call_id] = call = _Call(event.call_id, event.tool)
        self._items.append(call)
        self._sent.append(call)
        return (*self._open_step(), ui.BeginInput(call.call_id, call.tool))

    def add_input(self, event: ToolInputDelta) -> Chunks:
        """More of a call's arguments."""
        call = self._calls.get(event.call_id)
        if call is None or call.has_ended:
            return ()
        call.pieces.append(event.text)
        return (ui.MoreInput(event.call_id, event.text),)

    def end_call(self, event: ToolInputEnd) -> Chunks:
        """A call's arguments are whole, whatever they are."""
        call = self._calls.get(event.call_id)
        if call is None or call.has_ended:
            return ()
        call.has_ended = True
        return (spell_input(call.call_id, call.tool, call.text or "{}"),)

    def end(self, *, drops: bool = False) -> list[ui.Chunk]:
        """End what is open, and say of calls that broke off that they did. `drops`: what was held back never comes."""
        found: list[ui.Chunk] = []
        for item in self._items:
            if isinstance(item, _Words):
                found += () if item.is_held and drops else self._send(item)
                item.is_held = False
                found += self._end_words(item)
            elif not item.has_ended:
                found.append(ui.InputError(item.call_id, item.tool, item.text, NOT_WHOLE))
        return found

    def differs(self, message: Message, asides: Sequence[Aside]) -> bool:
        """Whether what was sent isn't what was stored: files were found in a text, or two texts came at once."""
        torn = {one.call_id for one in asides if isinstance(one, TruncatedCall)}
        there = [item for item in self._items if isinstance(item, _Call) or item.text]
        said = [_word(item) for item in there if isinstance(item, _Words) or item.call_id not in torn]
        stored = [_stored(part) for part in message.parts if isinstance(part, Text | ToolCall)]
        return [word for word in said if word is not None] != stored or there != self._sent

    def _start_words(self, there: dict[str, _Words], key: str, *, is_thought: bool) -> Chunks:
        before = self._end_words(there.get(key))
        there[key] = words = _Words(self._prefix + key, is_thought)
        self._items.append(words)
        return before

    def _send(self, words: _Words) -> Chunks:
        """What wasn't sent of a text yet; an empty one is never begun."""
        text = "".join(words.pieces[words.sent :])
        if not text:
            return ()
        words.sent = len(words.pieces)
        more = ui.MoreReasoning(words.id, text) if words.is_thought else ui.MoreText(words.id, text)
        if words.has_begun:
            return (more,)
        words.has_begun = True
        self._sent.append(words)
        start = ui.BeginReasoning(words.id) if words.is_thought else ui.BeginText(words.id)
        return (*self._open_step(), start, more)

    def _end_words(self, words: _Words | None) -> Chunks:
        if words is None or words.is_held or words.has_ended or not words.has_begun:
            return ()
        words.has_ended = True
        return (ui.EndReasoning(words.id) if words.is_thought else ui.EndText(words.id),)


def spell_input(call_id: str, tool: str, text: str) -> ui.Input | ui.InputError:
    """A call's arguments as they are, if they are JSON: they are checked, and not encoded again."""
    value = _read(text)
    if value is _NOTHING:
        return ui.InputError(call_id, tool, text, NOT_WHOLE)
    if SUSPECT.search(text) and is_refused(value):
        return ui.Input(call_id, tool, text)
    return ui.Input(call_id, tool, Raw(text.encode()))


def is_refused(value: object) -> bool:
    """Whether the stock client throws away what holds this value: for keys by which prototypes are polluted."""
    left = [value]
    while left:
        found = left.pop()
        if isinstance(found, dict):
            held = cast("dict[str, object]", found)
            inner = held.get("constructor")
            if "__proto__" in held or (isinstance(inner, dict) and "prototype" in inner):
                return True
            left += held.values()
        elif isinstance(found, list):
            left += cast("list[object]", found)
    return False


def may_hold_file(words: _Words, text: str) -> bool:
    """Whether a text has so many letters of base64 in a row that they may be a file."""
    if len(text) >= LONG and RUN.search(text):
        return True
    rest = len(text.rstrip(LETTERS))
    words.run = len(text) - rest + (0 if rest else words.run)
    return words.run >= LONG


def _read(text: str) -> object:
    """The value of a JSON text, or nothing."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _NOTHING


def _word(item: _Item) -> str | None:
    if isinstance(item, _Call):
        return item.call_id
    return None if item.is_thought else item.text


def _stored(part: Text | ToolCall) -> str:
    return part.text if isinstance(part, Text) else part.call_id
