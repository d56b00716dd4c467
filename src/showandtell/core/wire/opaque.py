"""What a model said, made fit for its own wire again: the arguments of its calls, and what its provider needs back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from showandtell.core.messages.parts import Opaque
from showandtell.errors import CannotRender

SomePart = TypeVar("SomePart")
#: The types of thoughts that Anthropic and OpenAI want back.
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


def arguments(text: str) -> msgspec.Raw:
    """The arguments of a call as a JSON object. A model's text need not be one, but every wire wants one back.

    OpenAI itself takes any text; hosts with chat templates parse it, and answer 400 to what is no object, or holds a
    number that is out of range.
    """
    text = text.strip() or "{}"
    try:
        msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode({"INVALID_JSON": text}))
    return msgspec.Raw(text.encode())


def verbatim(opaque: Opaque) -> msgspec.Raw:
    """An opaque part as the JSON that it is."""
    try:
        return msgspec.json.decode(opaque.text, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        raise CannotRender(f"an opaque part of {opaque.provider} is no JSON: {error}") from error


def without_last_thoughts(parts: Sequence[SomePart]) -> Sequence[SomePart]:
    """What a model said up to its last word or call. A cut stream may end in a thought, which is refused in history.

    OpenAI: "Item of type 'reasoning' was provided without its required following item". Anthropic: "The final block in
    an assistant message cannot be `thinking`" (tailcallhq/forgecode #2107).
    """
    end = len(parts)
    while end and isinstance(last := parts[end - 1], Opaque) and _is_thought(last):
        end -= 1
    return parts[:end]


def _is_thought(opaque: Opaque) -> bool:
    """Whether an opaque part is a thought of Anthropic's, OpenAI's or Bedrock's, and nothing that was said or done."""
    try:
        fields = msgspec.json.decode(opaque.text, type=dict[str, object])
    except msgspec.DecodeError:
        return False
    return "reasoningContent" in fields or fields.get("type") in THOUGHTS


def arguments_text(text: str) -> str:
    """The same as a string, for wires that carry JSON in a string."""
    return bytes(arguments(text)).decode()
