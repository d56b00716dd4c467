"""What answers of openai-responses hold: events, items, tokens and errors, and how the last three are told in ours.

Fields are those of openai 3.54's types, and of xAI's and OpenRouter's answers where they have more.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from showandtell.core.events.types import FileMade, ProviderFault, Usage
from showandtell.core.wire.response_files import read_base64
from showandtell.core.wire.stream import MOST_WORDS, read_aside, type_of
from showandtell.core.wire.usage import NOTHING, dollars

#: What the last events say of the answer, where the answer itself doesn't.
LAST = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.done": "",  # OpenRouter (from memory)
}
CHUNKS = frozenset(
    {
        "",
        *LAST,
        "error",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.refusal.delta",
        "response.refusal.done",
    }
)
ITEMS = frozenset({"message", "reasoning", "function_call", "image_generation_call"})
#: So many of xAI's ticks are one dollar: clients of its API divide by this (public code, read 2026-11).
TICKS = 10_000_000_000
MEDIA_TYPES = {"svg": "image/svg+xml"}


class Error(Struct, gc=False):
    """What went wrong, of an answer or of one item."""

    code: str | int | None = None
    type: str | None = None
    message: str | None = None


class Chunk(Struct, gc=False):
    """One event of a stream. One loose struct takes every type: a field that a type does not have stays empty."""

    type: str = ""
    delta: str = ""
    output_index: int | None = None
    content_index: int = 0
    summary_index: int = 0
    item_id: str | None = None
    text: str = ""
    refusal: str = ""
    arguments: str = ""
    item: msgspec.Raw = NOTHING
    response: msgspec.Raw = NOTHING
    code: str | int | None = None
    message: str | None = None
    error: Error | str | None = None


class Words(Struct, gc=False):
    """A text, a refusal, a piece of reasoning or of its summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class Item(Struct, gc=False):
    """One item of an output. One loose struct takes every kind: a field that a kind does not have stays empty."""

    type: str = ""
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[Words] | None = None
    summary: list[Words] | None = None
    encrypted_content: str | None = None
    result: str | None = None
    output_format: str | None = None
    error: Error | str | None = None


class InputDetails(Struct, gc=False):
    """What the prompt was made of."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    text_tokens: int | None = None
    image_tokens: int | None = None
    audio_tokens: int | None = None


class OutputDetails(Struct, gc=False):
    """What the answer was made of."""

    reasoning_tokens: int | None = None


class Tokens(Struct, gc=False):
    """The tokens of an answer; `cost` is OpenRouter's, `cost_in_usd_ticks` xAI's."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None
    cost: Any = None
    cost_in_usd_ticks: Any = None


class Why(Struct, gc=False):
    """Why an answer is incomplete."""

    reason: str | None = None


class Response(Struct, gc=False):
    """A whole answer, as its last event or its body holds it."""

    status: str | None = None
    output: list[msgspec.Raw] | None = None
    incomplete_details: Why | None = None
    usage: msgspec.Raw = NOTHING
    error: Error | str | None = None


_chunk = msgspec.json.Decoder(Chunk)
_item = msgspec.json.Decoder(Item)
_counts = msgspec.json.Decoder(Tokens | None)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_plain = msgspec.json.Decoder()


def read_chunk(text: bytes) -> Chunk | None:
    """Decode one event; None for one of a type that we don't know, whatever its fields hold."""
    try:
        return _chunk.decode(text)
    except msgspec.ValidationError:
        if type_of(_plain.decode(text)) in (None, *CHUNKS):
            raise
        return None


def read_item(raw: msgspec.Raw) -> Item | None:
    """Decode one item; None for one of a type that we don't read, whatever its fields hold."""
    try:
        item = _item.decode(raw)
    except msgspec.ValidationError:
        if type_of(_plain.decode(raw)) not in (None, *ITEMS):
            return None
        raise
    return item if item.type in ITEMS else None


def opaque_of(item: Item, raw: msgspec.Raw) -> str | None:
    """A reasoning item as it goes back: as it came, without nulls and its status, which input need not have.

    Without its encrypted content it is known by its id alone, and only to a provider that stores answers, so it isn't
    kept; nor is one that was cut.
    """
    if not item.encrypted_content or item.status == "incomplete":
        return None
    fields = {key: value for key, value in _fields.decode(raw).items() if key != "status" and bytes(value) != b"null"}
    return msgspec.json.encode({**fields, "summary": fields.get("summary", [])}).decode()


def image_of(item: Item) -> FileMade:
    """The image that an image_generation_call made, or why there is none."""
    form = item.output_format or "png"
    media_type = MEDIA_TYPES.get(form, f"image/{form}")
    if item.error:
        return FileMade(media_type, b"", problem=f"was not made ({fault_of(item.error).text[:MOST_WORDS]})")
    return read_base64(item.result or "", media_type)


def usage_of(told: msgspec.Raw) -> Usage:
    """Tokens in our words; those of the prompt by modality only where the host tells them."""
    tokens = read_aside(_counts, told) or Tokens()
    given, made = tokens.input_tokens_details or InputDetails(), tokens.output_tokens_details or OutputDetails()
    kinds = {"text": given.text_tokens, "image": given.image_tokens, "audio": given.audio_tokens}
    return Usage(
        tokens.input_tokens or 0,
        tokens.output_tokens or 0,
        given.cached_tokens or 0,
        given.cache_write_tokens or 0,
        made.reasoning_tokens or 0,
        {kind: count for kind, count in kinds.items() if count is not None},
        dollars(tokens.cost) if tokens.cost_in_usd_ticks is None else dollars(tokens.cost_in_usd_ticks, TICKS),
    )


def fault_of(error: Error | str | None) -> ProviderFault:
    """An error in one line: its code or else its type, and its message."""
    if not isinstance(error, Error):
        return ProviderFault(error or "error")
    words = (error.code or error.type, error.message)
    return ProviderFault(": ".join(str(word) for word in words if word) or "error")
