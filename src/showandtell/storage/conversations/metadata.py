"""Metadata of conversations: a JSON object of the program's own, which nothing here reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from showandtell.errors import BadInput

#: Maximum bytes of a conversation's metadata as JSON.
MAX_METADATA = 16 * 1024

read_object = msgspec.json.Decoder(dict[str, Any]).decode


def serialize_metadata(metadata: Mapping[str, Any]) -> str | None:
    """Metadata as it is stored; None for an empty one. Raises `BadInput` unless it is a JSON object of this size."""
    try:
        text = msgspec.json.encode(dict(metadata))
        is_same = read_object(text) == metadata
    except (TypeError, ValueError, RecursionError, msgspec.DecodeError) as error:
        raise BadInput(f"the metadata is not a JSON object ({error}): use a dict of JSON values") from None
    if not is_same:  # such as a date, which would come back as text
        raise BadInput("the metadata has values that JSON doesn't keep: use a dict of JSON values")
    if len(text) > MAX_METADATA:
        raise BadInput(f"the metadata has {len(text):,} bytes as JSON: use up to {MAX_METADATA:,}")
    return text.decode() if metadata else None


def read_metadata(text: str | None) -> dict[str, Any]:
    """The metadata of a conversation."""
    return {} if text is None else read_object(text)
