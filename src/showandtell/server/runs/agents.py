"""The agents of a server: one for each model and instructions, kept from run to run, all over the same connections."""

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

#: What every model is told, before the user's own instructions: what it can do with numbers on this server's page.
ABOUT_FILES = (
    'Files of this conversation have numbers, as in "image 5", by which you and the user may name them. The user has '
    "seen each where it came up; ![caption](file:5) in your answer shows number 5 in that place."
)
#: So many are kept; of more, the one that was used longest ago is made again.
MOST = 64


def tools_of(folder: Path | None, named: tuple[Tool, ...]) -> list[Tool]:
    """What a server's models may do: a named tool replaces one of ours; files are read where one says which."""
    ours = [chart, view_file, get_document, list_files, *([read_file_in(folder)] if folder is not None else [])]
    return [*({**by_name(ours), **by_name(named)}).values()]


class Agents:
    """Agents by model and instructions."""

    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._tools = tools_of(config.folder, config.tools)
        self._kept: OrderedDict[tuple[str, str], Agent] = OrderedDict()

    def of(self, model: str, instructions: str = "") -> Agent:
        """The agent of a model. Raises `UnknownModel`, and `MissingKey` which names the variable to set."""
        key = (model, instructions)
        agent = self._kept.pop(key, None) or self._make(model, instructions)
        self._kept[key] = agent
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)
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
