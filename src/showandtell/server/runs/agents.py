"""The agents of a server: one per model and settings, cached. `agent_choices` has those of a program around it."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from showandtell.agent.agent import Agent
from showandtell.agent.builtin_tools import build_tools
from showandtell.agent.settings import Connection
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import OpenToolsets, split_tools
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.hosted_tools import runs, split_hosted
from showandtell.errors import ShowAndTellError
from showandtell.network.transport import Transport
from showandtell.server.config import Config
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


class Agents(ABC):
    """A cache of agents by model and stored settings, open within `async with`."""

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[str, str], Agent] = OrderedDict()

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

    @abstractmethod
    def new_settings(self, model: str, instructions: str = "") -> str:
        """The settings to store with a new run of a model, with a user's instructions. Raises `UnknownModel`."""

    @abstractmethod
    def _make(self, model: str, settings: StoredSettings) -> Agent:
        """Make an agent. Raises before anything is stored if it has no way to its provider."""

    def get(self, model: str, settings: str) -> Agent:
        """Return the agent for a model and the stored settings of a run.

        Raises `UnknownModel`, `MissingKey`, which names the variable to set, and `StorageFailed` for damaged settings.
        """
        key = (model, settings)
        agent = self._cached.pop(key, None) or self._make(model, read_settings(settings))
        self._cached[key] = agent
        if len(self._cached) > MAX_AGENTS:
            self._cached.popitem(last=False)
        return agent


class ModelAgents(Agents):
    """Agents for any model, with the tools and limits of a configuration. They share one transport."""

    def __init__(self, config: Config, transport: Transport) -> None:
        super().__init__()
        self._config, self._transport = config, transport
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

    def new_settings(self, model: str, instructions: str = "") -> str:
        """The settings to store with a new run, with a user's instructions beside the operator's. Models share them."""
        del model
        config = self._config
        return serialize(StoredSettings(instructions, config.limits, config.model_settings, config.instructions))

    def _make(self, model: str, settings: StoredSettings) -> Agent:
        agent = Agent(
            model,
            (*self._tools, *self._toolsets, *(tool for tool in self._hosted if runs(tool, resolve(model)))),
            join_instructions(ABOUT_FILES, settings.operator, settings.instructions),
            model_settings=settings.model_settings,
            limits=settings.limits,
            retry=self._config.retry,
            file_policy=replace(self._config.file_policy, max_file_bytes=self._config.place.max_file_bytes),
            connection=Connection(transport=self._transport),
        )
        _ = agent.exchange  # raises before anything is stored
        return agent


def names_to_approve(tools: Iterable[Tool]) -> frozenset[str]:
    """The names of the tools that wait for a person's approval."""
    return frozenset(tool.name for tool in tools if tool.approval)


def join_instructions(*instructions: str) -> str:
    """One text of several."""
    return "\n\n".join(text for text in instructions if text)
