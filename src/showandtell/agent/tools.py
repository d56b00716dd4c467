"""Tools: plain functions, or a hand-written schema with a function. What a model may call, and how it is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import msgspec

from showandtell.agent.context import Context
from showandtell.errors import BadInput
from showandtell.wire.options import ToolSpec

DEFAULT_TIMEOUT = 120.0


@dataclass(frozen=True)
class Tool:
    """What a model may call. Without `parameters` the JSON schema is read off the function's annotations.

    approval: a person's yes is asked for before each call. idempotent: running it twice does no harm.
    timeout: seconds a call may take. isolate: run in a process of its own, which can be killed.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] | None = None
    run: Callable[..., Any] = lambda: None
    approval: bool = False
    idempotent: bool = False
    timeout: float = DEFAULT_TIMEOUT
    isolate: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it had not been made a tool."""
        return self.run(*args, **kwargs)

    @cached_property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the `Context`, if there is one."""
        hints = _hints(self.run)
        return next((name for name, hint in hints.items() if hint is Context), None)

    @cached_property
    def arguments(self) -> Any:
        """The pydantic model of the function's parameters; None for a hand-written schema."""
        return None if self.parameters is not None else _model(self.name, self.run, self.context_parameter)

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as the model is told of it."""
        schema = self.parameters if self.parameters is not None else self.arguments.model_json_schema()
        schema = {key: value for key, value in schema.items() if key != "title"}
        return ToolSpec(self.name, self.description, msgspec.json.encode(schema).decode())

    def bind(self, arguments: Any, context: Context) -> dict[str, Any]:
        """The keyword arguments of a call; raises pydantic's ValidationError, or BadInput for a file number."""
        if self.arguments is None:
            bound: dict[str, Any] = dict(arguments)
        else:
            checked = self.arguments.model_validate(arguments, context={"file": context.files.get})
            bound = {name: getattr(checked, name) for name in checked.model_fields_set}
        if self.context_parameter is not None:
            bound[self.context_parameter] = context
        return bound


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    approval: bool = False,
    idempotent: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    isolate: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **settings: Any) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool, with settings: `@tool(approval=True, timeout=10)`. The fields are those of `Tool`."""
    if function is not None:
        return as_tool(function)

    def decorate(function: Callable[..., Any]) -> Tool:
        given = {key: value for key, value in settings.items() if value is not None}
        return replace(as_tool(function), **given)

    return decorate


def as_tool(value: Callable[..., Any] | Tool) -> Tool:
    """A tool from a function: its name, its docstring, its annotations."""
    if isinstance(value, Tool):
        return value
    name = getattr(value, "__name__", "")
    if not name.isidentifier():
        raise BadInput(f"{value!r} has no name that a model could call: use Tool(name=..., run=...)")
    return Tool(name, inspect.getdoc(value) or "", run=value)


def by_name(tools: Any) -> dict[str, Tool]:
    """Tools by name; two of one name raise `BadInput`."""
    found: dict[str, Tool] = {}
    for one in map(as_tool, tools):
        if one.name in found:
            raise BadInput(f"two tools are called {one.name!r}: rename one with @tool(name=...)")
        found[one.name] = one
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.annotation for name, one in inspect.signature(function, eval_str=True).parameters.items()}


def _model(name: str, function: Callable[..., Any], context: str | None) -> Any:
    from pydantic import ConfigDict, create_model  # noqa: PLC0415 - late: render and explain need no pydantic

    fields: dict[str, Any] = {}
    for key, one in inspect.signature(function, eval_str=True).parameters.items():
        if key == context:
            continue
        if one.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            raise BadInput(f"tool {name!r} takes *{key}: a model can only fill named parameters")
        annotation = Any if one.annotation is inspect.Parameter.empty else one.annotation
        fields[key] = (annotation, ... if one.default is inspect.Parameter.empty else one.default)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return create_model(name, __config__=config, **fields)
