"""The agents of a server: one per model and settings, cached. `agent_choices` has those of a program around it."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Self

from msgspec import Struct

from showandtell.agent.agent import Agent
from showandtell.agent.builtin_tools import build_tools
from showandtell.agent.chosen_tools import choose_tools
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import OpenToolsets, split_tools
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.registry import INSPECTOR
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.conversation_settings import ConversationSettings, check_temperature
from showandtell.core.wire.hosted_tools import HostedTool, name_of, runs, split_hosted
from showandtell.errors import ShowAndTellError
from showandtell.providers.hosts import key_provider
from showandtell.server.config import Config
from showandtell.server.provider_keys.access import ProviderAccess
from showandtell.server.provider_keys.provider_key import Way, check_host, usable_key, usable_providers
from showandtell.server.runs.stored_settings import StoredSettings, read_settings
from showandtell.storage.database.rows import serialize

log = logging.getLogger(__name__)

#: Every model gets this text before the user's own instructions: how file numbers work on this server's page.
ABOUT_FILES = (
    'Files of this conversation have numbers, as in "image 5", by which you and the user may name them. The user has '
    "seen each where it came up; ![caption](file:5) in your answer shows number 5 in that place."
)
#: Maximum number of cached agents (least recently used first out).
MAX_AGENTS = 64
#: Seconds to wait for toolsets that aren't connected, when their tools are listed for people.
LIST_SECONDS = 5.0
#: Maximum length of a tool's description for people.
MAX_DESCRIPTION = 300
NO_SETTINGS = ConversationSettings()


class AvailableTool(Struct, frozen=True):
    """A tool that a user can switch off. `hosted`: its provider runs it. `approval`: it waits for a person's."""

    name: str
    description: str
    approval: bool = False
    hosted: bool = False


class Agents(ABC):
    """A cache of agents by model and stored settings, open within `async with`."""

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[str, str, object], Agent] = OrderedDict()

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(self, *error: object) -> None: ...

    @property
    @abstractmethod
    def need_approval(self) -> frozenset[str]:
        """The names of the tools that wait for a person's approval."""

    @property
    @abstractmethod
    def max_steps(self) -> int:
        """Maximum model calls of a run."""

    def new_settings(self, model: str, instructions: str = "", own: ConversationSettings = NO_SETTINGS) -> str:
        """The settings to store with a new run of a model, with a user's instructions, and those of a conversation.

        Raises `UnknownModel`, and `BadInput` for a temperature that the model's API doesn't take.
        """
        if own.temperature is not None:
            target = self.target_of(model)
            check_temperature(own.temperature, target.dialect.max_temperature, target.name)
        return serialize(self._settings_of(model, instructions).of(own))

    @abstractmethod
    def _settings_of(self, model: str, instructions: str) -> StoredSettings:
        """The settings of a new run, with a user's instructions. Raises `UnknownModel`."""

    @abstractmethod
    def target_of(self, model: str) -> Target:
        """What a model is. Raises `UnknownModel`."""

    @abstractmethod
    async def available_tools(self, model: str | None = None) -> tuple[AvailableTool, ...]:
        """The tools of a model's answers; None: those of any model. Those of a toolset that fails are left out."""

    @abstractmethod
    def _make(self, model: str, settings: StoredSettings, way: Way) -> Agent:
        """Make an agent. Raises before anything is stored if it has no way to its provider."""

    async def _find_way(self, model: str, user: str) -> Way:
        """The stored key for a user's runs with a model. Raises `BadInput` for one that can't be decrypted."""
        del model, user
        return Way()

    async def get(self, model: str, settings: str, user: str) -> Agent:
        """Return the agent for a model and the stored settings of a user's run.

        Raises `UnknownModel`, `MissingKey`, which names the variable to set, `BadInput` for a stored key that can't be
        used, and `StorageFailed` for damaged settings.
        """
        way = await self._find_way(model, user)
        key = (model, settings, way)
        agent = self._cached.pop(key, None) or self._make(model, read_settings(settings), way)
        self._cached[key] = agent
        if len(self._cached) > MAX_AGENTS:
            self._cached.popitem(last=False)
        return agent


class ModelAgents(Agents):
    """Agents for any model, with the tools and limits of a configuration. They share the transports."""

    def __init__(self, config: Config, access: ProviderAccess) -> None:
        super().__init__()
        self._config, self._access = config, access
        own, self._hosted = split_hosted(config.tools)
        tools, self._toolsets = split_tools(own)
        self._tools = build_tools(config.folder, tools, config.builtin)
        self._open_toolsets = OpenToolsets(self._toolsets)

    async def __aenter__(self) -> Self:
        """Connect the toolsets, and keep them open. Runs try again with one that fails."""
        await self._open_toolsets.__aenter__()
        self._connecting = asyncio.create_task(self._connect())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._connecting.cancel()
        await asyncio.wait({self._connecting})
        await self._open_toolsets.__aexit__(*error)

    async def _connect(self) -> None:
        try:
            await self._open_toolsets.list()
        except ShowAndTellError as error:
            log.warning("%s", error)

    @property
    def need_approval(self) -> frozenset[str]:
        """The names of the tools that wait for a person's approval."""
        return names_to_approve((*self._tools, *self._open_toolsets.listed))

    @property
    def max_steps(self) -> int:
        """Maximum model calls of a run."""
        return self._config.limits.steps

    def _settings_of(self, model: str, instructions: str) -> StoredSettings:
        """The settings of a new run, with a user's instructions beside the operator's. Models share them."""
        del model
        config = self._config
        return StoredSettings(instructions, config.limits, config.model_settings, config.instructions)

    def target_of(self, model: str) -> Target:
        """What a model is. Raises `UnknownModel`."""
        return resolve(model)

    async def available_tools(self, model: str | None = None) -> tuple[AvailableTool, ...]:
        """The tools of a model's answers; None: those of any model. Those of a toolset that fails are left out."""
        hosted = self._hosted if model is None else self._hosted_of(model)
        return describe_tools((*self._tools, *await list_tools(self._open_toolsets)), hosted)

    def _hosted_of(self, model: str) -> tuple[HostedTool, ...]:
        return tuple(tool for tool in self._hosted if runs(tool, resolve(model)))

    async def _find_way(self, model: str, user: str) -> Way:
        """The user's own key, else that for everyone, else none: then the environment's counts."""
        provider, keys = resolve(model).provider, await self._access.keys.of(user)
        stored = keys.get(key_provider(provider))
        key = None if stored is None else usable_key(provider, stored)
        return Way(key, has_keys=provider == INSPECTOR and bool(usable_providers(keys)))

    def _make(self, model: str, settings: StoredSettings, way: Way) -> Agent:
        agent = Agent(
            model,
            choose_tools((*self._tools, *self._toolsets, *self._hosted_of(model)), settings.chosen),
            join_instructions(ABOUT_FILES, settings.operator, settings.instructions, settings.conversation),
            model_settings=settings.model_settings,
            limits=settings.limits,
            retry=self._config.retry,
            file_policy=replace(self._config.file_policy, max_file_bytes=self._config.place.max_file_bytes),
            connection=self._access.transports.connection(way),
        )
        check_host(agent.target.provider, agent.exchange, way.key)
        return agent


def names_to_approve(tools: Iterable[Tool]) -> frozenset[str]:
    """The names of the tools that wait for a person's approval."""
    return frozenset(tool.name for tool in tools if tool.approval)


async def list_tools(toolsets: OpenToolsets) -> Iterable[Tool]:
    """The tools of toolsets, without those that aren't available in time."""
    with suppress(ShowAndTellError, TimeoutError):
        async with asyncio.timeout(LIST_SECONDS):
            await toolsets.list()
    return toolsets.listed


def describe_tools(tools: Iterable[Tool], hosted: Iterable[HostedTool]) -> tuple[AvailableTool, ...]:
    """Tools for people."""
    return (
        *(AvailableTool(tool.name, tool.description[:MAX_DESCRIPTION], tool.approval) for tool in tools),
        *(AvailableTool(name_of(tool), "", hosted=True) for tool in hosted),
    )


def join_instructions(*instructions: str) -> str:
    """One text of several."""
    return "\n\n".join(text for text in instructions if text)
