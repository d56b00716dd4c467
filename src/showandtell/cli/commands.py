"""The commands by name. A command's module is imported when the command is used, or when the help lists it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperGroup

from showandtell.cli.configured import load
from showandtell.errors import UsageError
from showandtell.plugins import suggestion
from showandtell.version import VERSION

STATUSES = "Exit status: 0 complete, 1 error, 2 usage, 3 incomplete or waiting, 4 refused, 130 interrupted."
IN_CHAT = f"{STATUSES} Always 0 at a terminal; otherwise that of the last answer."
VERIFY_STATUSES = (
    "Exit status: 0 all routes have a verdict or were skipped, 1 no verdict or an error, 2 usage, 3 some failed."
)
IN_MODELS = "Entries count for a day. Each is for one base URL, model and account."
CONFIG = "a configuration file, in place of the nearest showandtell.toml"


class CommandSource(NamedTuple):
    """Where a command's function is, as MODULE:NAME below `showandtell.cli`, and the text below its help."""

    name: str
    epilog: str | None = None


#: In the order of the help.
COMMANDS = {
    "chat": CommandSource("ask:chat", IN_CHAT),
    "ask": CommandSource("ask:ask", STATUSES),
    "render": CommandSource("explain:render"),
    "explain": CommandSource("explain:explain"),
    "verify": CommandSource("verify:verify", VERIFY_STATUSES),
    "matrix": CommandSource("explain:matrix"),
    "serve": CommandSource("serve:serve"),
    "token": CommandSource("token:token"),
    "doctor": CommandSource("doctor:doctor"),
    "config": CommandSource("show_settings:config"),
    "models": CommandSource("learned:models", IN_MODELS),
    "keys": CommandSource("keys:keys"),
    "list": CommandSource("conversations:list_all"),
    "show": CommandSource("conversations:show"),
    "export": CommandSource("conversations:export"),
    "import": CommandSource("conversations:import_file"),
    "delete": CommandSource("conversations:delete"),
    "users": CommandSource("users:users"),
    "fsck": CommandSource("fsck:fsck"),
    "db": CommandSource("db:db"),
}


@cache
def load_command(name: str) -> Any:
    """A command, or a group of commands, from its module."""
    source = COMMANDS[name]
    loaded = resolve_name(f"showandtell.cli.{source.name}")
    if isinstance(loaded, typer.Typer):
        return typer.main.get_command(loaded)
    single = typer.Typer(add_completion=False)
    single.command(name, epilog=source.epilog)(loaded)
    return typer.main.get_command(single)


class LazyCommands(Mapping[str, Any]):
    """All commands. Each is loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return load_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = cast("dict[str, Any]", LazyCommands())

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the first argument names. A text with a space is a question: `ask` gets it.

        Raises `UsageError` for another unknown name, with the nearest known one.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            if not any(map(str.isspace, name.strip())):
                raise UsageError(f"No such command {name!r:.60}.{suggestion(name, COMMANDS)} (see --help)")
            args = ["ask", *args]
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: object) -> list[str]:
        """The names, without loading a command."""
        del ctx
        return [*self.commands]


app = typer.Typer(
    cls=LazyGroup,
    help="Tools that show, not just tell: every model sees the files that a tool returns.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def print_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        typer.echo(f"showandtell {VERSION}")
        raise typer.Exit


@app.callback()
def choose(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option("--config", envvar="SHOWANDTELL_CONFIG", help=CONFIG),
    ] = None,
    _: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Tools that show, not just tell: every model sees the files that a tool returns."""
    load(ctx, config)
