"""Metadata of files and results: a program's own JSON, stored with the message and never sent to a model."""

from __future__ import annotations

from json import JSONEncoder
from typing import Any

import msgspec

from showandtell.errors import BadInput

#: Maximum characters of metadata as JSON.
MAX_METADATA = 32_000
#: Maximum characters of a program's own id of a file.
MAX_ID = 256
#: Writes in pieces, so that a large value is given up early.
ENCODER = JSONEncoder(allow_nan=False, separators=(",", ":"))


def dump_metadata(value: object) -> str:
    """The value as JSON text. Raises `BadInput` for anything but JSON, and for more than 32,000 characters."""
    pieces: list[str] = []
    size = 0
    try:
        for piece in ENCODER.iterencode(value):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_METADATA:
                break
        text = "".join(pieces)
        if size <= MAX_METADATA:
            msgspec.json.decode(text)  # which refuses half an emoji and numbers beyond any range
            return text
    except (TypeError, ValueError, RecursionError, msgspec.DecodeError) as error:
        raise BadInput(f"metadata is not JSON ({error}): give text, numbers, lists and dicts") from error
    raise BadInput(f"metadata has more than {MAX_METADATA:,} characters: keep it yourself, and give its key")


def load_metadata(text: object) -> Any:
    """The value of stored metadata. None if there is none."""
    return msgspec.json.decode(text) if isinstance(text, str) else None


def check_id(identifier: object) -> None:
    """Raise `BadInput` for an id that can't be stored."""
    if not isinstance(identifier, str) or not 0 < len(identifier) <= MAX_ID:
        raise BadInput(f"the id of a file is a text of 1 to {MAX_ID} characters, not {identifier!r:.40}")
    if not identifier.isprintable():
        raise BadInput(f"the id of a file, {identifier!a:.60}, has characters that can't be printed")
