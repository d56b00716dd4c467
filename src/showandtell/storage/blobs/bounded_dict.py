"""A thread-safe dict with a maximum size, for values that can be computed again."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruDict(Generic[Key, Value]):
    """Holds at most `max_size` values. When it is full, the value that was set first is dropped."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._values: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """The value of a key, or None."""
        with self._lock:
            return self._values.get(key)

    def add(self, key: Key, value: Value) -> None:
        """Set a value."""
        with self._lock:
            self._values.pop(key, None)
            while len(self._values) >= self._max_size:
                del self._values[next(iter(self._values))]
            self._values[key] = value

    def drop(self, key: Key) -> None:
        """Remove a key."""
        with self._lock:
            self._values.pop(key, None)
