"""Dependencies of tools: values that the program provides for each call. The model neither sees nor sets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, get_args, get_origin

from showandtell.agent.context import RunContext
from showandtell.agent.signatures import innermost, parameters_of
from showandtell.checking.checked import Checked
from showandtell.errors import BadInput


@dataclass(frozen=True, slots=True)
class Depends(Checked):
    """Marks a tool's parameter as a dependency: `Annotated[Session, Depends(open_session)]`.

    `open_session` is called for each call of the tool; its value is shared by all parameters of the call that depend
    on it. A function with one `yield` is resumed when the call ends, with the exception if the tool raised one.

    >>> from typing import Annotated
    >>> from showandtell import Agent, Depends, RunContext
    >>> def prices(context: RunContext[dict[str, int]]) -> dict[str, int]:
    ...     return context.deps
    >>> def price(name: str, prices: Annotated[dict[str, int], Depends(prices)]) -> int:
    ...     "Look up a price."
    ...     return prices[name]
    >>> run = Agent("inspector", [price], deps={"tea": 3}).run_sync("/price name=tea")
    >>> run.messages[2].text
    '3'

    Args:
        provider (Callable): a function, sync or async, that returns the value or yields it once. It may take a
            `RunContext` and dependencies of its own. Sync ones run in the thread of the call, like sync tools.

    Raises:
        BadInput: when an `Agent` is created, for a provider with other parameters, or one that depends on itself.
    """

    provider: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider and what it gets itself."""

    function: Callable[..., Any]
    injected: Injected


@dataclass(frozen=True, slots=True)
class Injected:
    """The parameters of a function that the program fills, by name: by a provider, or with the `RunContext` (None)."""

    parameters: Mapping[str, Provider | None]

    @classmethod
    def of(cls, tool: str, function: Callable[..., Any], above: tuple[Callable[..., Any], ...] = ()) -> Injected:
        """Those of a tool's function, or of a provider, which others in `above` depend on.

        Raises `BadInput` for a provider that depends on itself, or takes what nobody gives it.
        """
        found: dict[str, Provider | None] = {}
        for parameter in parameters_of(tool, function):
            depends = depends_of(tool, parameter.annotation)
            if depends is not None:
                found[parameter.name] = read_provider(tool, depends.provider, above)
            elif is_context(parameter.annotation):
                found[parameter.name] = None
            elif above and not is_optional(parameter):
                raise BadInput(
                    f"tool {tool!r} depends on {name_of(function)}, whose parameter {parameter.name!r} is not given: "
                    "annotate it with RunContext or Depends, or give it a default"
                )
        return cls(found)


def read_provider(tool: str, function: Callable[..., Any], above: tuple[Callable[..., Any], ...]) -> Provider:
    """A provider with all that it depends on. Raises `BadInput`."""
    path = (*above, function)
    if function in above:
        raise BadInput(f"tool {tool!r} has a dependency cycle: {' -> '.join(map(name_of, path))}")
    return Provider(function, Injected.of(tool, function, path))


def is_context(annotation: Any) -> bool:
    """Whether an annotation is `RunContext`, with or without the type of `deps`, or contains it."""
    return RunContext in {annotation, get_origin(annotation)} or any(map(is_context, get_args(annotation)))


def depends_of(tool: str, annotation: Any) -> Depends | None:
    """The `Depends` of an annotation. Raises `BadInput` for one without a provider."""
    marks = getattr(annotation, "__metadata__", ())
    if Depends in marks:
        raise BadInput(f"tool {tool!r} has a Depends without a provider: write Annotated[T, Depends(provider)]")
    return next((mark for mark in marks if isinstance(mark, Depends)), None)


def is_optional(parameter: Parameter) -> bool:
    """Whether a function can be called without a parameter."""
    is_variadic = parameter.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
    return is_variadic or parameter.default is not Parameter.empty


def name_of(function: Callable[..., Any]) -> str:
    """The name of a provider for error texts."""
    return getattr(innermost(function), "__qualname__", type(function).__qualname__)
