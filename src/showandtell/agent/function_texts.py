"""What models read of functions, kept while the functions live: a schema takes a thousand times as long to derive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any, cast
from weakref import WeakKeyDictionary

#: Number of functions whose texts are kept.
MAX_FUNCTIONS = 10_000


class FunctionTexts:
    """One text for each function. It is kept as long as the function, which it doesn't keep alive.

    Known are functions, `functools.partial` objects, each with a text of its own, and methods, which share that of the
    function in their class. The text of any other callable is derived each time.
    """

    def __init__(self, max_size: int = MAX_FUNCTIONS) -> None:
        self._max_size = max_size
        self._texts: WeakKeyDictionary[Any, dict[bool, str]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, function: Callable[..., Any], derive: Callable[[], str]) -> str:
        """The text of a function; `derive` is called if it isn't known."""
        owner = owner_of(function)
        if owner is None:
            return derive()
        is_bound = owner is not function  # and so lacks the first parameter
        with self._lock:
            text = self._texts.get(owner, {}).get(is_bound)
        if text is None:
            text = derive()
            with self._lock:
                self._make_room()
                self._texts.setdefault(owner, {})[is_bound] = text
        return text

    def _make_room(self) -> None:
        """Drop the function that has been known for longest if all places are taken."""
        if len(self._texts) >= self._max_size:
            del self._texts[next(self._texts.keys())]


def owner_of(function: Any) -> object | None:
    """The object that a text depends on and lives as long as; None if it may depend on more."""
    if type(function) in {FunctionType, partial}:
        return cast("object", function)
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType) and function.__doc__:
        return function.__func__  # without a docstring of its own, it has that of a base class
    return None
