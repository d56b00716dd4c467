"""Tells which values are collected in a moment, so that an event loop may do it."""

from __future__ import annotations

from typing import cast

from showandtell.core.collect.nodes import HasParts
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Shown, Text

#: Maximum number of values, and of characters or bytes, that take no more than a few milliseconds.
MAX_VALUES, MAX_LENGTH = 1_000, 100_000
PLAIN_TYPES = frozenset({int, float, bool, type(None), File, Shown})


def is_quick(value: object) -> bool:
    """Whether a value is collected already, or plain and small: objects of other classes may take any time."""
    if isinstance(value, HasParts):
        return True
    remaining, length = [value], 0
    for item in remaining:
        kind = type(item)
        if kind is str or kind is bytes:
            length += len(cast("str | bytes", item))
        elif kind is Text or kind is Json:
            length += len(cast("Text | Json", item).text)
        elif kind is dict or kind is list or kind is tuple:
            items = cast("dict[object, object] | list[object]", item)
            if len(remaining) + len(items) > MAX_VALUES:
                return False
            remaining += items.values() if isinstance(items, dict) else items
        elif kind not in PLAIN_TYPES:
            return False
        if length > MAX_LENGTH:
            return False
    return True
