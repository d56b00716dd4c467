"""The wire formats by API: modules with the same few functions, five of them built in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Protocol, cast

from showandtell.checking.shown import class_name, named
from showandtell.core.capabilities.apis import RENDER, find_module, reported_mistakes
from showandtell.core.capabilities.cells import VENDORS, Api, Target
from showandtell.core.planning.values import Entry
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import Tree, to_segments
from showandtell.lazy import LazyModule


class Renderer(Protocol):
    """The module `render` of an API. All functions are pure."""

    @property
    def MESSAGES_KEY(self) -> str:  # noqa: N802 - a constant of the module
        """The body's key of the message list, which comes last."""
        ...

    @property
    def SDK_TAKES_BYTES(self) -> bool:  # noqa: N802 - a constant of the module
        """Whether the provider's SDK takes bytes where the REST body has base64."""
        ...

    def head(self, target: Target, options: Options) -> dict[str, Tree]:
        """Return the body without its messages."""
        ...

    def leading_messages(self, options: Options, target: Target) -> list[Tree]:
        """Return the wire messages before the first entry."""
        ...

    def render_entry(self, entry: Entry, target: Target) -> list[Tree]:
        """Return the wire messages of one entry."""
        ...

    def with_cache_mark(self, items: Sequence[Tree], target: Target) -> list[Tree]:
        """Return the wire messages with a cache mark at their end, if the host supports one there."""
        ...

    def url(self, target: Target, base: str, *, stream: bool) -> str:
        """Return the request's URL below a base URL."""
        ...

    def kwargs(self, body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
        """Return the arguments of the provider's SDK call for a REST body of Python values."""
        ...


#: What the functions of a renderer return.
RETURNED: Final[Mapping[str, type[object]]] = {
    "head": dict,
    "leading_messages": list,
    "render_entry": list,
    "with_cache_mark": list,
    "url": str,
    "kwargs": dict,
}


def check_returned(name: str, value: object) -> None:
    """Raise `TypeError` if a function of a package returned what is of the wrong kind, or can't be sent as JSON."""
    kind = RETURNED.get(name)
    if kind is None:
        return
    if not isinstance(value, kind):
        raise TypeError(f"{name} returned {class_name(value)}, not {named(kind)}")
    if name not in {"url", "kwargs"}:
        to_segments(cast("Tree", value))


class PackageRenderer:
    """The renderer of a package. What its code raises, or returns of another kind, becomes `CannotRender`."""

    def __init__(self, api: Api, module: LazyModule) -> None:
        self._api, self._module = api, module

    def __getattr__(self, name: str) -> Any:
        with reported_mistakes(self._api, RENDER):
            value = getattr(self._module, name)
        if callable(value):
            value = self._reporting(name, value)
        setattr(self, name, value)
        return value

    def _reporting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with reported_mistakes(self._api, RENDER):
                value = function(*args, **kwargs)
                check_returned(name, value)
                return value

        return run


@cache
def renderer_of(api: Api) -> Renderer:
    """The renderer of an API. It is imported when it is first used: most programs use one. Raises `BadInput`."""
    module = LazyModule(find_module(api, RENDER))
    return cast("Renderer", module if api in VENDORS else PackageRenderer(api, module))
