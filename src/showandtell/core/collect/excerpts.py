"""Bounded words for values of any size. Nothing here raises, whatever the value's own methods do."""

from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Mapping
from itertools import count, islice
from math import isfinite
from typing import Any, cast

#: Maximum characters of one value in words.
MAX_CELL = 100
#: Maximum items of a list, and of a dict, that `prune` keeps.
MAX_ITEMS, MAX_KEYS = 20, 40
#: Maximum levels, and values in all, that `prune` keeps.
MAX_LEVELS, MAX_VALUES = 8, 2_000
#: Larger integers are words: JSON readers lose their last digits.
MAX_INTEGER = 1 << 53
#: Classes of pandas for a value that is missing.
MISSING = frozenset({"NAType", "NaTType"})
CONTAINERS = (list, tuple, dict, set, frozenset, deque)


class BoundedRepr(reprlib.Repr):
    """The representation of containers by their first items, and of objects by their class."""

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002 - called by these names
        """The words of an object that isn't a container."""
        return describe(x)


REPR = BoundedRepr()
REPR.maxother = REPR.maxstring = REPR.maxlong = MAX_CELL


def describe(value: object) -> str:
    """A value on one line of at most `MAX_CELL` characters. Objects without words of their own are named by class."""
    try:
        text = describe_kind(value)
    except Exception:  # noqa: BLE001 - another library's `__str__` may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def describe_kind(value: object) -> str:
    """The words of a value by its kind, not yet bounded."""
    match value:
        case str():
            return " ".join(value[: MAX_CELL + 1].split())
        case bytes() | bytearray() | memoryview():
            return f"<{memoryview(cast('bytes', value)).nbytes} bytes>"
        case _ if isinstance(value, CONTAINERS):
            return " ".join(REPR.repr(cast("Any", value)).split())
        case None | bool() | int() | float() | complex():
            return str(value)
        case _ if type(value).__name__ in MISSING:
            return "NA"
        case _:
            has_words = type(value).__str__ is not object.__str__
            return " ".join(str(value).split()) if has_words else f"<{type(value).__name__}>"


def prune(value: Any) -> object:
    """A value as JSON, with the first items of long lists and arrays, and the start of long texts."""
    return prune_level(value, MAX_LEVELS, count())


def prune_level(value: Any, levels: int, seen: count[int]) -> object:
    """A value at some level of another one, of which a number of values have been seen."""
    if next(seen) >= MAX_VALUES:
        return "…"
    match value:
        case None | bool():
            return value
        case int() if abs(value) < MAX_INTEGER:
            return int(value)
        case float() if isfinite(value):
            return float(value)
        case int() | float() | str() | bytes():
            return describe(value)
        case _ if levels == 0:
            return describe(value)
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {describe(key): prune_level(item, levels - 1, seen) for key, item in islice(items, MAX_KEYS)}
        case _:
            return prune_items(value, levels, seen)


def prune_items(value: Any, levels: int, seen: count[int]) -> object:
    """The first items of a list or of anything else that can be sliced, and how many more there are."""
    try:
        length, first = len(value), value[:MAX_ITEMS]
        items: list[Any] = first.tolist() if hasattr(first, "tolist") else list(first)
    except Exception:  # noqa: BLE001 - not a list, or another library's that raises anything
        return describe(value)
    more = [f"… {length - len(items):,} more"] if length > len(items) else []
    return [*(prune_level(item, levels - 1, seen) for item in items), *more]
