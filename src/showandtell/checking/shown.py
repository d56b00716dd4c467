"""Values and types in the text of an error: short, without bytes, and without a `repr` that isn't Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from reprlib import Repr
from types import ModuleType
from typing import Any, Final, NamedTuple, cast

#: Values whose `repr` is short and safe.
PLAIN = (bool, int, float, complex, type(None), PurePath)


# What an annotation may say beside its type, in `Annotated`.


class Wanted(NamedTuple):
    """What to give, in the error for a wrong value; by default the types are named."""

    text: str


#: The value is never shown, not even in the error for a wrong one.
HIDDEN: Final = "hidden"
#: The function checks this parameter itself, since it knows better advice.
OWN_CHECK: Final = "own check"


class Short(Repr):
    """The start of a value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 2, 60, 60, 40
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 3

    def repr1(self, x: Any, level: int) -> str:
        """A value of a type that isn't Python's own by its class, since its `repr` may do anything."""
        if isinstance(x, PLAIN) or type(x) in (str, list, tuple, dict, set, frozenset):
            return super().repr1(x, level)
        if isinstance(x, bytes | bytearray | memoryview):
            return counted(memoryview(cast("bytes", x)).nbytes)
        if isinstance(x, ModuleType | type):
            return f"the {'class' if isinstance(x, type) else 'module'} {x.__name__}"
        return class_name(cast("object", x))


SHORT = Short()


def show(value: object) -> str:
    """A value in an error."""
    return SHORT.repr(value)


def counted(size: int) -> str:
    """A number of bytes, of which none is shown."""
    return "1 byte" if size == 1 else f"{size:,} bytes"


def class_name(value: object) -> str:
    """A value by its class alone."""
    return with_article(type(value))


def named(kind: type) -> str:
    """What to give for a class, in words. A class may have its own, in `WANTED`."""
    words = vars(kind).get("WANTED")
    return words if isinstance(words, str) else with_article(kind)


def with_article(kind: type) -> str:
    """The name of a class."""
    name = "function" if kind.__name__ in {"function", "builtin_function_or_method"} else kind.__name__
    if kind is bytes:
        return name
    return f"{'an' if name[:1] in 'AEIOaeiou' else 'a'} {name}"  # classes with U begin as in URL


def any_of(options: Sequence[str], *nothing: str) -> str:
    """Options, of which one is enough. A comma separates those that have commas, and `nothing`, from the others."""
    *first, last = dict.fromkeys(options or nothing)
    comma = "," if (nothing and not first) or any("," in option for option in (*first, last)) else ""
    listed = f"{', '.join(first)}{comma} or {last}" if first else last
    return f"{listed}, or {nothing[0]}" if options and nothing else listed
