"""The rule of an annotation."""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from inspect import isclass
from types import GenericAlias, NoneType, UnionType
from typing import Any, ForwardRef, Literal, NewType, TypeVar, Union, get_args, get_origin

import typing_extensions
from msgspec import Meta

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
    Rule,
    Settings,
)
from showandtell.checking.shown import HIDDEN, OWN_CHECK, Wanted

CALLABLE: Any = Callable


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
