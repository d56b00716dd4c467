"""Options of commands from the table of settings, with the values of configuration files below variables.

Files are the `default_map` of the commands, so that click itself knows their rank and where a value comes from.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypeVar, cast, get_args, get_origin, get_type_hints

import typer
from msgspec import Meta

from showandtell.config.read import (
    Configuration,
    build_settings,
    choices_of,
    convert,
    empty,
    parse_text,
    read_configuration,
)
from showandtell.config.settings import Key, Settings, keys
from showandtell.core.capabilities.registry import families
from showandtell.core.display.words import plain
from showandtell.errors import BadInput, UsageError
from showandtell.providers.auth import find_variable, write_headers
from showandtell.providers.connect import variables_of

#: The beginnings of the names of an agent's settings.
AGENT = ("model", "model_settings.", "instructions", "builtin", "tools", "folder", "limits.", "file_policy.")
#: The settings that say where conversations are stored.
STORE = ("storage.data", "storage.database", "storage.blobs", "storage.schema")
META = "showandtell.configuration"
PANELS = {
    "": "Agent",
    "model_settings": "Agent",
    "limits": "Limits",
    "file_policy": "Files",
    "file_policy.fetch": "Fetching",
    "storage": "Storage",
    "server": "Server",
}
#: The panel of options with a negative form, whose column would leave little room for the names of variables.
SWITCHES = "Switches"
METAVARS: dict[Any, str] = {int | None: "N", float | None: "X", list[str] | None: "LIST"}
IGNORED = (
    "{path}: ignored {names}: a file that is only found from the current folder may not set this,"
    " or allow more with it; see --config"
)
REFUSED = "{path} is ignored: it belongs to another user; to use it, name it with --config"
T = TypeVar("T")


def loaded_by(ctx: typer.Context) -> Loaded:
    """The configuration files of an invocation."""
    return ctx.meta[META]


class Loaded:
    """The configuration of one invocation. Problems are reported by the first command that needs it."""

    def __init__(self, file: Path | None) -> None:
        self.configuration, self.error, self._reported = Configuration(), "", False
        #: Variables that were set from files.
        self.exported: frozenset[str] = frozenset()
        try:
            self.configuration = read_configuration(file, variables=False)
        except BadInput as error:
            self.error = str(error)

    def report(self) -> None:
        """Raise `UsageError` for an invalid file, and print once what was ignored."""
        if self.error:
            raise UsageError(self.error)
        if not self._reported:
            self._reported = True
            for path, names in self.configuration.ignored.items():
                warn(IGNORED.format(path=path, names=", ".join(names)))
            if self.configuration.refused:
                warn(REFUSED.format(path=self.configuration.refused))


def warn(text: str) -> None:
    """Print a line on stderr."""
    typer.echo(f"showandtell: {plain(text)}", err=True)


def load(ctx: typer.Context, file: Path | None) -> None:
    """Read the configuration for all commands below a context."""
    loaded = ctx.meta[META] = Loaded(file)
    values = {
        key.parameter: to_option(loaded.configuration.values[name].value)
        for name, key in keys().items()
        if key.parameter and name in loaded.configuration.values
    }
    loaded.exported = frozenset(export_providers(loaded.configuration, os.environ))
    name = ctx.invoked_subcommand or ""
    command = cast("Any", ctx.command).get_command(ctx, name)  # the others aren't loaded
    ctx.default_map = {name: defaults(command, values)}


def export_providers(configuration: Configuration, environ: MutableMapping[str, str]) -> Iterator[str]:
    """Set the variables that files give for providers, unless another one is set. Yields their names.

    Variables are what all parts of the program read keys from, also the workers of a server.
    """
    for provider, own in configuration.settings.providers.items():
        values = {"base_url": own.base_url, "api_key": own.api_key, "headers": write_headers(own.headers or {})}
        for field, variables in variables_of(provider).items():
            if (value := values[field]) and variables and find_variable(variables, environ) is None:
                environ[variables[0]] = value
                yield variables[0]


def defaults(command: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The `default_map` of a command: values of options, or one such map for each command of a group."""
    commands: Mapping[str, object] | None = getattr(command, "commands", None)
    return values if commands is None else {name: defaults(below, values) for name, below in commands.items()}


def to_option(value: Any) -> Any:
    """A value as an option takes it."""
    if isinstance(value, dict):
        return ",".join(f"{name}={item}" for name, item in cast("dict[str, str]", value).items())
    if isinstance(value, tuple):
        return [str(item) for item in cast("tuple[object, ...]", value)] or ["none"]
    return value


def option(name: str) -> Any:
    """The option of a setting, for `Annotated`."""
    key = keys()[name]
    low, high = bounds(key)
    return typer.Option(
        *key.about.options,
        envvar=key.variable,
        help=key.about.help,
        min=low,
        max=high,
        metavar=key.about.metavar or METAVARS.get(option_type(key)),
        rich_help_panel=SWITCHES if "/" in key.about.options[0] else PANELS[name.rpartition(".")[0]],
        show_default=not isinstance(key.default, bool),
        autocompletion=COMPLETIONS.get(name),
    )


def bounds(key: Key) -> tuple[int | None, int | None]:
    """The least and the greatest integer that the option takes."""
    limits = [limit for limit in metadata(key.type) if isinstance(limit, Meta)]
    whole = option_type(key) == int | None
    low, high = (next((getattr(limit, end) for limit in limits), None) for end in ("ge", "le"))
    return (low, high) if whole else (None, None)


def metadata(hint: object) -> Iterator[object]:
    """What `Annotated` adds to a type and to the types in it."""
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint):
        if isinstance(part, type) or get_origin(part) is not None:
            yield from metadata(part)


def option_type(key: Key) -> Any:
    """The type of an option's value: None is a setting that nobody set."""
    if key.is_list:
        return list[str] | None
    plain_type = strip(key.type)
    if choices_of(key.type) and not any(get_origin(part) is dict for part in get_args(plain_type)):
        return Optional[Literal[*choices_of(key.type)]]  # noqa: UP045 - a Literal that is made has no `|` for pyright
    for known in (bool, int, float):
        if known in {plain_type, *map(strip, get_args(plain_type))}:
            return known | None
    return str | None


def strip(hint: Any) -> Any:
    """A type without what `Annotated` adds."""
    return strip(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def with_settings(*sections: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command the options of settings, by the beginnings of their names, and their values as `settings`."""
    chosen = [key for name, key in keys().items() if key.parameter and (name in sections or in_section(name, sections))]

    def decorate(command: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(command)
        def run(ctx: typer.Context, **values: Any) -> T:
            given = {key: values.pop(key.parameter) for key in chosen}
            context = {"ctx": ctx} if takes_context else {}
            return command(**context, **values, settings=settings_of(ctx, given))

        hints = get_type_hints(command, include_extras=True)
        takes_context = "ctx" in hints
        declared = inspect.signature(command).parameters
        own = [item for name, item in declared.items() if name not in {"settings", "ctx"}]
        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [
            *(item.replace(annotation=hints[item.name], kind=item.KEYWORD_ONLY) for item in own),
            *(parameter_of(key) for key in chosen),
        ]
        run.__signature__ = inspect.Signature([context, *parameters])  # pyright: ignore[reportFunctionMemberAccess, reportAttributeAccessIssue] - of any function
        run.__annotations__ = {item.name: item.annotation for item in (context, *parameters)}
        return run

    return decorate


def in_section(name: str, sections: Collection[str]) -> bool:
    """Whether a setting belongs to one of these sections, which end in a dot; an empty one has all."""
    return any(name.startswith(section) for section in sections if section.endswith(".") or not section)


@functools.cache
def parameter_of(key: Key) -> inspect.Parameter:
    """The parameter of a command for a setting."""
    default = None if key.is_list else key.default
    annotation = Annotated[option_type(key), option(key.name)]
    return inspect.Parameter(key.parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def settings_of(ctx: typer.Context, given: Mapping[Key, Any]) -> Settings:
    """All settings: those of options and variables, and of files what has no option."""
    loaded = loaded_by(ctx)
    loaded.report()
    files = loaded.configuration.values
    values = {name: files[name].value for name, key in keys().items() if not key.parameter and name in files}
    for key, value in given.items():
        source = ctx.get_parameter_source(key.parameter)
        match source and source.name:
            case "DEFAULT" | "DEFAULT_MAP" if is_empty(key.variable):
                raise UsageError(empty(key.variable))
            case "DEFAULT" | None:
                pass
            case _:
                values[key.name] = from_option(key, value)
    return build_settings(values)


def is_empty(variable: str) -> bool:
    """Whether a variable is set to nothing, which click takes for one that isn't set."""
    return not os.environ.get(variable, "unset").strip()


def from_option(key: Key, value: Any) -> Any:
    """The value of a setting from that of its option. Raises `UsageError`."""
    parsed = value if isinstance(value, bool | int | float) else parse_text(key, joined(value))
    try:
        return convert(key, parsed, key.option, strict=False)
    except BadInput as error:
        raise UsageError(str(error)) from None


def joined(value: object) -> str:
    """The value of an option as one text; an option may be repeated."""
    return ",".join(cast("list[str]", value)) if isinstance(value, list) else str(value)


def complete_model(incomplete: str) -> list[str]:
    """The models of the table that begin like this."""
    names = dict.fromkeys(f"{family.provider}:{family.example}" for family in families())
    return [name for name in ("inspector", *names) if name.startswith(incomplete) and "some-" not in name]


COMPLETIONS = {"model": complete_model, "file_policy.describe": complete_model}
