"""The agents of a server: one per model and instructions. They are cached, and share one transport."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from showandtell.agent.agent import Agent
from showandtell.agent.builtin_tools import chart, read_file_in
from showandtell.agent.file_tools import get_document, list_files, view_file
from showandtell.agent.settings import Connection, FilePolicy, RunLimits
from showandtell.agent.tools import Tool, by_name
from showandtell.network.transport import Transport
from showandtell.server.config import Config

#: Every model gets this text before the user's own instructions: how file numbers work on this server's page.
ABOUT_FILES = (
    'Files of this conversation have numbers, as in "image 5", by which you and the user may name them. The user has '
    "seen each where it came up; ![caption](file:5) in your answer shows number 5 in that place."
)
#: Maximum number of cached agents (least recently used first out).
MAX_AGENTS = 64


def build_tools(folder: Path | None, configured: tuple[Tool, ...]) -> list[Tool]:
    """The tools of every agent. A configured tool replaces a built-in one of that name; `read_file` needs a folder."""
    builtin = [chart, view_file, get_document, list_files, *([read_file_in(folder)] if folder is not None else [])]
    return [*({**by_name(builtin), **by_name(configured)}).values()]


class Agents:
    """A cache of agents by model and instructions."""

    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._tools = build_tools(config.folder, config.tools)
        self._cached: OrderedDict[tuple[str, str], Agent] = OrderedDict()

    def get(self, model: str, instructions: str = "") -> Agent:
        """Return the agent for a model. Raises `UnknownModel`, and `MissingKey`, which names the variable to set."""
        key = (model, instructions)
        agent = self._cached.pop(key, None) or self._make(model, instructions)
        self._cached[key] = agent
        if len(self._cached) > MAX_AGENTS:
            self._cached.popitem(last=False)
        return agent

    def _make(self, model: str, instructions: str) -> Agent:
        agent = Agent(
            model,
            self._tools,
            f"{ABOUT_FILES}\n\n{instructions}".strip(),
            limits=RunLimits(steps=self._config.max_steps, seconds=self._config.max_seconds),
            file_policy=FilePolicy(max_file_bytes=self._config.place.max_file_bytes),
            connection=Connection(transport=self._transport),
        )
        _ = agent.exchange  # raises before anything is stored
        return agent
