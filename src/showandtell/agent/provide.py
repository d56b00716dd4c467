"""Calls the functions of a program that provide values, and closes what they opened."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, cast

from showandtell.agent.call_thread import CallThread
from showandtell.agent.context import RunContext
from showandtell.agent.dependencies import Injected, Provider


class Scope:
    """What is opened in it is closed with it, the last one first. Its sync functions run in one thread."""

    def __init__(self) -> None:
        self.thread, self._stack = CallThread(), AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        try:
            await self._stack.__aexit__(*cast("Any", error))
        finally:
            self.thread.close()

    async def open(self, provider: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The value that a function returns or yields, sync or async."""
        if inspect.iscoroutinefunction(provider) or inspect.isasyncgenfunction(provider):
            value = provider(*args, **kwargs)
        else:
            value = await self.thread.run(provider, *args, **kwargs)
        if inspect.isawaitable(value):
            value = await value
        manager = manager_of(provider, value)
        return value if manager is None else await self._enter(manager)

    async def _enter(self, manager: Any) -> Any:
        if hasattr(manager, "__aenter__"):
            value, leave = await manager.__aenter__(), manager.__aexit__
        else:
            value, leave = await self.thread.run(manager.__enter__), partial(self.thread.run, manager.__exit__)

        async def close(*error: Any) -> bool:
            await leave(*error)
            return False  # a provider may clean up after an error, but not hide it

        self._stack.push_async_exit(close)
        return value


def manager_of(provider: Callable[..., Any], value: Any) -> Any:
    """The context manager of a function with a `yield`, also one that `contextlib` has decorated; None for any other.

    Other context managers that a provider returns, such as a client that the whole program shares, are left alone.
    """
    if inspect.isgenerator(value):
        generator = cast("Generator[Any]", value)
        return contextlib.contextmanager(lambda: generator)()
    if inspect.isasyncgen(value):
        async_generator = cast("AsyncGenerator[Any]", value)
        return contextlib.asynccontextmanager(lambda: async_generator)()
    function = inspect.unwrap(provider)
    return value if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) else None


@dataclass(slots=True)
class Dependencies:
    """The dependencies of one call, each provided once."""

    context: RunContext[Any]
    scope: Scope
    values: dict[Callable[..., Any], Any] = field(default_factory=dict[Callable[..., Any], Any])

    async def fill(self, injected: Injected) -> dict[str, Any]:
        """The arguments that the program fills."""
        return {
            name: self.context if provider is None else await self.provide(provider)
            for name, provider in injected.parameters.items()
        }

    async def provide(self, provider: Provider) -> Any:
        """The value of a provider."""
        if provider.function not in self.values:
            arguments = await self.fill(provider.injected)
            self.values[provider.function] = await self.scope.open(provider.function, **arguments)
        return self.values[provider.function]
