"""The agent of `chat` and `ask`, and the place of their conversations, from the settings."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from showandtell.agent.agent import Agent
from showandtell.agent.builtin_tools import builtin_tools
from showandtell.agent.from_settings import file_policy_of, limits_of, model_settings_of, retry_of
from showandtell.agent.settings import FilePolicy
from showandtell.agent.tools import as_tool
from showandtell.cli import arguments
from showandtell.config.read import read_instructions
from showandtell.config.settings import Settings
from showandtell.errors import UsageError
from showandtell.samples import folder as samples


def make_agent(settings: Settings, *, strict: bool = False) -> Agent:
    """An agent with the built-in tools and those of `--tools`, which replace built-in tools of the same name."""
    folder = folder_of(settings)
    builtin = [tool for tool in map(as_tool, builtin_tools(folder or samples())) if tool.name in settings.builtin]
    named = arguments.import_tools(settings.tools) if settings.tools else []
    return Agent(
        settings.model,
        arguments.merge(builtin, named),
        read_instructions(settings.instructions),
        model_settings=model_settings_of(settings),
        limits=limits_of(settings),
        retry=retry_of(settings),
        file_policy=file_policy(settings, strict=strict),
    )


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
    transcribe = arguments.import_function("--transcribe", files.transcribe) if files.transcribe else None
    return file_policy_of(files, transcribe)
