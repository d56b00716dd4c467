"""The agent of `chat` and `ask`, and the place of their conversations, from the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from showandtell.agent.agent import Agent
from showandtell.agent.from_settings import arguments_of, file_policy_of, tools_of
from showandtell.agent.named import import_function, import_tools
from showandtell.agent.settings import FilePolicy
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import Toolset
from showandtell.cli import arguments
from showandtell.cli.person import Person
from showandtell.config.settings import Settings
from showandtell.core.wire.hosted_tools import HostedTool
from showandtell.errors import UsageError
from showandtell.samples import folder as samples
from showandtell.server.provider_keys.provider_key import check_host

#: Makes the agent of a person.
MakeAgent: TypeAlias = Callable[[Person], Agent]


def make_agent(settings: Settings, person: Person, *, strict: bool = False) -> Agent:
    """An agent with the built-in tools and those of `--tools`, which replace built-in tools of the same name.

    Without a configured model, it has the default one of the person. A stored key counts before the environment's.
    """
    model = person.choose(settings).model
    given: dict[str, Any] = {
        "model": model,
        "tools": tools_of(settings, folder_of(settings) or samples(), named_tools(settings)),
        "file_policy": file_policy(settings, strict=strict),
    }
    if (connection := person.connection_to(model)) is not None:
        given["connection"] = connection
    agent = Agent(**arguments_of(settings, given))
    if connection is not None:
        check_host(agent.target.provider, agent.exchange, person.key_for(model))
    return agent


def named_tools(settings: Settings) -> list[Tool | Toolset | HostedTool]:
    """The tools of `--tools`. Raises `UsageError`."""
    return arguments.imported(import_tools, "--tools", settings.tools) if settings.tools else []


def folder_of(settings: Settings) -> Path | None:
    """The folder of `read_file`. Raises `UsageError` for one that doesn't exist."""
    if settings.folder is None:
        return None
    folder = Path(settings.folder)
    if not folder.is_dir():
        raise UsageError(f"--folder: {folder} is not a folder")
    return folder


def file_policy(settings: Settings, *, strict: bool = False) -> FilePolicy:
    """How files reach the model. `strict` is an error for each that it doesn't support."""
    files = replace(settings.file_policy, on_unsupported="error") if strict else settings.file_policy
    transcribe = arguments.imported(import_function, "--transcribe", files.transcribe) if files.transcribe else None
    return file_policy_of(files, transcribe)
