"""The arguments of an agent from the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from showandtell.agent.builtin_tools import build_tools
from showandtell.agent.loader import Transcribe
from showandtell.agent.named import import_function, import_tools
from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, RunLimits
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import Toolset, split_tools
from showandtell.config.read import read_instructions
from showandtell.config.settings import FilesSection, Settings
from showandtell.core.wire.hosted_tools import HostedTool, split_hosted
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy
from showandtell.providers.auth import find_variable, read_headers
from showandtell.providers.connect import variables_of
from showandtell.providers.default_model import DefaultModel, choose_default
from showandtell.providers.hosts import key_provider
from showandtell.providers.retry import RetryPolicy


def arguments_of(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The arguments of an agent, and those that the program gives in their place.

    Raises `BadInput` for instructions that can't be read, and for tools and functions that can't be imported.
    """
    model = given["model"] if "model" in given else model_of(settings, environ=environ).model
    made: dict[str, Callable[[], Any]] = {
        "model": lambda: model,
        "tools": lambda: configured_tools(settings),
        "instructions": lambda: read_instructions(settings.instructions),
        "model_settings": lambda: model_settings_of(settings),
        "limits": lambda: limits_of(settings),
        "retry": lambda: retry_of(settings),
        "file_policy": lambda: configured_files(settings.file_policy),
        "connection": lambda: connection_of(settings, model, environ),
    }
    return {**{name: make() for name, make in made.items() if name not in given}, **given}


def model_of(
    settings: Settings,
    used: str | None = None,
    stored: Collection[str] = (),
    preferred: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> DefaultModel:
    """The configured model, else the one that `choose_default` decides on. Keys of configuration files count.

    `preferred` is what a person chose on the page, for when nothing is configured here.
    """
    in_files = {key_provider(name) for name, own in settings.providers.items() if own.api_key}
    return choose_default((settings.model, preferred), used, {*stored, *in_files}, environ)


def configured_tools(settings: Settings) -> list[Tool | Toolset | HostedTool]:
    """The built-in and the named tools; `read_file` if there is a folder for it. Raises `BadInput`."""
    if (folder := settings.folder) is not None and not Path(folder).is_dir():
        raise BadInput(f"folder: {folder} is not a folder")
    named = import_tools("tools", settings.tools) if settings.tools else []
    return tools_of(settings, Path(folder) if folder else None, named)


def tools_of(
    settings: Settings, folder: Path | None, named: Iterable[Tool | Toolset | HostedTool]
) -> list[Tool | Toolset | HostedTool]:
    """The built-in tools that are chosen, and named ones, which replace those of a name."""
    own, hosted = split_hosted(named)
    tools, toolsets = split_tools(own)
    return [*build_tools(folder, tools, settings.builtin), *toolsets, *hosted]


def configured_files(files: FilesSection) -> FilePolicy:
    """How files reach the model, with the function that transcribes them. Raises `BadInput`."""
    name = files.transcribe
    return file_policy_of(files, import_function("file_policy.transcribe", name) if name else None)


def connection_of(settings: Settings, model: str, environ: Mapping[str, str]) -> Connection:
    """The base URL, key and headers that files give for the provider of a model, below its variables."""
    provider = model.partition(":")[0]
    own, variables = settings.providers.get(provider), variables_of(provider)
    if own is None or not variables:
        return Connection()
    given = {name: value for name, value in asdict(own).items() if find_variable(variables[name], environ) is None}
    if given.get("base_url"):  # headers of variables go to no base URL of an argument
        given["headers"] = read_headers(variables["headers"], environ) or own.headers
    return Connection(**given)


def model_settings_of(settings: Settings) -> ModelSettings:
    """Temperature, tokens, tool choice, reasoning, streaming."""
    return ModelSettings(**asdict(settings.model_settings))


def limits_of(settings: Settings) -> RunLimits:
    """The limits of a run."""
    return RunLimits(**asdict(settings.limits))


def retry_of(settings: Settings) -> RetryPolicy:
    """What happens while the provider is busy."""
    return RetryPolicy(**asdict(settings.retry))


def file_policy_of(files: FilesSection, transcribe: Transcribe | None = None) -> FilePolicy:
    """How files reach the model. `transcribe` is the function that the setting of that name is about."""
    fetch = FetchPolicy(**asdict(files.fetch)) if files.fetch.fetch else None
    own = asdict(files)
    own.update(fetch=fetch, transcribe=transcribe, describe=files.describe or None)
    return FilePolicy(**own)
