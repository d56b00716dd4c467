"""Tools: plain functions, or a hand-written schema with a function. What a model may call, and how it is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import Parameter
from typing import Annotated, Any, cast, get_args, overload

import msgspec

from showandtell.agent.context import RunContext
from showandtell.core.wire.options import ToolSpec
from showandtell.errors import BadInput

DEFAULT_TIMEOUT = 120.0
#: Before the name of each field of a parameters' model, for pydantic keeps `schema`, `copy` and `_x` for itself.
FIELD = "argument_"
UNNAMED = frozenset({Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD})


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
        """The name of the parameter that takes the `RunContext`, if there is one."""
        return next((one.name for one in parameters_of(self.name, self.run) if _is_context(one.annotation)), None)

    @cached_property
    def arguments(self) -> Any:
        """The pydantic model of the function's parameters; None for a hand-written schema."""
        return None if self.parameters is not None else _model(self.name, self.run, self.context_parameter)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The fields whose default stands in a pydantic `Field`, which the function itself couldn't use."""
        from pydantic.fields import FieldInfo  # noqa: PLC0415 - late, as the model

        parameters = parameters_of(self.name, self.run)
        return frozenset(FIELD + one.name for one in parameters if isinstance(one.default, FieldInfo))

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as the model is told of it."""
        schema = self.parameters if self.parameters is not None else self.arguments.model_json_schema()
        schema = {key: value for key, value in schema.items() if key != "title"}
        return ToolSpec(self.name, self.description, msgspec.json.encode(schema).decode())

    def bind(self, arguments: Any, context: RunContext) -> dict[str, Any]:
        """The keyword arguments of a call; raises pydantic's ValidationError, or BadInput for a file number."""
        if self.arguments is None:
            bound: dict[str, Any] = dict(arguments)
        else:
            checked = self.arguments.model_validate(arguments, context={"file": context.files.get})
            given = checked.model_fields_set | self.declared
            bound = {name.removeprefix(FIELD): getattr(checked, name) for name in given}
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


class Toolset:
    """Tools that are found when a run begins, such as those of an MCP server. An `Agent` doesn't take them yet."""


def by_name(tools: Any) -> dict[str, Tool]:
    """Tools by name; two of one name raise `BadInput`, and so does one that can't be isolated as it asks."""
    if not isinstance(tools, Iterable):
        raise BadInput("tools takes a list: write tools=[...]")
    found: dict[str, Tool] = {}
    for given in cast("Iterable[Any]", tools):
        if isinstance(given, Toolset):
            raise BadInput("toolsets are not supported yet: give the tools themselves")
        one = as_tool(given)
        if one.name in found:
            raise BadInput(f"two tools are called {one.name!r}: rename one with @tool(name=...)")
        if one.isolate:
            _check_isolated(one)
        found[one.name] = one
    return found


def _check_isolated(tool: Tool) -> None:
    if tool.context_parameter is not None:
        advice = "drop it, or isolate=True"
        raise BadInput(f"tool {tool.name!r} takes a RunContext, which can't leave this process: {advice}")
    if "<" in getattr(tool.run, "__qualname__", ""):
        raise BadInput(f"tool {tool.name!r} can't be found by another process: define it at the top of a module")


def parameters_of(name: str, function: Callable[..., Any]) -> list[Parameter]:
    """A tool's parameters with their annotations read; raises `BadInput` for one that can't be read.

    The returned type is left alone: often it is imported for type checkers only.
    """
    try:
        found = inspect.signature(function).parameters.values()
        return [one.replace(annotation=_read(one.annotation, function)) for one in found]
    except NameError as error:
        raise BadInput(
            f"tool {name!r} has an annotation that can't be read ({error}): import it at run time"
        ) from error


def _read(annotation: Any, function: Callable[..., Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, _globals(function))  # noqa: S307 - the program's own source, as inspect would read it


def _globals(function: Any) -> dict[str, Any]:
    """The names around the function that a method, a partial, a wrapper or a callable object comes to."""
    for inner in ("__wrapped__", "__func__", "func"):
        if hasattr(function, inner):
            return _globals(getattr(function, inner))
    return function.__globals__ if hasattr(function, "__globals__") else _globals(type(function).__call__)


def _is_context(annotation: Any) -> bool:
    return annotation is RunContext or any(map(_is_context, get_args(annotation)))


def _model(name: str, function: Callable[..., Any], context: str | None) -> Any:
    from pydantic import ConfigDict, create_model  # noqa: PLC0415 - late: render and explain need no pydantic

    fields: dict[str, Any] = dict(_field(name, one) for one in parameters_of(name, function) if one.name != context)
    config = ConfigDict(extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)
    return create_model(name, __config__=config, **fields)


def _field(name: str, one: Parameter) -> tuple[str, tuple[Any, Any]]:
    """A parameter as a field of the model."""
    from pydantic import Field  # noqa: PLC0415

    if one.kind in UNNAMED:
        raise BadInput(f"tool {name!r} takes {one}: a model can only fill named parameters")
    annotation = Any if one.annotation is Parameter.empty else one.annotation
    default = ... if one.default is Parameter.empty else one.default
    return FIELD + one.name, (Annotated[annotation, Field(alias=one.name)], default)
