"""Prepares a model's own output for a request: arguments of its calls, and opaque parts that its provider needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from showandtell.checking.checked import checked
from showandtell.core.messages.json_pointers import replace_at
from showandtell.core.messages.parts import Opaque
from showandtell.core.planning.values import RenderedBlock
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

PartT = TypeVar("PartT")
#: Types of the reasoning blocks and items that Anthropic and OpenAI want back.
REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})


@checked
def arguments_json(text: str) -> msgspec.Raw:
    """Return the arguments of a call as a JSON object, which every API requires; the model's text may be invalid.

    OpenAI itself accepts any text. Hosts with chat templates parse it, and reply 400 if it isn't an object or holds a
    number that is out of range.
    """
    text = text.strip() or "{}"
    try:
        msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode({"INVALID_JSON": text}))
    return msgspec.Raw(text.encode())


def opaque_json(opaque: Opaque) -> msgspec.Raw:
    """Return an opaque part's JSON unchanged. Raises `CannotRender` if it isn't JSON."""
    try:
        return msgspec.json.decode(opaque.text, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        raise CannotRender(f"an opaque part of {opaque.provider} is not JSON: {error}") from error


def opaque_fields(opaque: Opaque) -> dict[str, Tree]:
    """Return the fields of an opaque part unchanged. Raises `CannotRender` if it isn't a JSON object."""
    try:
        return {**msgspec.json.decode(opaque.text, type=dict[str, msgspec.Raw])}
    except msgspec.DecodeError as error:
        raise CannotRender(f"an opaque part of {opaque.provider} is not a JSON object: {error}") from error


def block_tree(block: RenderedBlock) -> Tree:
    """Return a block with its files in place. What stands there is the head of a data URL, or null for bare base64."""
    tree: Any = msgspec.json.decode(block.opaque.text)
    for pointer, rendered in block.files:
        tree = replace_at(tree, pointer, lambda head, rendered=rendered: Slot(rendered, head or ""))
    return tree


def without_trailing_reasoning(parts: Sequence[PartT]) -> Sequence[PartT]:
    """Drop reasoning after the last text or call. A cut stream may end in reasoning, which APIs reject in history.

    OpenAI: "Item of type 'reasoning' was provided without its required following item". Anthropic: "The final block in
    an assistant message cannot be `thinking`" (tailcallhq/forgecode #2107).
    """
    end = len(parts)
    while end and isinstance(last := parts[end - 1], Opaque) and is_reasoning(last):
        end -= 1
    return parts[:end]


def is_reasoning(opaque: Opaque) -> bool:
    """Whether an opaque part is reasoning of Anthropic, OpenAI or Bedrock."""
    try:
        fields = msgspec.json.decode(opaque.text, type=dict[str, object])
    except msgspec.DecodeError:
        return False
    return "reasoningContent" in fields or fields.get("type") in REASONING_TYPES


def arguments_text(text: str) -> str:
    """Return the arguments as a string, for APIs that put JSON in a string."""
    return bytes(arguments_json(text)).decode()
