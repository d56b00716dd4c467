"""Some of the tools of an agent, by their names: the others are as if there were none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from showandtell.agent.context import RunContext
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import Session, Toolset, session_of
from showandtell.core.wire.hosted_tools import HostedTool, name_of


def choose_tools(
    tools: Iterable[Tool | Toolset | HostedTool], names: Collection[str] | None
) -> tuple[Tool | Toolset | HostedTool, ...]:
    """The tools of these names; None: all. A toolset stays open with all of its tools for its other users."""
    if names is None:
        return tuple(tools)
    chosen: list[Tool | Toolset | HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedTool):
            chosen += [tool] if name_of(tool) in names else []
        elif isinstance(tool, Tool):
            chosen += [tool] if tool.name in names else []
        else:
            chosen.append(ChosenTools(tool, names))
    return tuple(chosen)


class ChosenTools(Toolset):
    """Those tools of a toolset that have one of these names. It shares the toolset's session with its other users."""

    def __init__(self, toolset: Toolset, names: Collection[str]) -> None:
        self._toolset, self._names = toolset, frozenset(names)
        self._session: Session | None = None
        self._seen: Mapping[str, Tool] | None = None

    async def open(self) -> None:
        """Use the session of the toolset."""
        self._session = session_of(self._toolset)
        self._session.enter()

    async def close(self) -> None:
        """Leave the session, which closes after its last user."""
        session, self._session = self._session, None
        if session is not None:
            await session.leave()

    def changed(self) -> bool:
        """Whether the tools of the toolset differ from the last list."""
        return self._session is None or self._session.listed is not self._seen or self._toolset.changed()

    async def list(self) -> Sequence[Tool]:
        """The chosen tools."""
        session = self._session or session_of(self._toolset)
        self._seen = await session.list()
        return [tool for name, tool in self._seen.items() if name in self._names]

    async def call(self, name: str, arguments: Mapping[str, Any], context: RunContext) -> object:
        """Run a tool of the toolset."""
        return await self._toolset.call(name, arguments, context)
