"""Tools that a model may call: plain functions, or functions with a hand-written JSON schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack, cast, get_args, overload

import msgspec

from showandtell.agent.context import RunContext
from showandtell.agent.dependencies import Injected
from showandtell.agent.docstrings import read_docstring
from showandtell.agent.function_texts import FunctionTexts
from showandtell.agent.signatures import bound_names, innermost, parameters_of
from showandtell.checking.checked import Checked, checked
from showandtell.core.limits import Positive
from showandtell.core.messages.file import FILE_NUMBER, File
from showandtell.core.wire.options import ToolSpec
from showandtell.errors import BadInput

DEFAULT_TIMEOUT = 120.0
#: The descriptions of functions, and the schemas of their parameters.
DESCRIPTIONS, SCHEMAS = FunctionTexts(), FunctionTexts()
#: Prefix of the fields of a parameters' model, since pydantic reserves `schema`, `copy` and names like `_x`.
FIELD_PREFIX = "argument_"
UNNAMED = frozenset({Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD})


@checked
@dataclass(frozen=True)
class Tool(Checked):
    """A function that a model may call.

    >>> from showandtell import Agent, Tool
    >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> weather = Tool("weather", "Tell the weather.", schema, lambda city: f"It rains in {city}.")
    >>> weather(city="Oslo")
    'It rains in Oslo.'
    >>> agent = Agent("inspector", tools=[weather])

    Args:
        name (str): the name that the model uses.
        description (str): the description for the model.
        parameters (Mapping | None): the JSON schema of the arguments. Default: derived from the annotations of `run`.
        run (Callable): the function, sync or async. Sync functions run in a thread. It may return any value.
        approval (bool): ask a person before each call. Default: False.
        idempotent (bool): a call may run again after a crash. Default: False.
        timeout (float): maximum duration of a call in seconds. Default: 120.
        isolate (bool): run in a separate process, which is killed after the timeout. The function must be importable,
            and takes no `RunContext`. Default: False.
        files_from (str | Path | None): the folder that objects which the tool returns may name files of, by their
            `file_path`. Default: none.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] | None = None
    run: Callable[..., Any] = lambda: None
    approval: bool = False
    idempotent: bool = False
    timeout: Positive = DEFAULT_TIMEOUT
    isolate: bool = False
    files_from: str | Path | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function directly."""
        return self.run(*args, **kwargs)

    @cached_property
    def injected(self) -> Injected:
        """The parameters that the program fills."""
        return Injected.of(self.name, self.run)

    @cached_property
    def arguments(self) -> Any:
        """The pydantic model of the parameters that the model fills; None for a hand-written schema."""
        return None if self.parameters is not None else _model(self.name, self.run, self.injected)

    @cached_property
    def takes_files(self) -> bool:
        """Whether a parameter is annotated with `File`, so that the model passes a file by its number."""
        if self.parameters is not None:
            return False
        annotations = (parameter.annotation for parameter in parameters_of(self.name, self.run))
        return any(map(names_file, annotations)) or FILE_NUMBER in self.spec.parameters

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        return inspect.signature(self.run)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The fields whose default is a pydantic `Field`, which the function itself can't resolve."""
        from pydantic.fields import FieldInfo  # noqa: PLC0415 - late, as the model

        parameters = parameters_of(self.name, self.run)
        return frozenset(
            FIELD_PREFIX + parameter.name for parameter in parameters if isinstance(parameter.default, FieldInfo)
        )

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool's declaration for the model."""
        if self.parameters is not None:
            return ToolSpec(self.name, self.description, encode_schema(self.parameters))
        schema = SCHEMAS.get(self.run, lambda: encode_schema(self.arguments.model_json_schema()))
        return ToolSpec(self.name, self.description, schema)

    def bind(self, arguments: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
        """The keyword arguments of a call that the model fills.

        Raises pydantic's `ValidationError`, `BadInput` for an unknown file, and `TypeError` for arguments that the
        function doesn't take, or that the program fills.
        """
        if self.arguments is None:
            bound: dict[str, Any] = dict(arguments)
            if own := sorted(bound.keys() & (self.injected.parameters.keys() | bound_names(self.run))):
                raise TypeError(f"got an unexpected keyword argument {own[0]!r}")
        else:
            model = self.arguments.model_validate(arguments, context={"file": context.files.get})
            names = model.model_fields_set | self.declared
            bound = {name.removeprefix(FIELD_PREFIX): getattr(model, name) for name in names}
        self.signature.bind(**bound, **self.injected.parameters)
        return bound


def names_file(annotation: Any) -> bool:
    """Whether an annotation is `File`, or a list, union or another type of it."""
    return annotation is File or any(map(names_file, get_args(annotation)))


def encode_schema(schema: Mapping[str, Any]) -> str:
    """A JSON schema as text, without the title that pydantic gives it."""
    return msgspec.json.encode({key: value for key, value in schema.items() if key != "title"}).decode()


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
    files_from: str | Path | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


class ToolSettings(TypedDict, total=False):
    """The settings of a tool that is made from a function."""

    name: str | None
    description: str | None
    approval: bool
    idempotent: bool
    timeout: Positive
    isolate: bool
    files_from: str | Path | None


@checked
def tool(
    function: Callable[..., Any] | None = None, /, **settings: Unpack[ToolSettings]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Turn a function into a `Tool`: its name, docstring and annotations describe it to the model.

    >>> from showandtell import tool
    >>> @tool(approval=True, timeout=10)
    ... def delete(name: str) -> str:
    ...     "Delete a photo."
    ...     return f"{name} is gone"
    >>> delete.name, delete.description, delete.timeout
    ('delete', 'Delete a photo.', 10)

    Args:
        function (Callable): the function, if the decorator is used without arguments: `@tool`.
        name (str | None): default: the function's name.
        description (str | None): default: the function's docstring.
        approval (bool): as in `Tool`, like the next four. Default: False.
        idempotent (bool): default: False.
        timeout (float): in seconds. Default: 120.
        isolate (bool): default: False.
        files_from (str | Path | None): default: none.

    Raises:
        BadInput: the function has no name that a model could call.
    """
    if function is not None:
        return as_tool(function)

    def decorate(function: Callable[..., Any]) -> Tool:
        return replace(as_tool(function), **{key: value for key, value in settings.items() if value is not None})

    return decorate


def as_tool(value: Callable[..., Any] | Tool) -> Tool:
    """A function as a tool, with its name, docstring and annotations. Raises `BadInput` for one without a name.

    A `functools.partial` has those of its function, a callable object the name of its class.
    """
    if isinstance(value, Tool):
        return value
    inner = innermost(value)
    if isinstance(inner, Tool):
        return replace(inner, run=rebind(value, inner.run))
    name = getattr(inner, "__name__", type(inner).__name__)
    if not callable(inner) or not name.isidentifier():
        raise BadInput(f"{value!r} has no name that a model could call: use Tool(name=..., run=...)")
    return Tool(name, DESCRIPTIONS.get(inner, lambda: read_docstring(inner)[0]), run=value)


def rebind(value: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A `functools.partial` with another function within it."""
    if not isinstance(value, partial):
        return function
    return partial(rebind(value.func, function), *value.args, **value.keywords)


def by_name(tools: Any) -> dict[str, Tool]:
    """Tools by name. Raises `BadInput` for two tools with one name, and for tools that can't be isolated."""
    tools_by_name: dict[str, Tool] = {}
    for value in check_list(tools):
        entry = as_tool(value)
        if entry.name in tools_by_name:
            raise BadInput(f"two tools are called {entry.name!r}: rename one with @tool(name=...)")
        if entry.isolate:
            _check_isolated(entry)
        tools_by_name[entry.name] = entry
    return tools_by_name


def check_list(tools: Any) -> Iterable[Any]:
    """The tools. Raises `BadInput` for one that is not in a list."""
    if not isinstance(tools, Iterable):
        raise BadInput("tools takes a list: write tools=[...]")
    return cast("Iterable[Any]", tools)


def _check_isolated(tool: Tool) -> None:
    if tool.injected.parameters:
        advice = "drop it, or isolate=True"
        raise BadInput(
            f"tool {tool.name!r} takes a RunContext or a dependency, which can't leave this process: {advice}"
        )
    if "<" in getattr(tool.run, "__qualname__", ""):
        raise BadInput(f"tool {tool.name!r} can't be found by another process: define it at the top of a module")


def _model(name: str, function: Callable[..., Any], injected: Injected) -> Any:
    from pydantic import ConfigDict, create_model  # noqa: PLC0415 - late: render and explain need no pydantic

    descriptions = read_docstring(function)[1]
    fields: dict[str, Any] = dict(
        _field(name, parameter, descriptions.get(parameter.name))
        for parameter in parameters_of(name, function)
        if parameter.name not in injected.parameters
    )
    config = ConfigDict(extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)
    return create_model(name, __config__=config, **fields)


def _field(name: str, parameter: Parameter, description: str | None) -> tuple[str, tuple[Any, Any]]:
    """The name and definition of a parameter's field. Its own `Field` has precedence over the docstring."""
    from pydantic import Field  # noqa: PLC0415

    if parameter.kind in UNNAMED:
        raise BadInput(f"tool {name!r} takes {parameter}: a model can only fill named parameters")
    annotation: Any = Any if parameter.annotation is Parameter.empty else parameter.annotation
    default = ... if parameter.default is Parameter.empty else parameter.default
    marks = getattr(annotation, "__metadata__", ())
    if description and names_file(annotation):
        description = f"{description.rstrip('.')} ({FILE_NUMBER})"
    described = Annotated[annotation.__origin__ if marks else annotation, Field(description=description), *marks]
    return FIELD_PREFIX + parameter.name, (Annotated[described, Field(alias=parameter.name)], default)
