"""The agents of a program that this application is mounted in, by the names that users choose them by."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Self

from showandtell.agent.agent import Agent
from showandtell.agent.toolsets import OpenToolsets
from showandtell.errors import BadInput, UnknownModel
from showandtell.server.model_catalog import CatalogEntry, entry_of
from showandtell.server.runs.agents import ABOUT_FILES, Agents, join_instructions, names_to_approve
from showandtell.server.runs.stored_settings import StoredSettings
from showandtell.storage.database.rows import serialize


class GivenAgents(Agents):
    """A program's own agents. A user's instructions are added to those of an agent; its limits hold for its runs.

    Also the catalog of a server that has no other models: the first agent is the default.
    """

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        super().__init__()
        self._agents = dict(agents)
        self._open_toolsets: list[OpenToolsets] = []

    async def __aenter__(self) -> Self:
        """Open each agent, so that its connections outlive a run."""
        self._stack = await AsyncExitStack().__aenter__()
        for agent in self._agents.values():
            await self._stack.enter_async_context(agent)
            self._open_toolsets.append(OpenToolsets(agent.toolsets))
        return self

    async def __aexit__(self, *error: object) -> None:
        self._open_toolsets.clear()
        await self._stack.aclose()

    @property
    def need_approval(self) -> frozenset[str]:
        """The names of the tools that wait for a person's approval."""
        own = (tool for agent in self._agents.values() for tool in agent.tools.values())
        return names_to_approve((*own, *(tool for toolsets in self._open_toolsets for tool in toolsets.listed)))

    @property
    def max_steps(self) -> int:
        """Maximum model calls of a run of any agent."""
        return max(agent.configured.limits.steps for agent in self._agents.values())

    def new_settings(self, model: str, instructions: str = "") -> str:
        """The settings to store with a new run of an agent, with a user's instructions."""
        agent = self._find(model)
        own = agent.configured
        return serialize(StoredSettings(instructions, own.limits, own.model, own.instructions))

    def _make(self, model: str, settings: StoredSettings) -> Agent:
        agent = self._find(model)
        changed = agent.change(
            instructions=join_instructions(settings.operator, ABOUT_FILES, settings.instructions),
            model_settings=settings.model_settings,
            limits=settings.limits,
        )
        _ = changed.exchange  # raises before anything is stored
        return changed

    def _find(self, name: str) -> Agent:
        if name not in self._agents:
            raise UnknownModel(f"there is no model {name[:40]!r} here: choose {' or '.join(self._agents)}")
        return self._agents[name]

    async def entries(self) -> tuple[CatalogEntry, ...]:
        """Return the agents, in the program's order."""
        return tuple(self._entry(name, agent) for name, agent in self._agents.items())

    def _entry(self, name: str, agent: Agent) -> CatalogEntry:
        try:
            _, problem = agent.exchange, None
        except BadInput as error:
            problem = str(error)
        return entry_of(agent.target, name, name, problem, agent.settings.policy.describer)

    def choose(self, preferred: str | None) -> str:
        """Return the user's own choice if it is one of these agents, else the first one."""
        return preferred if preferred in self._agents else next(iter(self._agents))

    def id_of(self, model: str) -> str:
        """Return the name of an agent."""
        return model

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such agent."""
        self._find(model)
