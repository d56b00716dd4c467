"""The groups of an agent's settings from the configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from showandtell.agent.loader import Transcribe
from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, RunLimits
from showandtell.config.read import read_instructions
from showandtell.config.settings import FilesSection, Settings
from showandtell.network.fetch import FetchPolicy
from showandtell.providers.auth import find_variable, read_headers
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.rows import variables_of


def arguments_of(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The arguments of an agent, and those that the program gives in their place.

    Tools, and functions for files, are the program's own. Raises `BadInput` for instructions that can't be read.
    """
    model = given.get("model", settings.model)
    return {
        "model": model,
        "instructions": "" if "instructions" in given else read_instructions(settings.instructions),
        "model_settings": model_settings_of(settings),
        "limits": limits_of(settings),
        "retry": retry_of(settings),
        "file_policy": file_policy_of(settings.file_policy),
        "connection": connection_of(settings, model, environ),
        **given,
    }


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
