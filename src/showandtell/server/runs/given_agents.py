"""The agents of a program that this application is mounted in, by the names that users choose them by."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Self

from showandtell.agent.agent import Agent
from showandtell.agent.chosen_tools import choose_tools
from showandtell.agent.toolsets import OpenToolsets
from showandtell.core.capabilities.cells import Target
from showandtell.errors import BadInput, UnknownModel
from showandtell.server.model_catalog import CatalogEntry, entry_of
from showandtell.server.provider_keys.provider_key import Way
from showandtell.server.runs.agents import (
    ABOUT_FILES,
    Agents,
    AvailableTool,
    describe_tools,
    join_instructions,
    list_tools,
    names_to_approve,
)
from showandtell.server.runs.stored_settings import StoredSettings


class GivenAgents(Agents):
    """A program's own agents. A user's instructions are added to those of an agent; its limits hold for its runs.

    Also the catalog of a server that has no other models: the first agent is the default.
    """

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        super().__init__()
        self._agents = dict(agents)
        self._open_toolsets: dict[str, OpenToolsets] = {}

    async def __aenter__(self) -> Self:
        """Open each agent, so that its connections outlive a run."""
        self._stack = await AsyncExitStack().__aenter__()
        for name, agent in self._agents.items():
            await self._stack.enter_async_context(agent)
            self._open_toolsets[name] = OpenToolsets(agent.toolsets)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._open_toolsets.clear()
        await self._stack.aclose()

    @property
    def need_approval(self) -> frozenset[str]:
        """The names of the tools that wait for a person's approval."""
        own = (tool for agent in self._agents.values() for tool in agent.tools.values())
        listed = (tool for toolsets in self._open_toolsets.values() for tool in toolsets.listed)
        return names_to_approve((*own, *listed))

    @property
    def max_steps(self) -> int:
        """Maximum model calls of a run of any agent."""
        return max(agent.configured.limits.steps for agent in self._agents.values())

    def _settings_of(self, model: str, instructions: str) -> StoredSettings:
        """The settings of a new run of an agent, with a user's instructions."""
        own = self._find(model).configured
        return StoredSettings(instructions, own.limits, own.model, own.instructions)

    def target_of(self, model: str) -> Target:
        """What an agent's model is. Raises `UnknownModel`."""
        return self._find(model).target

    async def available_tools(self, model: str | None = None) -> tuple[AvailableTool, ...]:
        """The tools of an agent; None: those of all. Those of a toolset that fails are left out."""
        found: dict[str, AvailableTool] = {}
        for name in self._agents if model is None else (model,):
            agent = self._find(name)
            listed = await list_tools(self._open_toolsets[name])
            tools = describe_tools((*agent.tools.values(), *listed), agent.configured.hosted)
            found = {tool.name: tool for tool in tools} | found
        return tuple(found.values())

    def _make(self, model: str, settings: StoredSettings, way: Way) -> Agent:
        del way  # agents of a program have their own
        agent = self._find(model)
        own = (*agent.tools.values(), *agent.toolsets, *agent.configured.hosted)
        changed = agent.change(
            tools=choose_tools(own, settings.chosen),
            instructions=join_instructions(
                settings.operator, ABOUT_FILES, settings.instructions, settings.conversation
            ),
            model_settings=settings.model_settings,
            limits=settings.limits,
        )
        _ = changed.exchange  # raises before anything is stored
        return changed

    def _find(self, name: str) -> Agent:
        if name not in self._agents:
            raise UnknownModel(f"there is no model {name[:40]!r} here: choose {' or '.join(self._agents)}")
        return self._agents[name]

    async def entries(self, user: str) -> tuple[CatalogEntry, ...]:
        """Return the agents, in the program's order. All users have the same."""
        del user
        return tuple(self._entry(name, agent) for name, agent in self._agents.items())

    def _entry(self, name: str, agent: Agent) -> CatalogEntry:
        try:
            _, problem = agent.exchange, None
        except BadInput as error:
            problem = str(error)
        return entry_of(agent.target, name, name, problem, agent.settings.policy.describer)

    async def choose(self, preferred: str | None, user: str, used: str | None) -> str:
        """Return the user's own choice if it is one of these agents, else the one used last, else the first one."""
        del user
        return next((name for name in (preferred, used) if name in self._agents), next(iter(self._agents)))

    def id_of(self, model: str) -> str:
        """Return the name of an agent."""
        return model

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such agent."""
        self._find(model)
