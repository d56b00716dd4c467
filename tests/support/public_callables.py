"""Every function, constructor and method that a program can call, with the rule of each of its parameters."""

import importlib
import inspect
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.checking.rule_kinds import REQUIRED, fields_of
from showandtell.checking.rules import arguments_of, hints_of, rule_of
from support.public_modules import MODULES


class Parameter(NamedTuple):
    """A parameter of a public callable, or a field of a value that programs make."""

    callable: str
    name: str
    annotation: object
    rule: object
    owner: Callable

    def __str__(self):
        return f"{self.callable}({self.name})"

    @property
    def is_field(self):
        return inspect.isclass(self.owner)

    def give(self, value):
        """Call with a value, and valid ones for the other fields; a check comes before missing arguments are seen."""
        if not self.is_field:
            called = self.owner(**{self.name: value})
            return called.send(None) if inspect.iscoroutine(called) else called
        hints = hints_of(self.owner)
        needed = [name for name, default in fields_of(self.owner).items() if default is REQUIRED]
        return self.owner(**{name: a_valid(hints[name]) for name in needed} | {self.name: value})


def public_names():
    """The public classes and functions by name. Errors take anything: raising one must not fail."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if callable(value) and not is_error and getattr(value, "__module__", "").startswith("showandtell"):
                found[f"{module.__name__.removeprefix('showandtell.')}.{name}"] = value
    return found


@cache
def parameters():
    """All parameters of public callables, each once."""
    found = {}
    for name, value in public_names().items():
        for parameter in of_class(name, value) if inspect.isclass(value) else of_function(name, value):
            found.setdefault((parameter.owner, parameter.name), parameter)
    return tuple(found.values())


def of_class(name, kind):
    if getattr(kind, "_is_protocol", False):
        return  # programs write such classes
    if issubclass(kind, Checked):
        hints = hints_of(kind)
        for field in fields_of(kind):
            yield Parameter(name, field, hints[field], rule_of(hints[field]), kind)
    for member in dir(kind):
        static = inspect.getattr_static(kind, member)
        function = getattr(static, "__func__", static)
        is_ours = inspect.isfunction(function) and function.__module__.startswith("showandtell")
        is_public = member[0] != "_" or (member == "__init__" and not issubclass(kind, Checked))
        if is_ours and is_public and not getattr(function, "__isabstractmethod__", False):
            yield from of_function(f"{name}.{member}", function)


def of_function(name, function):
    hints = hints_of(inspect.unwrap(function))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            for key, rule in (arguments_of(inspect.unwrap(function)).keywords or {}).items():
                yield Parameter(name, key, None, rule, function)
        elif parameter.kind not in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY) and parameter.name in hints:
            annotation = hints[parameter.name]
            yield Parameter(name, parameter.name, annotation, rule_of(annotation), function)


class Bytes:
    """An asynchronous iterator."""

    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration


#: Valid values of types that have no empty one.
VALUES = {
    str: "x",
    bytes: b"x",
    int: 1,
    float: 1.0,
    bool: True,
    NoneType: None,
    Path: Path("x"),
    AsyncIterator[bytes]: Bytes(),
    re.Pattern[str]: re.compile(""),
}


def a_valid(annotation):
    """A value that an annotation accepts."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in VALUES:
        return VALUES[annotation]
    if origin is Annotated:
        return a_valid(arguments[0])
    if origin in (Union, UnionType, Literal):
        return None if NoneType in arguments else arguments[0] if origin is Literal else a_valid(arguments[0])
    if origin is tuple:
        return () if arguments[-1] is ... else tuple(map(a_valid, arguments))
    if origin is not None and (origin is Callable or not issubclass(origin, Mapping | Sequence)):
        return len
    if origin is not None:
        return {} if issubclass(origin, Mapping) else []
    if isinstance(annotation, TypeVar) or annotation is object:
        return None
    return made(annotation)


def made(kind):
    """An instance of a class, made without its constructor unless it is a value."""
    if not issubclass(kind, Checked | Struct):
        return object.__new__(kind)
    hints = hints_of(kind)
    return kind(**{name: a_valid(hints[name]) for name, default in fields_of(kind).items() if default is REQUIRED})
