"""JSON pointers (RFC 6901) to files in JSON values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def escape_key(key: str) -> str:
    """A key as a step of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def replace_at(value: Any, pointer: str, change: Callable[[Any], object]) -> Any:
    """Replace what a pointer refers to, in place. Returns the value, or the change of it for an empty pointer."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    if not keys:
        return change(value)
    parent: Any = value
    for key in keys[:-1]:
        parent = parent[_step(parent, key)]
    last = _step(parent, keys[-1])
    parent[last] = change(parent[last])
    return value


def _step(parent: Any, key: str) -> int | str:
    return int(key) if isinstance(parent, list) else key
