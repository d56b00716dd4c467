"""Tools that are known only after connecting to something, such as a server that offers them."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeAlias, cast, runtime_checkable
from weakref import WeakValueDictionary

from showandtell.agent.context import RunContext
from showandtell.agent.dependencies import Injected
from showandtell.agent.tools import Tool, by_name, check_list
from showandtell.core.wire.hosted_tools import HostedTool, split_hosted
from showandtell.errors import BadInput, ToolError

log = logging.getLogger("showandtell.tools")

#: Seconds that a toolset may take to open or to list its tools, and to close.
OPEN_SECONDS, CLOSE_SECONDS = 30.0, 2.0


@runtime_checkable
class Toolset(Protocol):
    """Tools that are known only after connecting. Write a class with these methods, or inherit the first three.

    `open` and `close` run in one task, and `close` only after an `open` that succeeded. A toolset is opened once for
    all runs that use it at the same time: with `async with agent:` for all runs within it, in a server at its start.

    >>> from showandtell import Agent, Tool, Toolset
    >>> class Archive(Toolset):
    ...     async def list(self):
    ...         return [Tool("search", "Search the archive.", {"type": "object"})]
    ...     async def call(self, name, arguments, context):
    ...         return f"{name} found 3"
    >>> run = Agent("inspector", [Archive()]).run_sync("/search")
    >>> run.messages[2].text
    'search found 3'
    """

    async def open(self) -> None:
        """Connect. An exception ends the run, with its class in the error's text."""

    async def close(self) -> None:
        """Disconnect."""

    def changed(self) -> bool:
        """Whether the tools differ from the last list. It is asked before each step, and should not wait."""
        return False

    @abstractmethod
    async def list(self) -> Sequence[Tool]:
        """The tools. Their `run` is not used: `call` runs them."""
        ...

    @abstractmethod
    async def call(self, name: str, arguments: Mapping[str, Any], context: RunContext) -> object:
        """Run a tool, and return any value that a tool may return. The arguments are not validated."""
        ...


@dataclass(frozen=True)
class ToolsetTool(Tool):
    """A tool of a toolset, which runs it."""

    @cached_property
    def injected(self) -> Injected:
        """Nothing: a toolset gets its context with each call."""
        return Injected({})

    def bind(self, arguments: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
        """The arguments of `Toolset.call`."""
        return {"name": self.name, "arguments": dict(arguments), "context": context}


def read_tool(toolset: Toolset, tool: Tool) -> ToolsetTool:
    """A listed tool with the toolset's `call` as its function. It always has a schema of its own."""
    return ToolsetTool(
        tool.name,
        tool.description,
        json.loads(tool.spec.parameters),
        toolset.call,
        approval=tool.approval,
        idempotent=tool.idempotent,
        timeout=tool.timeout,
    )


class Session:
    """A toolset while anybody uses it. It opens when its tools are listed, and closes with its last user."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset
        self.listed: dict[str, Tool] | None = None
        self._users, self._lock = 0, asyncio.Lock()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def enter(self) -> None:
        """Count a user."""
        self._users += 1

    async def leave(self) -> None:
        """Close after the last user."""
        self._users -= 1
        async with self._lock:
            if self._users == 0:
                await self._close()

    async def list(self) -> dict[str, Tool]:
        """The tools by name, listed again if they have changed. Raises `ToolError` if that fails."""
        async with self._lock:
            if self.listed is None or self.toolset.changed():
                try:
                    async with asyncio.timeout(OPEN_SECONDS):
                        await self._open()
                        tools = await self.toolset.list()
                    self.listed = by_name([read_tool(self.toolset, tool) for tool in tools])
                except Exception as error:
                    log.exception("toolset %s failed", type(self.toolset).__name__)
                    await self._close()  # the next list connects again
                    raise failure(self.toolset, error) from error
            return self.listed

    async def _open(self) -> None:
        if self._task is not None:
            return
        opened, self._stop = asyncio.get_running_loop().create_future(), asyncio.Event()
        task = asyncio.create_task(self._keep(opened, self._stop))
        try:
            await opened
        except BaseException:
            task.cancel()
            raise
        self._task = task

    async def _close(self) -> None:
        task, self._task, self.listed = self._task, None, None
        if task is not None:
            self._stop.set()
            await asyncio.wait({task}, timeout=CLOSE_SECONDS)
            task.cancel()

    async def _keep(self, opened: asyncio.Future[None], stop: asyncio.Event) -> None:
        """Open and close in one task, as the cancel scopes of many clients need."""
        try:
            await self.toolset.open()
        except Exception as error:  # noqa: BLE001 - passed on to the task that waits
            if not opened.done():
                opened.set_exception(error)
            return
        try:
            if not opened.done():
                opened.set_result(None)
                await stop.wait()
        finally:
            await close(self.toolset)


async def close(toolset: Toolset) -> None:
    """Close a toolset. An error is logged, since nobody waits for what it did."""
    try:
        await toolset.close()
    except Exception:
        log.exception("toolset %s could not be closed", type(toolset).__name__)


def failure(toolset: Toolset, error: Exception) -> ToolError:
    """The error of a toolset that can't be opened or listed. Another library's text is left out: it may be secret."""
    name = type(toolset).__name__
    if isinstance(error, ToolError | BadInput):
        return ToolError(f"the tools of {name} are not available: {error}")
    if isinstance(error, TimeoutError):
        return ToolError(f"the tools of {name} are not available: not connected after {OPEN_SECONDS:g} s")
    return ToolError(f"the tools of {name} are not available: {type(error).__name__}, see the log")


#: The sessions in use. A session holds its toolset, so that the `id` of one can't become that of another.
SESSIONS: WeakValueDictionary[tuple[int, asyncio.AbstractEventLoop], Session] = WeakValueDictionary()


def session_of(toolset: Toolset) -> Session:
    """The session of a toolset in this event loop, which all its users share."""
    return SESSIONS.setdefault((id(toolset), asyncio.get_running_loop()), Session(toolset))


class OpenToolsets:
    """The toolsets of a run, or of several, within `async with`."""

    def __init__(self, toolsets: Sequence[Toolset]) -> None:
        self._sessions = [session_of(toolset) for toolset in toolsets]
        self._seen: Sequence[dict[str, Tool] | None] = [None] * len(self._sessions)

    async def __aenter__(self) -> Self:
        for session in self._sessions:
            session.enter()
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*(session.leave() for session in self._sessions))

    @property
    def has_changed(self) -> bool:
        """Whether `list` would return other tools than the last time."""
        return any(
            seen is None or seen is not session.listed or session.toolset.changed()
            for seen, session in zip(self._seen, self._sessions, strict=True)
        )

    @property
    def listed(self) -> Sequence[Tool]:
        """The tools that are known now, without connecting."""
        return [tool for session in self._sessions for tool in (session.listed or {}).values()]

    async def list(self) -> dict[str, Tool]:
        """The tools of all toolsets. Raises `ToolError` if one can't be listed, `BadInput` for two with one name."""
        self._seen = await asyncio.gather(*(session.list() for session in self._sessions))
        return merged(*self._seen)


def merged(*tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Tools of several origins. Raises `BadInput` for two with one name."""
    return by_name([tool for each in tools for tool in each.values()])


#: What the list of an agent's tools may hold.
AnyTool: TypeAlias = Callable[..., Any] | Tool | Toolset | HostedTool


def split_by_runner(tools: Any) -> tuple[list[Any], tuple[HostedTool, ...]]:
    """The tools that run here, and those that the provider runs. Raises `BadInput`."""
    return split_hosted(check_list(tools))


def split_tools(tools: Any) -> tuple[dict[str, Tool], tuple[Toolset, ...]]:
    """The tools that are known now, by name, and the toolsets. Raises `BadInput` as `by_name` does."""
    if not isinstance(tools, Iterable):
        return by_name(tools), ()
    values = list(cast("Iterable[Any]", tools))
    toolsets = tuple(value for value in values if is_toolset(value))
    return by_name([value for value in values if not is_toolset(value)]), toolsets


def is_toolset(value: object) -> bool:
    """Whether a value is a toolset, and not a tool or a class of toolsets."""
    return not isinstance(value, Tool | type) and isinstance(value, Toolset)
