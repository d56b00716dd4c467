"""The kinds of rules: what a value may be, and how it is taken."""

from __future__ import annotations

import dataclasses
import typing
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING
from difflib import get_close_matches
from inspect import getattr_static
from operator import is_
from types import NoneType
from typing import Any, Final, cast

import msgspec
import typing_extensions
from msgspec import NODEFAULT, Meta, Struct, structs
from typing_extensions import override

from showandtell.checking.shown import any_of, class_name, named, show
from showandtell.errors import BadInput

#: The defaults of fields that have no value as their default.
REQUIRED: Final = object()
MADE: Final = object()


class Refused(Exception):
    """A value that a rule doesn't accept, before it is a `BadInput`.

    `depth` is how far inside the argument it is, and `hidden` the text without the value.
    """

    def __init__(self, text: str, depth: int, hidden: str = "") -> None:
        super().__init__(text)
        self.depth, self.hidden = depth, hidden or text


class Rule(ABC):
    """What an annotation accepts.

    `exact` are the types that are right by themselves, `wanted` says what to give, and with `by_type` the type of a
    value alone decides.
    """

    by_type = False
    exact: frozenset[type] = frozenset()

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted

    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        """The value, as settings if it is a dict of their fields. Raises `Refused`, which names it as `where`."""
        if not self.accepts(value):
            raise self.refused(value, where, depth)
        return value

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the value is right."""

    def refused(self, value: Any, where: str, depth: int) -> Refused:
        """The error for a wrong value."""
        hidden = f"{where} is {class_name(value)}: give {self.wanted}"
        return Refused(f"{where} is {show(value)}: give {self.wanted}", depth, hidden)


class Exact(Rule):
    """Instances of a class."""

    by_type = True

    def __init__(self, kind: type, wanted: str = "") -> None:
        super().__init__(wanted or named(kind))
        self.kind, self.exact = kind, frozenset() if getattr(kind, "_is_protocol", False) else frozenset({kind})

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.kind)


class Settings(Exact):
    """Settings, or a dict of their fields."""

    by_type = False  # a dict becomes another value

    def __init__(self, kind: type) -> None:
        super().__init__(kind, f"{named(kind)}, a dict of its fields")

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        if not isinstance(value, Mapping):
            return super().take(value, where, depth)
        fields = fields_of(self.kind)
        for name in typing.cast("Mapping[object, object]", value):
            if name not in fields:
                raise Refused(unknown(f"{where} has no field {show(name)}", str(name), [*fields]), depth + 1)
        try:
            return self.kind(**typing.cast("Mapping[str, Any]", value))
        except BadInput as error:
            raise Refused(f"{where}.{error}", depth + 1) from None
        except TypeError as error:  # a field without a default is missing
            given = class_name(typing.cast("object", value))
            raise Refused(f"{where} is {given}: {error}", depth + 1) from None


class Integer(Rule):
    """Integers; True and False aren't."""

    by_type = True
    exact = frozenset({int})

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)


class Number(Rule):
    """Numbers, but neither NaN nor True and False."""

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - NaN


class Anything(Rule):
    """Values that a function accepts: callables."""

    @override
    def accepts(self, value: Any) -> bool:
        return callable(value)


class OneOf(Rule):
    """A few values."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        super().__init__(any_of([repr(value) for value in values]))
        self.values, self.kinds = frozenset(values), frozenset(map(type, values))

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple(self.kinds)) and value in self.values


class Bounded(Rule):
    """Values within the limits of a `Meta`, which msgspec knows."""

    def __init__(self, inner: Rule, annotation: Any, limits: Meta) -> None:
        super().__init__(bounded(inner.wanted, limits))
        self.inner, self.annotation = inner, annotation

    @override
    def accepts(self, value: Any) -> bool:
        if not self.inner.accepts(value):
            return False
        try:
            msgspec.convert(value, self.annotation)
        except msgspec.ValidationError:
            return False
        return True


class Hidden(Rule):
    """A secret: the error has the type of a wrong value alone."""

    def __init__(self, inner: Rule) -> None:
        super().__init__(inner.wanted)
        self.inner, self.exact, self.by_type = inner, inner.exact, inner.by_type

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        try:
            return self.inner.take(value, where, depth)
        except Refused as error:
            raise Refused(error.hidden, error.depth) from None

    @override
    def accepts(self, value: Any) -> bool:
        return self.inner.accepts(value)


class OneRule(Rule):
    """A union."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        nothing = [rule.wanted for rule in rules if NoneType in rule.exact]
        options = [rule.wanted for rule in rules if NoneType not in rule.exact]
        super().__init__(any_of(options, *nothing))
        self.rules = [rule for rule in rules if NoneType not in rule.exact or len(rule.exact) > 1]
        self.exact = frozenset().union(*(rule.exact for rule in rules))
        self.by_type = all(rule.by_type for rule in rules)

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        if type(value) in self.exact:
            return value
        deepest = None
        for rule in self.rules:
            try:
                return rule.take(value, where, depth)
            except Refused as error:
                if error.depth > (deepest.depth if deepest else depth):
                    deepest = error
        raise deepest or self.refused(value, where, depth)

    @override
    def accepts(self, value: Any) -> bool:
        return type(value) in self.exact or any(rule.accepts(value) for rule in self.rules)


class Items(Rule):
    """A collection whose items have a rule. Lists are not looked into: functions append to them."""

    def __init__(self, kind: type, item: Rule | None, noun: str) -> None:
        super().__init__(f"{noun} of {plural(item.wanted)}" if item else noun)
        self.kind, self.item = kind, None if kind is list else item
        if kind is list:
            self.exact, self.by_type = frozenset({list}), True

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        if not self.accepts(value):
            raise self.refused(value, where, depth)
        if self.item is not None and isinstance(value, Collection):  # an iterator is read by the function
            value = take_items(self.item, typing.cast("Collection[Any]", value), where, depth)
        return tuple(typing.cast("list[Any]", value)) if self.kind is tuple and isinstance(value, list) else value

    @override
    def accepts(self, value: Any) -> bool:
        if self.kind is tuple:
            return isinstance(value, tuple | list)
        return isinstance(value, self.kind) and not isinstance(value, str | bytes | Mapping)


def take_items(rule: Rule, values: Collection[Any], where: str, depth: int) -> Collection[Any]:
    """The collection, or a list of its items as they are taken if one of them becomes another value."""
    if set(map(type, values)) <= rule.exact:
        return values
    taken = [rule.take(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(values)]
    return values if all(map(is_, taken, values)) else taken


class Fixed(Rule):
    """A tuple of a fixed length."""

    def __init__(self, items: Sequence[Rule | None]) -> None:
        super().__init__(f"a tuple of {', '.join(item.wanted if item else 'any value' for item in items)}")
        self.items = items

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        if not self.accepts(value):
            raise self.refused(value, where, depth)
        return tuple(
            item if rule is None else rule.take(item, f"{where}[{index}]", depth + 1)
            for index, (rule, item) in enumerate(zip(self.items, value, strict=True))
        )

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and len(typing.cast("list[object]", value)) == len(self.items)


class Pairs(Rule):
    """A mapping whose keys and values have rules."""

    def __init__(self, kind: type, key: Rule | None, value: Rule | None) -> None:
        super().__init__(f"a dict of {plural(value.wanted)}" if value and "," not in value.wanted else "a dict")
        self.kind, self.key, self.value = kind, key, value

    @override
    def take(self, value: Any, where: str, depth: int = 0) -> Any:
        if not self.accepts(value):
            raise self.refused(value, where, depth)
        for key, item in value.items():
            if self.key is not None and type(key) not in self.key.exact:
                self.key.take(key, f"a key of {where}", depth + 1)
            if self.value is not None and type(item) not in self.value.exact:
                self.value.take(item, f"{where}[{show(key)}]", depth + 1)
        return value

    @override
    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.kind)


class Members(Rule):
    """An object with the members of a protocol. A type is looked at once."""

    def __init__(self, protocol: type) -> None:
        super().__init__(named(protocol))
        self.members = typing_extensions.get_protocol_members(protocol)

    @override
    def accepts(self, value: Any) -> bool:
        return not isinstance(value, type) and all(has_member(value, name) for name in self.members)


def has_member(value: object, name: str) -> bool:
    """Whether an object has a member, without running a property."""
    missing = object()
    return getattr_static(value, name, missing) is not missing


def bounded(wanted: str, limits: Meta) -> str:
    """What to give, with its limits."""
    words = {
        "of at least": limits.ge,
        "above": limits.gt,
        "of at most": limits.le,
        "below": limits.lt,
        "of at least length": limits.min_length,
        "of at most length": limits.max_length,
    }
    parts = [f"{word} {limit:,}" for word, limit in words.items() if limit is not None]
    return f"{wanted} {' and '.join(parts)}" if parts else f"{wanted} of the right form"


def plural(wanted: str) -> str:
    """What to give several of."""
    return wanted.removeprefix("a ").removeprefix("an ")


def fields_of(kind: Any) -> dict[str, object]:
    """The fields of a dataclass or Struct by default: `REQUIRED` without one, `MADE` if each instance has its own."""
    if issubclass(kind, Struct):
        return {
            each.name: REQUIRED
            if each.required
            else MADE
            if each.default is NODEFAULT
            else cast("object", each.default)
            for each in structs.fields(kind)
        }
    return {
        each.name: (REQUIRED if each.default_factory is MISSING else MADE) if each.default is MISSING else each.default
        for each in dataclasses.fields(kind)
        if each.init
    }


def unknown(problem: str, name: str, known: list[str]) -> str:
    """A problem with a name that isn't known, with the name that was probably meant, or all that there are."""
    meant = get_close_matches(name, known, 1)
    return f"{problem}: did you mean {meant[0]}?" if meant else f"{problem}: it may have {', '.join(known)}"
