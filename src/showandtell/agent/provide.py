"""Provides the dependencies of one tool call, and closes them."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from showandtell.agent.call_thread import CallThread
from showandtell.agent.context import RunContext
from showandtell.agent.dependencies import Injected, Provider


@dataclass(slots=True)
class Dependencies:
    """Provides the dependencies of one call, each once. The exit stack closes them, the last one first."""

    context: RunContext[Any]
    thread: CallThread
    stack: AsyncExitStack
    values: dict[Callable[..., Any], Any] = field(default_factory=dict[Callable[..., Any], Any])

    async def fill(self, injected: Injected) -> dict[str, Any]:
        """The arguments that the program fills."""
        return {
            name: self.context if provider is None else await self.provide(provider)
            for name, provider in injected.parameters.items()
        }

    async def provide(self, provider: Provider) -> Any:
        """The value of a provider."""
        function = provider.function
        if function not in self.values:
            arguments = await self.fill(provider.injected)
            if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
                value = function(**arguments)
            else:
                value = await self.thread.run(function, **arguments)
            if inspect.isawaitable(value):
                value = await value
            manager = manager_of(function, value)
            self.values[function] = value if manager is None else await self._enter(manager)
        return self.values[function]

    async def _enter(self, manager: Any) -> Any:
        """Enter a context manager, and leave it when the call ends: a sync one in the thread of the call."""
        if hasattr(manager, "__aenter__"):
            value, leave = await manager.__aenter__(), manager.__aexit__
        else:
            value, leave = await self.thread.run(manager.__enter__), partial(self.thread.run, manager.__exit__)

        async def close(*error: Any) -> bool:
            await leave(*error)
            return False  # a provider may clean up after a tool's error, but not hide it

        self.stack.push_async_exit(close)
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
