"""Parses gemini responses, streamed or complete, from the Gemini API and from Vertex.

A signature on a call stays with the call. On any other part it becomes a reasoning block of its own after that part.
Parts about code that the provider runs, and parts of unknown types, are ignored.
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
from showandtell.core.messages.message import Stop
from showandtell.core.wire.open_block import OpenBlock
from showandtell.core.wire.partial_arguments import Partial, PartialValues, add_partial, merge_arguments
from showandtell.core.wire.response_files import UNKNOWN_TYPE, read_base64, unfetched_file
from showandtell.core.wire.stream import decode_optional, full_parser
from showandtell.core.wire.usage import NULL

#: Google's finish reasons (google-genai 3.4, FinishReason), and ours.
STOP_REASONS: dict[str, Stop] = {
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
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"", "STOP", "MAX_TOKENS"})
NO_REASON = frozenset({"", "FINISH_REASON_UNSPECIFIED"})
UNKNOWN_MODALITY = "MODALITY_UNSPECIFIED"


class _Function(Struct, gc=False, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")
    partial_args: list[Partial] | None = None
    will_continue: bool | None = None


class _Blob(Struct, gc=False, rename="camel"):
    """A file: its base64, or no data if it is only linked."""

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
    modality: str = UNKNOWN_MODALITY
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
    usage_metadata: msgspec.Raw = NULL
    error: _Error | str | None = None


_chunk = msgspec.json.Decoder(_Chunk)
_counts = msgspec.json.Decoder(_Usage | None)
_body: msgspec.json.Decoder[_Chunk | list[_Chunk]] = msgspec.json.Decoder(_Chunk | list[_Chunk])


@dataclass(slots=True)
class _Call:
    """An open call: `args` are its complete arguments, `partials` those that are streamed by path."""

    call_id: str
    provider_id: str | None
    tool: str
    args: str = "{}"
    partials: PartialValues = field(default_factory=PartialValues)
    signature: str | None = None

    def continues_with(self, function: _Function) -> bool:
        """Whether a part continues this call: it may omit id and name, or repeat the name with partial arguments."""
        is_same = function.name == self.tool and bool(function.partial_args)
        return function.id in (None, "", self.provider_id) and (not function.name or is_same)

    def add(self, function: _Function) -> None:
        self.args = _args(function) or self.args
        for partial in function.partial_args or ():
            add_partial(self.partials, partial)

    def arguments(self) -> str:
        """Return the arguments as JSON, exactly as sent if they came complete."""
        return merge_arguments(self.args, self.partials) if self.partials else self.args


@dataclass(slots=True)
class _Reader(OpenBlock):
    """Reads one response: tracks the open call, the reason it ended, and the latest usage."""

    call: _Call | None = None
    call_ids: set[str] = field(default_factory=set[str])
    reason: str = ""
    message: str = ""
    feedback: _Feedback | None = None
    usage: _Usage = field(default_factory=_Usage)
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        self.feed(_chunk.decode(text), events)

    def feed(self, chunk: _Chunk, events: list[StreamEvent]) -> None:
        if chunk.error:
            self.done = True
            events.append(_fault(chunk.error))
            return
        self.update_usage(chunk.usage_metadata)
        if chunk.prompt_feedback:
            self.feedback = chunk.prompt_feedback
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self.add_candidate(candidate, events)

    def update_usage(self, raw: msgspec.Raw) -> None:
        """Update the counts. Every chunk has running totals, and may leave some out (recorded: the last one)."""
        usage = decode_optional(_counts, raw)
        for name in _Usage.__struct_fields__ if usage else ():
            if (newer := getattr(usage, name)) is not None:
                setattr(self.usage, name, newer)

    def add_candidate(self, candidate: _Candidate, events: list[StreamEvent]) -> None:
        if candidate.content:
            for part in candidate.content.parts or ():
                self.add_part(part, events)
        # Older models send STOP with every chunk (from memory), so any other reason takes precedence.
        reason = candidate.finish_reason or ""
        if reason not in NO_REASON and (reason != "STOP" or not self.reason):
            self.reason, self.message = reason, candidate.finish_message or ""

    def add_part(self, part: _Part, events: list[StreamEvent]) -> None:
        if part.function_call is not None:
            self.add_call(part.function_call, part.thought_signature or None, events)
            return
        if part.thought:
            self.add_reasoning(part.text, events)
        elif blob := part.inline_data or part.file_data:
            self.close_block(events)
            kind = blob.mime_type or UNKNOWN_TYPE
            # Both alphabets are allowed, and the Python SDK writes the URL-safe one.
            events.append(
                read_base64(blob.data or "", kind, lenient=True) if part.inline_data else unfetched_file(kind)
            )
        else:
            self.add_text(part.text, events)
        if part.thought_signature:
            self.add_signature(part.thought_signature, events)

    def add_signature(self, signature: str, events: list[StreamEvent]) -> None:
        """End the open reasoning with a signature, or add an empty reasoning block for it after text or a file."""
        events.append(ReasoningEnd(self.ensure_reasoning(events), signature))
        self.current = None

    def add_call(self, function: _Function, signature: str | None, events: list[StreamEvent]) -> None:
        """Add a call, which is complete unless it has `willContinue`."""
        call = self.call if self.call and self.call.continues_with(function) else self.start_call(function, events)
        if call is None:
            return
        call.add(function)
        call.signature = call.signature or signature
        self.call = call if function.will_continue else None
        if self.call is None:
            events.append(ToolInputDelta(call.call_id, call.arguments()))
            events.append(ToolInputEnd(call.call_id, call.signature))

    def start_call(self, function: _Function, events: list[StreamEvent]) -> _Call | None:
        """Open a call. Returns None for the empty call that ends a streamed one, if none is open."""
        if not function.name and function.partial_args:
            raise ValueError("arguments without a call")
        if not function.name and not _args(function):
            return None
        self.close_block(events)
        call = _Call(function.id or self.unused_id(), function.id or None, function.name or "")
        self.call_ids.add(call.call_id)
        events.append(ToolInputStart(call.call_id, call.tool))
        return call

    def unused_id(self) -> str:
        """Return an id for a call without one, as on Vertex and from older models."""
        candidates = (f"call_{number}" for number in count(len(self.call_ids) + 1))
        return next(call_id for call_id in candidates if call_id not in self.call_ids)

    def end(self, events: list[StreamEvent]) -> None:
        """End the message with the body: there is no final event, and usage may come after the reason."""
        if self.done:
            return
        self.done = True
        if self.reason:
            self.close_block(events)
        stop, detail = self.stop_reason()
        events.append(StepEnd(stop, _usage(self.usage), detail))

    def stop_reason(self) -> tuple[Stop, str]:
        """Return why the message ended, and Google's reason and message if they add anything."""
        blocked = self.feedback and self.feedback.block_reason
        if self.feedback and blocked and not self.reason:
            return "refusal", _format_reason(blocked, self.feedback.block_reason_message)
        # An unknown reason may not be a success, so it counts as "cut"; `detail` has the reason.
        stop = STOP_REASONS.get(self.reason, "cut")
        if stop == "end" and self.call_ids:
            stop = "tool_calls"
        return stop, "" if self.reason in WITHOUT_DETAIL else _format_reason(self.reason, self.message)


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed, or a stream's chunks as a JSON array.

    Raises `BadAnswer` if it is not the API's JSON.
    """
    events: list[StreamEvent] = []
    reader = _Reader()
    body = _body.decode(data)
    for chunk in body if isinstance(body, list) else [body]:
        if not reader.done:
            reader.feed(chunk, events)
    reader.end(events)
    return events


def _args(function: _Function) -> str:
    """Return the arguments of a call exactly as sent, or "" if it has none."""
    args = bytes(function.args)
    return "" if args == b"null" else args.decode()


def _usage(usage: _Usage) -> Usage:
    thoughts = usage.thoughts_token_count or 0
    return Usage(
        input_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        cached_tokens=usage.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        modalities=_modalities(usage.prompt_tokens_details or ()),
    )


def _modalities(counts: Sequence[_Count]) -> dict[str, int]:
    known = (item for item in counts if item.modality != UNKNOWN_MODALITY)
    return {item.modality.lower(): item.token_count for item in known if item.token_count}


def _fault(error: _Error | str) -> ProviderFault:
    if isinstance(error, str):
        return ProviderFault(error)
    return ProviderFault(_format_reason(error.status or str(error.code or ""), error.message) or "error")


def _format_reason(reason: str, message: str | None) -> str:
    return ": ".join(text for text in (reason, message) if text)
