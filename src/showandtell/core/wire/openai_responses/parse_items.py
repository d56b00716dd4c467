"""Types of openai-responses: events, items, token counts and errors, and the conversion of the last three to ours.

Fields are those of openai 3.54's types, and additional ones of xAI's and OpenRouter's responses.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from showandtell.core.events.types import ProviderFault, Usage
from showandtell.core.wire.hosted_blocks import Fields
from showandtell.core.wire.stream import decode_optional, type_of
from showandtell.core.wire.usage import NULL, dollars

#: Status of a response by its last event, if the response itself has none.
FINAL_STATUS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.done": "",  # OpenRouter (from memory)
}
CHUNK_TYPES = frozenset(
    {
        "",
        *FINAL_STATUS,
        "error",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.annotation.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.refusal.delta",
        "response.refusal.done",
    }
)
ITEM_TYPES = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
#: The type that items have here which a tool of the provider made, or whose type isn't known.
HOSTED = "hosted"
#: xAI reports costs in ticks; clients of its API divide by this (public code, read 2026-11).
TICKS_PER_DOLLAR = 10_000_000_000
#: Fields of a call that name its tool more closely, or the code of the provider that made it.
CALL_FIELDS = frozenset({"namespace", "caller"})


class Error(Struct, gc=False):
    """An error of a response or of one item."""

    code: str | int | None = None
    type: str | None = None
    message: str | None = None


class Chunk(Struct, gc=False):
    """One event of a stream. One struct covers all types; fields that a type doesn't have stay empty."""

    type: str = ""
    delta: str = ""
    output_index: int | None = None
    content_index: int = 0
    summary_index: int = 0
    item_id: str | None = None
    text: str = ""
    refusal: str = ""
    arguments: str = ""
    item: msgspec.Raw = NULL
    response: msgspec.Raw = NULL
    code: str | int | None = None
    message: str | None = None
    error: Error | str | None = None
    annotation: Fields | None = None


class TextPart(Struct, gc=False):
    """A text, a refusal, or a part of reasoning or its summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    annotations: list[Fields] | None = None


class Item(Struct, gc=False):
    """One item of an output. One struct covers all types; fields that a type doesn't have stay empty."""

    type: str = ""
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    content: list[TextPart] | None = None
    summary: list[TextPart] | None = None
    encrypted_content: str | None = None
    phase: str | None = None


class InputDetails(Struct, gc=False):
    """Prompt tokens by modality, and those read from or written to a cache."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    text_tokens: int | None = None
    image_tokens: int | None = None
    audio_tokens: int | None = None


class OutputDetails(Struct, gc=False):
    """Output tokens by kind."""

    reasoning_tokens: int | None = None


class TokenCounts(Struct, gc=False):
    """Token counts of a response. Only OpenRouter sends `cost`, only xAI `cost_in_usd_ticks`."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None
    cost: Any = None
    cost_in_usd_ticks: Any = None


class IncompleteDetails(Struct, gc=False):
    """Why a response is incomplete."""

    reason: str | None = None


class Response(Struct, gc=False):
    """A complete response: the last event of a stream, or a body."""

    status: str | None = None
    output: list[msgspec.Raw] | None = None
    incomplete_details: IncompleteDetails | None = None
    usage: msgspec.Raw = NULL
    error: Error | str | None = None


_chunk = msgspec.json.Decoder(Chunk)
_item = msgspec.json.Decoder(Item)
_counts = msgspec.json.Decoder(TokenCounts | None)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_plain = msgspec.json.Decoder()


def read_chunk(text: bytes) -> Chunk | None:
    """Decode one event. Returns None for unknown types, whatever their fields contain."""
    try:
        return _chunk.decode(text)
    except msgspec.ValidationError:
        if type_of(_plain.decode(text)) in (None, *CHUNK_TYPES):
            raise
        return None


def read_item(raw: msgspec.Raw) -> Item | None:
    """Decode one item. Of one that goes back as it is, only the id is decoded. Returns None for one without a type."""
    fields = _plain.decode(raw)
    kind = type_of(fields)
    if kind in ITEM_TYPES:
        return _item.decode(raw)
    name = fields.get("id") if kind else None
    return Item(HOSTED, name if isinstance(name, str) else None) if kind else None


def read_fields(raw: msgspec.Raw) -> Fields:
    """Decode all fields of an item."""
    return _plain.decode(raw)


def call_fields(raw: msgspec.Raw) -> str | None:
    """Return the fields of a call that go back with it, as JSON; None if it has none."""
    fields = {key: value for key, value in _plain.decode(raw).items() if key in CALL_FIELDS and value is not None}
    if type_of(_plain.decode(raw)) == "custom_tool_call":
        fields["type"] = "custom_tool_call"
    return msgspec.json.encode(fields).decode() if fields else None


def reasoning_opaque(item: Item, raw: msgspec.Raw) -> str | None:
    """Return a reasoning item as JSON for the next request: unchanged, but without nulls and status.

    Returns None for an item that was cut off, and for one without encrypted content, which only a provider that stores
    responses could look up by its id.
    """
    if not item.encrypted_content or item.status == "incomplete":
        return None
    fields = {key: value for key, value in _fields.decode(raw).items() if key != "status" and bytes(value) != b"null"}
    return msgspec.json.encode({**fields, "summary": fields.get("summary", [])}).decode()


def read_usage(raw: msgspec.Raw) -> Usage:
    """Convert token counts; prompt tokens by modality are set only if the host reports them."""
    tokens = decode_optional(_counts, raw) or TokenCounts()
    prompt, output = tokens.input_tokens_details or InputDetails(), tokens.output_tokens_details or OutputDetails()
    modalities = {"text": prompt.text_tokens, "image": prompt.image_tokens, "audio": prompt.audio_tokens}
    return Usage(
        tokens.input_tokens or 0,
        tokens.output_tokens or 0,
        prompt.cached_tokens or 0,
        prompt.cache_write_tokens or 0,
        output.reasoning_tokens or 0,
        {kind: count for kind, count in modalities.items() if count is not None},
        dollars(tokens.cost)
        if tokens.cost_in_usd_ticks is None
        else dollars(tokens.cost_in_usd_ticks, TICKS_PER_DOLLAR),
    )


def read_fault(error: Error | str | None) -> ProviderFault:
    """Convert an error to one line: its code or type, and its message."""
    if not isinstance(error, Error):
        return ProviderFault(error or "error")
    texts = (error.code or error.type, error.message)
    return ProviderFault(": ".join(str(text) for text in texts if text) or "error")
