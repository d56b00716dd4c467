"""What models read of functions, kept while the functions live: a schema takes a thousand times as long to derive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

#: Number of functions whose texts are kept.
MAX_FUNCTIONS = 10_000
#: Types whose objects equal no other.
BY_IDENTITY: tuple[type, ...] = (FunctionType, partial)


class FunctionTexts:
    """One text for each function. It is kept as long as the function, which it doesn't keep alive.

    Known are functions, `functools.partial` objects, each with a text of its own, and methods, which share that of the
    function in their class. The text of any other callable is derived each time.
    """

    def __init__(self, max_size: int = MAX_FUNCTIONS) -> None:
        self._max_size = max_size
        self._texts: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._texts_of_methods: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, function: Any, derive: Callable[[], str]) -> str:
        """The text of a function; `derive` is called if it isn't known."""
        if type(function) in BY_IDENTITY:
            return self._find(self._texts, function, derive)
        # A method without a docstring of its own has that of a base class, which depends on its object's class.
        if type(function) is MethodType and type(function.__func__) is FunctionType and function.__doc__:
            return self._find(self._texts_of_methods, function.__func__, derive)
        return derive()

    def _find(self, texts: WeakKeyDictionary[Any, str], owner: object, derive: Callable[[], str]) -> str:
        text = texts.get(owner)
        if text is None:
            text = derive()
            with self._lock:
                while len(texts) >= self._max_size:
                    del texts[next(texts.keys())]  # the one that has been known for longest
                texts[owner] = text
        return text
