"""What a model said, made fit for its own wire again: the arguments of its calls, and what its provider needs back."""

from __future__ import annotations

import msgspec

from showandtell.content import Opaque
from showandtell.errors import CannotRender


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


def arguments_text(text: str) -> str:
    """The same as a string, for wires that carry JSON in a string."""
    return bytes(arguments(text)).decode()
