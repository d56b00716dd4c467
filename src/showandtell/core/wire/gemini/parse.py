"""Answers of gemini as events, be they streamed or whole, from the Gemini API and from Vertex.

A signature on a call goes with the call; on any other part it is kept by itself, after what the part said. Parts that
tell of code run by the provider, and parts of kinds that we don't know, say nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import msgspec
from msgspec import Struct

from showandtell.core.events.types import (
    ProviderFault,
    ReasoningEnd,
    StepEnd,
    StreamEvent,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.messages import Stop
from showandtell.core.wire.partial_arguments import Gathered, Partial, gather, join
from showandtell.core.wire.refusals import Spoken
from showandtell.core.wire.response_files import UNKNOWN, linked, read_base64
from showandtell.core.wire.stream import read_aside, whole_answer
from showandtell.core.wire.usage import NOTHING

#: Why a message ended, in Google's words and ours (google-genai 3.4, FinishReason).
STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "ESCALATION": "refusal",
    "MODEL_ARMOR": "refusal",
}
#: Words that ours say as well; every other one goes into the event's `detail`.
PLAIN = frozenset({"", "STOP", "MAX_TOKENS"})
UNSAID = frozenset({"", "FINISH_REASON_UNSPECIFIED"})
UNTOLD = "MODALITY_UNSPECIFIED"


class _Function(Struct, gc=False, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")
    partial_args: list[Partial] | None = None
    will_continue: bool | None = None


class _Blob(Struct, gc=False, rename="camel"):
    """A file: its base64, or nothing where it is only pointed at."""

    mime_type: str | None = None
    data: str | None = None


class _Part(Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Function | None = None
    inline_data: _Blob | None = None
    file_data: _Blob | None = None


class _Content(Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(Struct, gc=False, rename="camel"):
    index: int | None = None
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(Struct, gc=False, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Count(Struct, gc=False, rename="camel"):
    modality: str = UNTOLD
    token_count: int | None = None


class _Usage(Struct, gc=False, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None
    prompt_tokens_details: list[_Count] | None = None


class _Error(Struct, gc=False):
    code: int | str | None = None
    message: str | None = None
    status: str | None = None


class _Chunk(Struct, gc=False, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: msgspec.Raw = NOTHING
    error: _Error | str | None = None


_chunk = msgspec.json.Decoder(_Chunk)
_counts = msgspec.json.Decoder(_Usage | None)
_body: msgspec.json.Decoder[_Chunk | list[_Chunk]] = msgspec.json.Decoder(_Chunk | list[_Chunk])


@dataclass(slots=True)
class _Call:
    """A call whose arguments are still to come: those sent whole, and the others by their place, texts in pieces."""

    call_id: str
    given_id: str | None
    tool: str
    args: str = "{}"
    gathered: Gathered = field(default_factory=Gathered)
    signature: str | None = None

    def goes_on(self, function: _Function) -> bool:
        """Whether a part is more of this call: it need not repeat id and name, but repeats the name with more only."""
        is_same = function.name == self.tool and bool(function.partial_args)
        return function.id in (None, "", self.given_id) and (not function.name or is_same)

    def grow(self, function: _Function) -> None:
        self.args = _args(function) or self.args
        for partial in function.partial_args or ():
            gather(self.gathered, partial)

    def arguments(self) -> str:
        """The arguments as JSON, exactly as sent where they came whole."""
        return join(self.args, self.gathered) if self.gathered else self.args


@dataclass(slots=True)
class _Reading(Spoken):
    """What has been read of one message: the open call, the reason it ended, the newest usage."""

    call: _Call | None = None
    call_ids: set[str] = field(default_factory=set[str])
    reason: str = ""
    message: str = ""
    feedback: _Feedback | None = None
    usage: bytes | msgspec.Raw = b"null"
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Take the data of one event."""
        self.take(_chunk.decode(text), events)

    def take(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        if chunk.error:
            self.done = True
            events.append(_fault(chunk.error))
            return
        if chunk.usage_metadata != NOTHING:  # every chunk repeats it, so only the last one is decoded
            self.usage = chunk.usage_metadata
        if chunk.prompt_feedback:
            self.feedback = chunk.prompt_feedback
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self.grow(candidate, events)

    def grow(self, candidate: _Candidate, events: list[StreamEvent]) -> None:
        if candidate.content:
            for part in candidate.content.parts or ():
                self.hear(part, events)
        # Older models say STOP with every chunk (from memory), so any other word outranks it.
        word = candidate.finish_reason or ""
        if word not in UNSAID and (word != "STOP" or not self.reason):
            self.reason, self.message = word, candidate.finish_message or ""

    def hear(self, part: _Part, events: list[StreamEvent]) -> None:
        if part.function_call is not None:
            self.ask(part.function_call, part.thought_signature or None, events)
            return
        if part.thought:
            self.think(part.text, events)
        elif blob := part.inline_data or part.file_data:
            self.shut(events)
            kind = blob.mime_type or UNKNOWN
            # Both alphabets are allowed, and the Python SDK writes the url-safe one.
            events.append(read_base64(blob.data or "", kind, loose=True) if part.inline_data else linked(kind))
        else:
            self.say(part.text, events)
        if part.thought_signature:
            self.sign(part.thought_signature, events)

    def sign(self, signature: str, events: list[StreamEvent]) -> None:
        """Keep a signature: with the thought that it ends, or in a thought without words after text or a file."""
        events.append(ReasoningEnd(self.thought(events), signature))
        self.open = None

    def ask(self, function: _Function, signature: str | None, events: list[StreamEvent]) -> None:
        """Take a call, which comes whole unless it says that it goes on."""
        call = self.call if self.call and self.call.goes_on(function) else self.begin(function, events)
        if call is None:
            return
        call.grow(function)
        call.signature = call.signature or signature
        self.call = call if function.will_continue else None
        if self.call is None:
            events.append(ToolInputDelta(call.call_id, call.arguments()))
            events.append(ToolInputEnd(call.call_id, call.signature))

    def begin(self, function: _Function, events: list[StreamEvent]) -> _Call | None:
        """Open a call; None for the empty one that ends a streamed call, where none is open."""
        if not function.name and function.partial_args:
            raise ValueError("arguments belong to no call")
        if not function.name and not _args(function):
            return None
        self.shut(events)
        call = _Call(function.id or self.free_id(), function.id or None, function.name or "")
        self.call_ids.add(call.call_id)
        events.append(ToolInputStart(call.call_id, call.tool))
        return call

    def free_id(self) -> str:
        """An id for a call that has none, as on Vertex and from older models."""
        made = (f"call_{number}" for number in count(len(self.call_ids) + 1))
        return next(call_id for call_id in made if call_id not in self.call_ids)

    def end(self, events: list[StreamEvent]) -> None:
        """End with the body: no event says that nothing follows, and usage may come after the reason."""
        if self.done:
            return
        self.done = True
        if self.reason:
            self.shut(events)
        stop, detail = self.stop()
        events.append(StepEnd(stop, _usage(self.usage), detail))

    def stop(self) -> tuple[Stop, str]:
        """Why the message ended, and Google's words for it where they say more."""
        blocked = self.feedback and self.feedback.block_reason
        if self.feedback and blocked and not self.reason:
            return "refusal", _joined(blocked, self.feedback.block_reason_message)
        # A word that we don't know proves no success, so it counts as cut; `detail` says it.
        stop = STOPS.get(self.reason, "cut")
        if stop == "end" and self.call_ids:
            stop = "tool_calls"
        return stop, "" if self.reason in PLAIN else _joined(self.reason, self.message)


#: A new reader of one answer.
reading = _Reading


@whole_answer
def whole(data: bytes) -> list[StreamEvent]:
    """Read the body of an answer that was not streamed, or a stream's chunks as a JSON array.

    Raises `BadAnswer` where it is not the api's JSON.
    """
    events: list[StreamEvent] = []
    reading = _Reading()
    body = _body.decode(data)
    for chunk in body if isinstance(body, list) else [body]:
        if not reading.done:
            reading.take(chunk, events)
    reading.end(events)
    return events


def _args(function: _Function) -> str:
    """The arguments of a call exactly as sent; empty where it has none."""
    args = bytes(function.args)
    return "" if args == b"null" else args.decode()


def _usage(told: bytes | msgspec.Raw) -> Usage:
    usage = read_aside(_counts, told)
    if usage is None:
        return Usage()
    thoughts = usage.thoughts_token_count or 0
    return Usage(
        input_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        cached_tokens=usage.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        modalities=_modalities(usage.prompt_tokens_details or ()),
    )


def _modalities(counts: Sequence[_Count]) -> dict[str, int]:
    told = (item for item in counts if item.modality != UNTOLD)
    return {item.modality.lower(): item.token_count for item in told if item.token_count}


def _fault(error: _Error | str) -> ProviderFault:
    if isinstance(error, str):
        return ProviderFault(error)
    return ProviderFault(_joined(error.status or str(error.code or ""), error.message) or "error")


def _joined(word: str, message: str | None) -> str:
    return ": ".join(text for text in (word, message) if text)
