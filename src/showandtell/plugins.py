"""What other packages and programs add: a registry for each kind of thing, filled by calls and by entry points.

Packages are asked only for names that nothing else has, and for lists of everything: finding their entry points takes
some milliseconds, and importing `importlib.metadata` more.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, distributions, entry_points
from types import MappingProxyType
from typing import Final, Generic, TypeVar

from showandtell.checking.shown import class_name, named
from showandtell.errors import BadInput

T = TypeVar("T")
#: What the groups of our entry points begin with.
PREFIX: Final = "showandtell."
#: What code of packages may raise, which calls sys.exit, too. Only Ctrl-C ends the program.
MISTAKES: Final = (Exception, SystemExit)
#: Bytes are bytes in what packages bring, and no base64.
KEPT: Final = (bytes,)


class Registry(Generic[T]):
    """Values by name: those that a program registered, and those that installed packages bring.

    group: the entry points of packages. read: makes a value of an entry point's name and object, or raises `BadInput`.
    name_of: the name of a value. is_built_in: whether a name is taken by something that is built in. what: one of them,
    in errors.
    """

    def __init__(
        self,
        group: str,
        what: str,
        read: Callable[[str, object], T],
        name_of: Callable[[T], str],
        is_built_in: Callable[[str], bool],
    ) -> None:
        self.group, self.what = group, what
        self._read, self._name_of, self._is_built_in = read, name_of, is_built_in
        self._values: dict[str, T] = {}
        self._lock, self._is_asking, self._is_complete = threading.RLock(), False, False

    def register(self, value: T) -> None:
        """Add a value. The same one again changes nothing. Raises `BadInput` for a name that another one has."""
        name = self._name_of(value)
        if self._is_built_in(name) or self._values.setdefault(name, value) != value:
            raise BadInput(f"there is another {self.what} {name!r} already: give yours a name of its own")

    def so_far(self) -> Mapping[str, T]:
        """Those that a program registered or that something has needed, by name. Asks no packages."""
        return MappingProxyType(self._values)

    def all(self) -> Mapping[str, T]:
        """All values, by name."""
        if not self._is_complete:
            self._ask_packages()
        return MappingProxyType(self._values)

    def find(self, name: str) -> T | None:
        """The value of a name. Packages are asked only if nothing else has it."""
        if self._is_built_in(name):
            return None
        return self._values.get(name) or self.all().get(name)

    def _ask_packages(self) -> None:
        """Register what installed packages bring. A mistake in one of them is a warning, and the others are there."""
        with self._lock:
            if self._is_asking or self._is_complete:
                return  # a module that is being imported asks for names: it gets those that are there
            self._is_asking = True
            try:
                self._load_entries()
                self._is_complete = True
            finally:
                self._is_asking = False

    def _load_entries(self) -> None:
        for entry in entry_points(group=self.group):
            for found in load(entry):
                try:
                    self.register(self._read(entry.name, found))
                except BadInput as error:
                    warnings.warn(f"{describe(entry)} is left out: {error}", RuntimeWarning, stacklevel=5)


def expect(value: object, kind: type[T]) -> T:
    """A value of a class. Raises `BadInput` for others."""
    if isinstance(value, kind):
        return value
    raise BadInput(f"{value!r:.80} is {class_name(value)}: give {named(kind)}")


def instances_of(kind: type[T]) -> Callable[[str, object], T]:
    """Return the `read` of a registry whose entry points name values of a class."""

    def read(_: str, found: object) -> T:
        if isinstance(found, kind):
            return found
        raise BadInput(f"it names {class_name(found)}, not {named(kind)}")

    return read


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question with the known name that is nearest to a name; empty if none is near."""
    near = get_close_matches(name, [*known], 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def load_plugin(group: str, name: str) -> object | None:
    """The object of one entry point; None if no package has it, or if it can't be imported, with a warning.

    Of several packages with this name the first one counts, with a warning about the others.
    """
    found = [*entry_points(group=group, name=name)]
    for entry in found[1:]:
        warnings.warn(f"{describe(entry)} is left out: another package has that name", RuntimeWarning, stacklevel=2)
    return next((value for entry in found[:1] for value in load(entry)), None)


def list_plugins(group: str) -> tuple[str, ...]:
    """The names of the entry points of a group. Imports none of them."""
    return tuple(sorted(entry.name for entry in entry_points(group=group)))


def list_packages() -> Mapping[str, Mapping[str, set[str]]]:
    """The names of all our entry points, by package and by group. Imports none of them."""
    found: dict[str, dict[str, set[str]]] = {}
    for package in distributions():
        for entry in package.entry_points:
            if entry.group.startswith(PREFIX):
                found.setdefault(package.name, {}).setdefault(entry.group, set()).add(entry.name)
    return found


def load(entry: EntryPoint) -> tuple[object, ...]:
    """The object of an entry point; nothing and a warning if it can't be imported."""
    try:
        found: object = entry.load()
    except BadInput as error:
        reason = str(error)
    except MISTAKES as error:
        reason = f"{type(error).__name__}: {error}"
    else:
        if found is not None:
            return (found,)
        reason = "it is None"
    warnings.warn(f"{describe(entry)} can't be loaded: {reason}", RuntimeWarning, stacklevel=3)
    return ()


def describe(entry: EntryPoint) -> str:
    """An entry point in a warning: its package, its name and its group."""
    package = entry.dist.name if entry.dist is not None else "a package"
    return f"{package}: its entry point {entry.name!r} in {entry.group}"
