"""Signatures of functions that become tools or provide dependencies."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from showandtell.errors import BadInput


def parameters_of(name: str, function: Callable[..., Any]) -> list[Parameter]:
    """A function's parameters with resolved annotations, without those that `functools.partial` has bound.

    The return annotation is not resolved, since it is often imported for type checkers only. Raises `BadInput`, which
    names the tool, for an annotation or a signature that can't be read.
    """
    bound = bound_names(function)
    try:
        return [
            parameter.replace(annotation=_read(parameter.annotation, function))
            for parameter in inspect.signature(function).parameters.values()
            if parameter.name not in bound
        ]
    except NameError as error:
        raise BadInput(
            f"tool {name!r} has an annotation that can't be read ({error}): import it at run time"
        ) from error
    except ValueError as error:
        raise BadInput(
            f"tool {name!r} uses {function!r}, whose parameters can't be read: wrap it in a function"
        ) from error


def bound_names(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the arguments that `functools.partial` has bound by keyword; `signature` leaves out the others."""
    return frozenset(function.keywords) if isinstance(function, functools.partial) else frozenset()


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function within `functools.partial`."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _read(annotation: Any, function: Callable[..., Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, _globals(function))  # noqa: S307 - the program's own source, as inspect would read it


def _globals(function: Any) -> dict[str, Any]:
    """The globals of the function behind a class, method, partial, wrapper or callable object."""
    if isinstance(function, type):
        return vars(sys.modules[function.__module__])
    for inner in ("__wrapped__", "__func__", "func"):
        if hasattr(function, inner):
            return _globals(getattr(function, inner))
    return function.__globals__ if hasattr(function, "__globals__") else _globals(type(function).__call__)
