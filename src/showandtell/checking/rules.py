"""The rules of parameters and fields, read once from their annotations."""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from inspect import isclass
from operator import attrgetter
from types import GenericAlias, NoneType, UnionType
from typing import Any, ForwardRef, Literal, NewType, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import typing_extensions
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from showandtell.checking.rule_kinds import (
    Anything,
    Bounded,
    Exact,
    Fixed,
    Hidden,
    Integer,
    Items,
    Members,
    Number,
    OneOf,
    OneRule,
    Pairs,
    Refused,
    Rule,
    Settings,
    fields_of,
    unknown,
)
from showandtell.checking.shown import HIDDEN, OWN_CHECK, Wanted
from showandtell.errors import BadInput

#: The tuples of types that a class remembers as valid. Programs have few; the limit holds for those that make classes.
MAX_SEEN = 1000
UNPACK = (Unpack, typing_extensions.Unpack)


CALLABLE: Any = Callable


class GuardedNames(dict[str, Any]):
    """The names of a module, with those that it imports for type checkers from the module in its `ANNOTATIONS`."""

    def __init__(self, module: str) -> None:
        super().__init__(vars(sys.modules.get(module, builtins)))
        self._more = self.get("ANNOTATIONS")

    def __missing__(self, name: str) -> Any:
        more = None if self._more is None else vars(import_module(self._more))
        if more is None or name not in more:
            raise KeyError(name)
        return more[name]


def hints_of(target: Any) -> dict[str, Any]:
    """The annotations of a function, or of a class and its bases. A name that is unknown makes no rule."""
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        pass
    hints: dict[str, Any] = {}
    for owner in reversed(target.__mro__) if isinstance(target, type) else (target,):
        names = GuardedNames(owner.__module__)
        for name, annotation in inspect.get_annotations(owner).items():
            holder = type("Holder", (), {"__annotations__": {name: annotation}})
            try:
                hints |= get_type_hints(holder, {}, names, include_extras=True)
            except (NameError, TypeError, AttributeError):  # a class of the program's own, defined within a function
                hints[name] = Any
    return hints


class ArgumentRules:
    """The rules of a function's parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        parameters, hints = inspect.signature(function).parameters.values(), hints_of(function)
        self.name = function.__name__
        self.positions: list[tuple[str, Rule | None]] = []
        self.by_name: dict[str, Rule] = {}
        self.rest: tuple[str, Rule | None] | None = None
        self.keywords: Mapping[str, Rule | None] | None = None
        for parameter in parameters:
            annotation = hints.get(parameter.name, Any)
            if parameter.kind is parameter.VAR_KEYWORD:
                if get_origin(annotation) in UNPACK:
                    fields = hints_of(get_args(annotation)[0])
                    self.keywords = {name: rule_of(field) for name, field in fields.items()}
                    self.by_name |= {name: rule for name, rule in self.keywords.items() if rule is not None}
                continue
            rule = rule_of(annotation)
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.rest = (parameter.name, rule)
                continue
            if parameter.kind is not parameter.KEYWORD_ONLY:
                self.positions.append((parameter.name, rule))
            if rule is not None and parameter.kind is not parameter.POSITIONAL_ONLY:
                self.by_name[parameter.name] = rule
        self.named = {parameter.name for parameter in parameters}

    def check(self, args: tuple[Any, ...], more: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with dicts as settings. Raises `BadInput` for the first that is wrong."""
        for index, ((name, rule), value) in enumerate(zip(self.positions, args, strict=False)):
            if rule is not None and type(value) not in rule.exact:
                taken = rule.take(value, name)
                if taken is not value:
                    args = (*args[:index], taken, *args[index + 1 :])
        for name, value in more.items():
            rule = self.by_name.get(name)
            if rule is None:
                self._check_name(name)
            elif type(value) not in rule.exact:
                taken = rule.take(value, name)
                if taken is not value:
                    more = {**more, name: taken}
        return args, more

    def _check_name(self, name: str) -> None:
        if self.keywords is not None and name not in self.keywords and name not in self.named:
            raise BadInput(unknown(f"{self.name} takes no {name}", name, [*self.keywords]))


@cache
def arguments_of(function: Callable[..., Any]) -> ArgumentRules:
    """The rules of a function's parameters."""
    return ArgumentRules(function)


def check_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, with dicts as settings. Raises `BadInput` for the first that is wrong."""
    try:
        return arguments_of(function).check(args, more)
    except Refused as error:
        raise BadInput(str(error)) from None


def make_check(kind: type) -> Callable[[Any], None]:
    """A function that checks the fields of a dataclass or Struct.

    Most fields are right by their type alone: instances with the same types as an earlier one need one look.
    """
    hints, defaults = hints_of(kind), fields_of(kind)
    secret = {each.name for each in dataclass_fields(kind) if not each.repr} if is_dataclass(kind) else ()
    read_rule = {name: rule_of(hints.get(name, Any)) for name in defaults}
    rules = {name: Hidden(rule) if name in secret else rule for name, rule in read_rule.items() if rule is not None}
    change = force_setattr if issubclass(kind, Struct) else object.__setattr__
    by_type = {name: rule for name, rule in rules.items() if rule.by_type}
    by_content = [(name, defaults[name], rule) for name, rule in rules.items() if not rule.by_type]
    read = attrgetter(*by_type) if by_type else None
    is_single, seen = len(by_type) == 1, set[Any]()

    def take(value: Any, name: str, rule: Rule) -> None:
        field = getattr(value, name)
        try:
            taken = rule.take(field, name)
        except Refused as error:
            raise BadInput(str(error)) from None
        if taken is not field:
            change(value, name, taken)

    def check(value: Any) -> None:
        if read is not None:
            types = type(read(value)) if is_single else tuple(map(type, read(value)))
            if types not in seen:
                for name, rule in by_type.items():
                    take(value, name, rule)
                if len(seen) < MAX_SEEN:
                    seen.add(types)
        for name, default, rule in by_content:
            field = getattr(value, name)
            if field is not default and type(field) not in rule.exact:
                take(value, name, rule)

    return check


class Checks(dict[type, Callable[[Any], None]]):
    """The checks of the classes that were used so far."""

    def __missing__(self, kind: type) -> Callable[[Any], None]:
        check = self[kind] = make_check(kind)
        return check


CHECKS = Checks()


def rule_of(annotation: Any) -> Rule | None:
    """The rule of an annotation; None for one that accepts anything."""
    if annotation in (Any, object) or isinstance(annotation, ForwardRef | str):
        return None
    if annotation in (None, NoneType):
        return Exact(NoneType, "None")
    if isinstance(annotation, TypeVar):
        default = getattr(annotation, "__default__", None)
        return rule_of(default) if isinstance(default, UnionType | type) else None
    if isinstance(annotation, NewType):
        return rule_of(annotation.__supertype__)
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return union_rule([rule_of(option) for option in get_args(annotation)])
    if origin is typing.Annotated:
        return annotated_rule(annotation)
    if origin is Literal:
        return OneOf(get_args(annotation))
    if origin is not None:
        return generic_rule(origin, get_args(annotation))
    return class_rule(annotation)


def union_rule(rules: Sequence[Rule | None]) -> Rule | None:
    """The rule of a union. A dict beside settings is one of their fields."""
    if None in rules:
        return None
    has_settings = any(isinstance(rule, Settings) for rule in rules)
    return OneRule([rule for rule in rules if rule and not (has_settings and isinstance(rule, Pairs))])


def annotated_rule(annotation: Any) -> Rule | None:
    """The rule of `Annotated`, within its limits."""
    rule = rule_of(annotation.__origin__)
    for mark in annotation.__metadata__:
        if mark == OWN_CHECK:
            return None
        if rule is not None and isinstance(mark, Wanted):
            rule.wanted = mark.text
        if rule is not None and isinstance(mark, Meta):
            rule = Bounded(rule, annotation, mark)
        if rule is not None and mark == HIDDEN:
            rule = Hidden(rule)
    return rule


def generic_rule(origin: Any, arguments: tuple[Any, ...]) -> Rule | None:
    """The rule of a generic class with arguments."""
    if not isclass(origin):  # a form of types itself
        return None
    kind: Any = origin
    if origin is type:
        return Exact(type, "a class")
    if origin is CALLABLE:
        return class_rule(CALLABLE)
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        return Fixed([rule_of(item) for item in arguments])
    if issubclass(origin, Mapping):
        return Pairs(kind, *map(rule_of, arguments))
    if origin is tuple:
        return Items(tuple, rule_of(arguments[0]), "a tuple")
    if issubclass(origin, AbstractSet):
        return Items(kind, rule_of(arguments[0]), "a set")
    if origin in (list, Sequence, Collection, Iterable):
        return Items(kind, rule_of(arguments[0]), "a list")
    return class_rule(origin)


def class_rule(kind: Any) -> Rule | None:
    """The rule of a class."""
    if kind is int:
        return Integer("an int")
    if kind is float:
        return Number("a number")
    if kind is bool:
        return Exact(bool, "True or False")
    if kind is CALLABLE:
        return Anything("a function")
    if not isclass(kind) or isinstance(kind, GenericAlias):
        return None
    if getattr(kind, "TAKES_DICT", False):
        return Settings(kind)
    if typing_extensions.is_typeddict(kind):
        return Pairs(dict, None, None)
    return Members(kind) if getattr(kind, "_is_protocol", False) else Exact(kind)
