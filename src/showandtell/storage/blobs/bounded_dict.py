"""A bounded memory of what was found out: threads share it, and what was learnt first is forgotten first."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruDict(Generic[Key, Value]):
    """At most `most` values by key. Nothing that is in it may be needed: it is found out again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """What is known under a key."""
        with self._lock:
            return self._known.get(key)

    def add(self, key: Key, value: Value) -> None:
        """Remember a value, in place of an older one."""
        with self._lock:
            self._known.pop(key, None)
            while len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[key] = value

    def drop(self, key: Key) -> None:
        """Forget what is known under a key."""
        with self._lock:
            self._known.pop(key, None)
