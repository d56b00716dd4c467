"""Answers of openai-chat as events, be they streamed or whole, from OpenAI and from the many hosts that speak its api.

Hosts differ in how they number and repeat tool calls, so a call is known by index and id together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

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
from showandtell.core.messages.messages import Stop
from showandtell.core.wire.refusals import Spoken
from showandtell.core.wire.response_files import read_data_url
from showandtell.core.wire.stream import read_aside, whole_answer
from showandtell.core.wire.usage import NOTHING, dollars

#: Why a message ended, in the hosts' words and ours; every word that is not OpenAI's own names its host.
STOPS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
    "model_length": "length",  # Mistral
    "error": "error",  # Mistral, OpenRouter
}
#: Where the text of OpenRouter's reasoning details is; others come whole.
GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
PLAIN = frozenset({"stop", "length", "tool_calls", "error"})


class _Function(Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Piece(Struct, gc=False):
    """Some of a tool call, or all of it."""

    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Thought(Struct, gc=False):
    text: str = ""


class _Item(Struct, gc=False):
    """Content as Mistral lists it: texts, and thoughts made of texts."""

    type: str = ""
    text: str = ""
    thinking: list[_Thought] = []


class _Url(Struct, gc=False):
    url: str = ""


class _Image(Struct, gc=False):
    """An image that the model made, as OpenRouter gives it."""

    image_url: _Url | str | None = None


class _Delta(Struct, gc=False):
    content: str | list[_Item] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Piece] | None = None
    function_call: _Function | None = None
    images: list[_Image] | None = None
    reasoning_details: list[dict[str, Any]] | None = None


class _Choice(Struct, gc=False):
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(Struct, gc=False):
    """Tokens of the prompt: cached, written to a cache, and by what they stand for."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    text_tokens: int | None = None
    image_tokens: int | None = None
    audio_tokens: int | None = None
    video_tokens: int | None = None


class _AnswerDetails(Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(Struct, gc=False):
    """`cost` is OpenRouter's, `prompt_cache_hit_tokens` DeepSeek's."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _AnswerDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cost: Any = None


class _Error(Struct, gc=False):
    message: str | None = None
    type: str | None = None


class _Groq(Struct, gc=False):
    """What Groq says of a stream beside the api's own fields."""

    usage: msgspec.Raw = NOTHING
    error: str | None = None


class _Chunk(Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: msgspec.Raw = NOTHING
    error: _Error | str | None = None
    x_groq: _Groq | None = None


_chunk = msgspec.json.Decoder(_Chunk)
_counts = msgspec.json.Decoder(_Usage | None)


@dataclass(slots=True)
class _Call:
    call_id: str
    is_empty: bool = True


@dataclass(slots=True)
class _Detail:
    """One of OpenRouter's reasoning details; `grown` names the field whose pieces are kept apart."""

    fields: dict[str, Any]
    grown: str | None
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Reading(Spoken):
    """What has been read of one message: the calls in order, the reason it ended."""

    calls: list[_Call] = field(default_factory=list[_Call])
    by_index: dict[int, _Call] = field(default_factory=dict[int, _Call])
    by_id: dict[str, _Call] = field(default_factory=dict[str, _Call])
    details: list[_Detail] = field(default_factory=list[_Detail])
    is_refused: bool = False
    reason: str = ""
    usage: bytes | msgspec.Raw = b"null"
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event."""
        if text == b"[DONE]":
            self.end(events)
        else:
            self.take(_chunk.decode(text), events)

    def take(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        if error := chunk.error or (chunk.x_groq and chunk.x_groq.error):
            self.done = True
            events.append(_fault(error))
            return
        if chunk.usage != NOTHING:  # some hosts repeat it in every chunk, so only the last one is decoded
            self.usage = chunk.usage
        elif chunk.x_groq and chunk.x_groq.usage != NOTHING:
            self.usage = chunk.x_groq.usage
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        if delta := choice.delta or choice.message:
            self.grow(delta, events)
        if choice.finish_reason and not self.reason:
            self.reason = choice.finish_reason
            self.close(events)

    def grow(self, delta: _Delta, events: list[StreamEvent]) -> None:
        if thought := delta.reasoning_content or delta.reasoning:
            self.think(thought, events)
        if isinstance(delta.content, str):
            self.say(delta.content, events)
        for item in delta.content if isinstance(delta.content, list) else ():
            self.think("".join([thought.text for thought in item.thinking]), events)
            self.say(item.text, events)
        if delta.refusal:
            self.is_refused = True
            self.say(delta.refusal, events)
        for image in delta.images or ():
            self.shut(events)
            at = image.image_url
            events.append(read_data_url(at.url if isinstance(at, _Url) else at or ""))
        for piece in delta.tool_calls or ():
            self.call(piece, events)
        if delta.function_call:
            self.call(_Piece(0, None, delta.function_call), events)
        for detail in delta.reasoning_details or ():
            _keep(detail, self.details)

    def call(self, piece: _Piece, events: list[StreamEvent]) -> None:
        call = self.find(piece)
        if call is None:
            self.shut(events)
            call = self.begin(piece, events)
        given = piece.function.arguments if piece.function else None
        if text := msgspec.json.encode(given).decode() if isinstance(given, dict) else given:
            call.is_empty = False
            events.append(ToolInputDelta(call.call_id, text))

    def find(self, piece: _Piece) -> _Call | None:
        """The call that a piece goes on with; None for a new one, which a new id or, without any, a name announces."""
        is_named = bool(piece.function and piece.function.name)
        if piece.index is not None:
            call = self.by_index.get(piece.index)
            # Some hosts give every call the index 0; others give every piece of one call a new id, but only one name.
            is_other = call and is_named and piece.id and piece.id != call.call_id
            return None if is_other else call
        if piece.id:
            return self.by_id.get(piece.id)
        return self.calls[-1] if self.calls and not is_named else None

    def begin(self, piece: _Piece, events: list[StreamEvent]) -> _Call:
        call = _Call(piece.id or f"call_{len(self.calls) + 1}")
        self.calls.append(call)
        self.by_id.setdefault(call.call_id, call)
        if piece.index is not None:
            self.by_index[piece.index] = call
        events.append(ToolInputStart(call.call_id, (piece.function and piece.function.name) or ""))
        return call

    def close(self, events: list[StreamEvent]) -> None:
        """End everything; of calls that hit the limit, the last one may be cut and is left open."""
        self.shut(events)
        is_cut = STOPS.get(self.reason, "cut") in ("length", "cut", "error")
        if self.details and not is_cut:
            name = f"r{self.count}"
            self.count += 1
            events += [ReasoningStart(name), ReasoningEnd(name, _opaque(self.details))]
        whole = self.calls[:-1] if is_cut else self.calls
        for call in whole:
            if call.is_empty:
                events.append(ToolInputDelta(call.call_id, "{}"))
            events.append(ToolInputEnd(call.call_id))

    def end(self, events: list[StreamEvent]) -> None:
        if self.done:
            return
        self.done = True
        if self.reason:
            self.shut(events)
        # A word that we don't know proves no success, so it counts as cut; `detail` says it.
        stop = STOPS.get(self.reason, "cut")
        if stop == "end" and self.calls:
            stop = "tool_calls"  # several hosts say "stop" after calls
        if self.is_refused and stop == "end":
            stop = "refusal"
        events.append(StepEnd(stop, _usage(self.usage), "" if self.reason in PLAIN else self.reason))


#: A new reader of one answer.
reading = _Reading


@whole_answer
def whole(data: bytes) -> list[StreamEvent]:
    """Read the body of an answer that was not streamed. Raises `BadAnswer` where it is not the api's JSON."""
    events: list[StreamEvent] = []
    reading = _Reading()
    chunk = _chunk.decode(data)
    for choice in chunk.choices or ():
        _number((choice.message and choice.message.tool_calls) or ())
    reading.take(chunk, events)
    reading.end(events)
    return events


def _number(calls: Sequence[_Piece]) -> None:
    """Give every call of a whole message an index, for each is a call of its own whatever its id."""
    for index, call in enumerate(calls):
        call.index = index


def _keep(fields: dict[str, Any], details: list[_Detail]) -> None:
    """Take one of OpenRouter's reasoning details; a stream gives the text of one in pieces, its signature last."""
    kind = fields.get("type")
    grown = GROWING.get(kind) if isinstance(kind, str) else None
    last = details[-1] if details else None
    if last and grown == last.grown and grown and last.fields.get("index") == fields.get("index"):
        last.fields.update((key, value) for key, value in fields.items() if value is not None)
    else:
        last = _Detail(fields, grown)
        details.append(last)
    if grown and isinstance(text := fields.get(grown), str):
        last.pieces.append(text)


def _opaque(details: list[_Detail]) -> str:
    """All details of a message as the field that the next request gives back; Claude refuses one without signature."""
    whole = [{**one.fields, **({one.grown: "".join(one.pieces)} if one.grown else {})} for one in details]
    return msgspec.json.encode({"reasoning_details": whole}).decode()


def _usage(told: bytes | msgspec.Raw) -> Usage:
    usage = read_aside(_counts, told) or _Usage()
    given, made = usage.prompt_tokens_details or _PromptDetails(), usage.completion_tokens_details or _AnswerDetails()
    kinds = {
        "text": given.text_tokens,
        "image": given.image_tokens,
        "audio": given.audio_tokens,
        "video": given.video_tokens,
    }
    return Usage(
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        given.cached_tokens or usage.prompt_cache_hit_tokens or 0,
        given.cache_write_tokens or 0,
        made.reasoning_tokens or 0,
        {kind: count for kind, count in kinds.items() if count is not None},
        dollars(usage.cost),  # Perplexity's is an object (from memory)
    )


def _fault(error: _Error | str) -> ProviderFault:
    if isinstance(error, str):
        return ProviderFault(error)
    return ProviderFault(": ".join(word for word in (error.type, error.message) if word) or "error")
