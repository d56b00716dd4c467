"""Parses gemini responses, streamed or complete, from the Gemini API and from Vertex.

A signature on a call stays with the call, and one on a part that goes back as it is stays there. On any other part it
becomes a reasoning block of its own after that part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import astuple

from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    HostedCall,
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
from showandtell.core.wire.gemini.gemini_types import (
    UNKNOWN_MODALITY,
    Candidate,
    Chunk,
    Count,
    Error,
    Feedback,
    Function,
    Part,
    TokenCounts,
    WholeParts,
)
from showandtell.core.wire.gemini.hosted import (
    ADDED,
    CODE,
    describe_draft,
    describe_part,
    describe_picture,
    describe_searches,
    read_grounding,
)
from showandtell.core.wire.hosted_blocks import Fields, read_block
from showandtell.core.wire.open_block import OpenBlock
from showandtell.core.wire.partial_arguments import PartialValues, add_partial, merge_arguments
from showandtell.core.wire.response_files import UNKNOWN_TYPE, read_base64, unfetched_file
from showandtell.core.wire.stop_reasons import read_stop
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
    "OTHER": "cut",
    "MALFORMED_FUNCTION_CALL": "cut",
    "UNEXPECTED_TOOL_CALL": "cut",
    "TOO_MANY_TOOL_CALLS": "cut",
    "NO_IMAGE": "cut",
    "IMAGE_OTHER": "cut",
    "MALFORMED_RESPONSE": "cut",
    "MISSING_THOUGHT_SIGNATURE": "cut",
    "PUP_LIMITED_DISABLED": "cut",
}
#: Reasons that ours express fully; any other reason becomes the event's `detail`.
WITHOUT_DETAIL = frozenset({"", "STOP", "MAX_TOKENS"})
NO_REASON = frozenset({"", "FINISH_REASON_UNSPECIFIED"})
#: Forms of token counts that wait to be decoded. Real responses have two or three.
MAX_FORMS = 16
#: Fields of a candidate that say what its text rests on.
SOURCES = ("grounding_metadata", "url_context_metadata", "citation_metadata")


_chunk = msgspec.json.Decoder(Chunk)
_counts = msgspec.json.Decoder(TokenCounts | None)
_fields: msgspec.json.Decoder[Fields | None] = msgspec.json.Decoder(dict[str, Any] | None)
_any = msgspec.json.Decoder()


@dataclass(slots=True)
class _Call:
    """An open call: `args` are its complete arguments, `partials` those that are streamed by path."""

    call_id: str
    provider_id: str | None
    tool: str
    args: str = "{}"
    partials: PartialValues = field(default_factory=PartialValues)
    signature: str | None = None

    def continues_with(self, function: Function) -> bool:
        """Whether a part continues this call: it may omit id and name, or repeat the name with partial arguments."""
        is_same = function.name == self.tool and bool(function.partial_args)
        return function.id in (None, "", self.provider_id) and (not function.name or is_same)

    def add(self, function: Function) -> None:
        self.args = _args(function) or self.args
        for partial in function.partial_args or ():
            add_partial(self.partials, partial)

    def arguments(self) -> str:
        """Return the arguments as JSON, exactly as sent if they came complete."""
        return merge_arguments(self.args, self.partials) if self.partials else self.args


@dataclass(slots=True)
class _Reader(OpenBlock):
    """Reads one response: tracks the open call, the reason it ended, and the latest usage.

    `code` is the tool and call of the newest code, which makes the files after it.
    """

    call: _Call | None = None
    call_ids: set[str] = field(default_factory=set[str])
    reason: str = ""
    message: str = ""
    feedback: Feedback | None = None
    usage: TokenCounts = field(default_factory=TokenCounts)
    totals: dict[bytes, msgspec.Raw] = field(default_factory=dict[bytes, msgspec.Raw])
    hosted: HostedCalls = field(default_factory=HostedCalls)
    hosted_count: int = 0
    code: tuple[str, str] | None = None
    sources: dict[str, Fields] = field(default_factory=lambda: {name: {} for name in SOURCES})
    pieces: list[str] = field(default_factory=list[str])
    text_id: str = ""
    done: bool = False

    def read(self, text: bytes, events: list[StreamEvent]) -> None:
        """Read the data of one event."""
        self.feed(_chunk.decode(text), text, events)

    def feed(self, chunk: Chunk, raw: bytes | msgspec.Raw, events: list[StreamEvent]) -> None:
        if chunk.error:
            self.done = True
            events.append(_fault(chunk.error))
            return
        self.update_usage(chunk.usage_metadata)
        if chunk.prompt_feedback:
            self.feedback = chunk.prompt_feedback
        for at, candidate in enumerate(chunk.candidates or ()):
            if not candidate.index:
                self.add_candidate(candidate, raw, at, events)

    def update_usage(self, raw: msgspec.Raw) -> None:
        """Keep running totals. Every chunk has some, and may leave some out (recorded: the last one).

        They are decoded at the end: of those that differ in numbers alone, only the last one.
        """
        if raw is NULL:
            return
        form = bytes(raw).translate(None, b"0123456789")
        self.totals.pop(form, None)
        self.totals[form] = raw
        if len(self.totals) > MAX_FORMS:
            self.decode_usage()

    def decode_usage(self) -> TokenCounts:
        """The newest of each count."""
        for raw in self.totals.values():
            if usage := decode_optional(_counts, raw):
                counts = zip(astuple(self.usage), astuple(usage), strict=True)
                self.usage = TokenCounts(*[before if newer is None else newer for before, newer in counts])
        self.totals.clear()
        return self.usage

    def add_candidate(
        self, candidate: Candidate, raw: bytes | msgspec.Raw, index: int, events: list[StreamEvent]
    ) -> None:
        whole = None
        for at, part in enumerate((candidate.content and candidate.content.parts) or ()):
            if part.text is None and part.is_whole:
                whole = whole or WholeParts(raw, index)
                if self.add_whole(part, whole.part(at), events):
                    continue
            self.add_part(part, events)
        if not candidate.is_without_sources:
            for name in SOURCES:
                if (found := decode_optional(_fields, getattr(candidate, name))) is not None:
                    self.sources[name] = {**self.sources[name], **found}
        # Older models send STOP with every chunk (from memory), so any other reason takes precedence.
        reason = candidate.finish_reason or ""
        if reason not in NO_REASON and (reason != "STOP" or not self.reason):
            self.reason, self.message = reason, candidate.finish_message or ""

    def add_whole(self, part: Part, fields: Fields, events: list[StreamEvent]) -> bool:
        """Add a part that goes back as it is: a file, or one of a tool that Google runs. False if it is neither."""
        if not fields.keys() - ADDED:
            return False
        if part.inline_data is not None and part.thought:
            block = describe_draft(part.inline_data.mime_type, self.hosted_count)
            self.hosted_count += 1
        elif part.inline_data is not None:
            block = describe_picture(fields, self.code)
            if not block.files:
                return False
            self.close_block(events)
            self.code = None
        else:
            self.close_block(events)
            block = describe_part(fields, self.hosted_count, self.code[1] if self.code else "")
            self.hosted_count += 1
            self.code = (block.tool, block.call_id) if block.tool == CODE else None
        read_block(block, self.hosted, events)
        return True

    def add_text(self, text: str | None, events: list[StreamEvent]) -> None:
        """Add text, and keep the newest one, whose sources come at the end."""
        if not text:
            return
        before = self.count
        OpenBlock.add_text(self, text, events)
        self.code = None
        if self.count != before:
            self.pieces, self.text_id = [], f"t{self.count - 1}"
        self.pieces.append(text)

    def add_sources(self, events: list[StreamEvent]) -> None:
        """Add what the answer rests on: searches that came as no parts, and the sources of its text."""
        grounding, urls, citations = (self.sources[name] for name in SOURCES)
        if not self.hosted_count:
            for block in describe_searches(grounding, urls):
                events.append(HostedCall(block.call_id, block.tool, state="running"))
                read_block(block, self.hosted, events)
        if self.text_id:
            events += read_grounding(self.text_id, "".join(self.pieces), grounding, citations)

    def add_part(self, part: Part, events: list[StreamEvent]) -> None:
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

    def add_call(self, function: Function, signature: str | None, events: list[StreamEvent]) -> None:
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

    def start_call(self, function: Function, events: list[StreamEvent]) -> _Call | None:
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

    def end(self, events: list[StreamEvent], *, is_whole: bool = False) -> None:
        """End the message with the body: there is no final event, and usage may come after the reason.

        `is_whole`: the body wasn't streamed, so it can't lack its end.
        """
        if self.done:
            return
        self.done = True
        self.add_sources(events)
        has_usage = bool(self.totals) or self.usage != TokenCounts()
        has_content = bool(self.count or self.call_ids or self.hosted_count) and self.call is None
        stop, detail = self.stop_reason(is_whole=(is_whole or bool(self.reason)) and has_usage and has_content)
        if self.reason or stop == "end":
            self.close_block(events)
        events.append(StepEnd(stop, _usage(self.decode_usage()), detail))

    def stop_reason(self, *, is_whole: bool) -> tuple[Stop, str]:
        """Return why the message ended, and Google's reason and message if they add anything."""
        blocked = self.feedback and self.feedback.block_reason
        if self.feedback and blocked and not self.reason:
            return "refusal", _format_reason(blocked, self.feedback.block_reason_message)
        stop = read_stop(self.reason, STOP_REASONS, is_whole=is_whole)
        return stop, "" if self.reason in WITHOUT_DETAIL else _format_reason(self.reason, self.message)


new_reader = _Reader


@full_parser
def parse_full(data: bytes) -> list[StreamEvent]:
    """Parse the body of a response that wasn't streamed, or a stream's chunks as a JSON array.

    Raises `BadAnswer` if it is not the API's JSON.
    """
    events: list[StreamEvent] = []
    reader = _Reader()
    raws = msgspec.json.decode(data, type=list[msgspec.Raw]) if data.lstrip()[:1] == b"[" else [data]
    for raw in raws:
        if not reader.done:
            reader.feed(_chunk.decode(raw), raw, events)
    reader.end(events, is_whole=True)
    return events


def _args(function: Function) -> str:
    """Return the arguments of a call exactly as sent, or "" if it has none."""
    args = bytes(function.args)
    return "" if args == b"null" else args.decode()


def _usage(usage: TokenCounts) -> Usage:
    thoughts = usage.thoughts_token_count or 0
    return Usage(
        input_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        cached_tokens=usage.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        modalities=_modalities(usage.prompt_tokens_details or ()),
    )


def _modalities(counts: Sequence[Count]) -> dict[str, int]:
    known = (item for item in counts if item.modality != UNKNOWN_MODALITY)
    return {item.modality.lower(): item.token_count for item in known if item.token_count}


def _fault(error: Error | str) -> ProviderFault:
    if isinstance(error, str):
        return ProviderFault(error)
    return ProviderFault(_format_reason(error.status or str(error.code or ""), error.message) or "error")


def _format_reason(reason: str, message: str | None) -> str:
    return ": ".join(text for text in (reason, message) if text)
