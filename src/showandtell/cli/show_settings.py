"""The command `config`: which settings count, and where each comes from. It prints no key, password or token."""

from __future__ import annotations

import asyncio
import json as json_format
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
import typer

from showandtell.cli.configured import Loaded, loaded_by, with_settings
from showandtell.cli.learned import explain
from showandtell.cli.options import AsJson
from showandtell.cli.person import Person
from showandtell.cli.sessions import person_at, place_of
from showandtell.config.settings import Key, Settings, add_keys_of, keys
from showandtell.config.user_settings import data_folder
from showandtell.core.display.words import plain
from showandtell.errors import ShowAndTellError
from showandtell.providers.auth import find_variable
from showandtell.providers.connect import variables_of
from showandtell.providers.hosts import all_hosts

HIDDEN = "(hidden)"
#: Variables without a key in a file. Their values are secret, or of no use here.
OTHERS = (
    "SHOWANDTELL_TOKEN",
    "SHOWANDTELL_SECRET",
    "SHOWANDTELL_PREVIOUS_SECRETS",
    "SHOWANDTELL_OIDC_ISSUER",
    "SHOWANDTELL_OIDC_CLIENT_ID",
    "SHOWANDTELL_OIDC_CLIENT_SECRET",
    "SHOWANDTELL_OIDC_AUDIENCE",
    "SHOWANDTELL_OIDC_SCOPES",
    "SHOWANDTELL_OIDC_ADMIN_CLAIM",
    "SHOWANDTELL_OVERRIDES",
    "SHOWANDTELL_TELEMETRY_CONTENT",
)
#: User and password of a URL, also of one that is written wrongly, and its query.
CREDENTIALS = re.compile(r"^([\w+.-]*:/*)?.*@", re.DOTALL)
QUERY = re.compile(r"\?.+", re.DOTALL)
WIDTH = 60


class Line(NamedTuple):
    """A setting that counts. origin: an option, a variable, a file, or `default`."""

    key: str
    value: Any
    origin: str


@with_settings("")
def config(ctx: typer.Context, settings: Settings, json: AsJson = False) -> None:
    """Print the settings that count for these options, and where each comes from. Keys and passwords are hidden."""
    lines = [*list_settings(ctx, settings), *list_variables(loaded_by(ctx))]
    if json:
        ignored = {str(path): names for path, names in loaded_by(ctx).configuration.ignored.items()}
        value = {"settings": [line._asdict() for line in lines], "ignored": ignored}
        typer.echo(msgspec.json.encode(value).decode())
        return
    shown = [(line.key, show(line.value), line.origin) for line in lines]
    widths = [min(max(len(row[column]) for row in shown), WIDTH) for column in (0, 1)]
    for name, value, origin in shown:
        typer.echo(f"{name:{widths[0]}}  {plain(value):{widths[1]}}  {plain(origin)}")


def list_settings(ctx: typer.Context, settings: Settings) -> Iterator[Line]:
    """All settings but those of providers."""
    files = loaded_by(ctx).configuration.values
    for name, key in keys().items():
        source = ctx.get_parameter_source(key.parameter)
        match source and source.name:
            case "COMMANDLINE":
                origin = key.option
            case "ENVIRONMENT":
                origin = key.variable
            case _:
                origin = files[name].origin if name in files else "default"
        if name == "model" and settings.model is None:
            yield Line(name, *find_default(settings))
        elif not name.startswith("providers."):
            value = value_of(settings, name)
            folder = str(data_folder()) if name == "storage.data" and value is None else value
            yield Line(name, hide(key, folder), origin)


def find_default(settings: Settings) -> tuple[str, str]:
    """The model that answers if none is configured, and why."""
    person = Person()
    with suppress(ShowAndTellError):  # this command works without a database, too
        person = asyncio.run(person_at(place_of(settings)))
    default = person.choose(settings)
    return default.model, f"default: {explain(default)}"


def value_of(settings: Settings, name: str) -> Any:
    """The value of a dotted name."""
    value: Any = msgspec.to_builtins(settings)
    for part in name.split("."):
        value = value[part]
    return value


def list_variables(loaded: Loaded) -> Iterator[Line]:
    """The providers' keys and base URLs, and what is set by variables alone, as the server's secrets."""
    files = loaded.configuration.values
    for provider in all_hosts():
        for field, names in variables_of(provider).items():
            if found := find_variable(names, os.environ):
                add_keys_of(provider)
                key = keys()[f"providers.{provider}.{field}"]
                origin = files[key.name].origin if found[0] in loaded.exported and key.name in files else found[0]
                yield Line(key.name, hide(key, found[1]), origin)
    for name in OTHERS:
        if os.environ.get(name):
            yield Line(name.removeprefix("SHOWANDTELL_").lower(), HIDDEN, name)


def hide(key: Key, value: Any) -> Any:
    """A value as it may be printed."""
    if value is None or not key.about.hidden:
        return value
    return HIDDEN if key.about.hidden == "yes" else QUERY.sub("?…", CREDENTIALS.sub(r"\1…@", value))


def show(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json_format.dumps(value, ensure_ascii=False)
