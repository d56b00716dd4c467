"""`checked` for functions and classes, `Checked` for dataclasses and Structs: wrong types raise `BadInput`.

The annotations are the rule. They are read when a function is first called, so that an import costs nothing. Names
that a module imports for type checkers alone are looked up in the module that its `ANNOTATIONS` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from showandtell.checking import rules
else:  # reads annotations, which takes libraries that `from showandtell import Agent` does without
    rules = LazyModule("showandtell.checking.rules")

T = TypeVar("T")
S = TypeVar("S", bound="TakesDict")
#: The flag of functions that are coroutines, as `inspect` has it, which is slow to import.
COROUTINE = 0x80


def checked(target: T) -> T:
    """A function whose arguments are checked before it runs, or a class whose public methods and constructor are.

    A dict for a parameter that takes settings becomes these settings, and a list for a tuple becomes a tuple.

    >>> from showandtell.checking.checked import checked
    >>> @checked
    ... def repeat(text: str, times: int = 1) -> str:
    ...     return text * times
    >>> try:
    ...     repeat("ha", "3")
    ... except ValueError as error:
    ...     print(error)
    times is '3': give an int
    """
    if isinstance(target, type):
        _check_methods(target)
        return target
    return cast("T", _checked_function(cast("Any", target)))


def _check_methods(kind: Any) -> None:
    """Check the arguments of a class's own public methods, and of its constructor unless its fields are checked."""
    members: dict[str, Any] = dict(vars(cast("type", kind)))
    for name, member in members.items():
        inner = getattr(member, "__func__", member)  # a class method has its function inside
        is_public = name[0] != "_" or (name == "__init__" and not issubclass(kind, Checked))
        if is_public and hasattr(inner, "__code__"):
            function = _checked_function(inner)
            setattr(kind, name, function if inner is member else type(member)(function))


def _checked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if function.__code__.co_flags & COROUTINE:

        @wraps(function)
        async def call_async(*args: Any, **more: Any) -> Any:
            args, more = rules.check_arguments(function, args, more)
            return await function(*args, **more)

        return call_async

    @wraps(function)
    def call(*args: Any, **more: Any) -> Any:
        args, more = rules.check_arguments(function, args, more)
        return function(*args, **more)

    return call


class Checked:
    """A base of dataclasses and Structs whose fields are checked when one is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check the fields. Raises `BadInput`, which names the first that is wrong."""
        rules.CHECKS[type(self)](self)


class TakesDict(Checked):
    """A base of settings. Wherever they are annotated, a dict of their fields is taken, too."""

    __slots__ = ()
    TAKES_DICT: ClassVar = True


def settings_of(kind: type[S], given: S | Mapping[str, Any] | None) -> S:
    """The settings, or the default ones. Raises `BadInput` for a dict with a wrong field."""
    return given if isinstance(given, kind) else kind(**cast("Mapping[str, Any]", given or {}))
