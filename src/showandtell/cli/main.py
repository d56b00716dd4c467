"""The command line: chats, stored conversations, the server, and what models are given.

Exit status: 0 complete, 1 error, 2 usage, 3 incomplete, 4 refused, 130 interrupted, 143 and 129 ended by a signal.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Annotated

import msgspec
import typer
from typer.exceptions import TyperException

from showandtell.agent.agent import Agent, Run
from showandtell.agent.render import explain as explain_files
from showandtell.agent.render import render as render_request
from showandtell.cli import arguments, sessions, standard_input, terminal
from showandtell.cli import chat as chatting
from showandtell.cli import verify as verify_command
from showandtell.cli.agents import file_policy, folder_of, make_agent
from showandtell.cli.chat import ENDING, EXIT, INTERRUPTED
from showandtell.cli.configured import AGENT, load, with_settings
from showandtell.cli.conversations import COMMANDS
from showandtell.cli.db import db
from showandtell.cli.doctor import doctor
from showandtell.cli.learned import EPILOG, models
from showandtell.cli.serve import serve
from showandtell.cli.show_settings import config as show_settings
from showandtell.cli.token import token
from showandtell.config.settings import Settings
from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities import matrix as table
from showandtell.core.display.words import plain
from showandtell.core.events.types import ErrorEvent, Event, Finish
from showandtell.core.messages.file import File
from showandtell.errors import ShowAndTellError, UnknownModel, UnsupportedFile, UsageError
from showandtell.media.sandbox import hide_process
from showandtell.storage.files import conversation_file
from showandtell.storage.location import StorageLocation

#: DEL and the C1 controls, which JSON doesn't escape.
CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
STATUSES = "Exit status: 0 complete, 1 error, 2 usage, 3 incomplete or waiting, 4 refused, 130 interrupted."
IN_CHAT = f"{STATUSES} Always 0 at a terminal; otherwise that of the last answer."
VERIFY_STATUSES = (
    "Exit status: 0 all routes have a verdict or were skipped, 1 no verdict or an error, 2 usage, 3 some failed."
)
#: The settings that decide how files are sent.
PLAN = ("model", "file_policy.on_unsupported", "file_policy.max_in_context", "file_policy.context_share")
CONFIG = "a configuration file, in place of the nearest showandtell.toml"

app = typer.Typer(
    help="Tools that show, not just tell: every model sees the files that a tool returns.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

Strict = Annotated[bool, typer.Option("--strict", help="fail if the model doesn't support a file")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON value per line")]
Which = Annotated[
    str,
    typer.Option("--conversation", "-c", help="new, last, the id of a stored conversation, or none to store nothing"),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="print the traceback of a tool that fails")]


class FileSource(StrEnum):
    """The origin of the files to explain."""

    tool = "tool"
    user = "user"


def print_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        typer.echo(f"showandtell {version('showandtell')}")
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


@app.command(epilog=IN_CHAT)
@with_settings(*AGENT, "storage.")
def chat(
    settings: Settings, conversation: Which = sessions.NEW, strict: Strict = False, verbose: Verbose = False
) -> None:
    """Chat in the terminal. If stdin is not a terminal, each line is a message, and the chat ends with the input."""
    terminal.configure_logging(verbose=verbose)
    agent = make_agent(settings, strict=strict)
    _ = agent.exchange  # raises before the user writes a message
    place = sessions.choose_location(sessions.place_of(settings), conversation)
    raise typer.Exit(chatting.run_chat(agent, folder_of(settings), place, conversation))


@app.command(epilog=STATUSES)
@with_settings(*AGENT, "storage.")
def ask(
    settings: Settings,
    text: Annotated[str | None, typer.Argument(help="the message; default, and for -: standard input")] = None,
    attach: Annotated[
        list[Path] | None, typer.Option("--attach", "-a", help="a file for the model to see; - for standard input")
    ] = None,
    conversation: Which = sessions.NEW,
    strict: Strict = False,
    json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Ask once. Prints the answer, and a line for each tool call, file and receipt; with --json all events.

    Beside a message, what is piped into the command is a file for the model to see.
    """
    terminal.configure_logging(verbose=verbose)
    names = [str(path) for path in attach or []]
    paths = [Path(name).expanduser() for name in names if name != standard_input.DASH]
    files = [File.from_path(arguments.existing(path, "--attach: ")) for path in paths]
    text, piped = standard_input.read_input(text, names, settings.file_policy.max_file_bytes)
    files += [piped] if piped is not None else []
    if not text.strip() and not files:
        raise UsageError(standard_input.NOTHING)
    try:
        agent = make_agent(settings, strict=strict)
        place = sessions.choose_location(sessions.place_of(settings), conversation)
        raise typer.Exit(watch(agent, text, files, place, conversation, json=json))
    except ShowAndTellError as error:
        if json:
            print_json(ErrorEvent(type(error).__name__, str(error)))
            print_json(Finish("error", str(error)))
        raise


def watch(agent: Agent, text: str, files: list[File], place: StorageLocation, which: str, *, json: bool) -> int:
    """Show one run and return the exit status. With `json` the last line is a `finish`, however the run ends."""
    finished = False
    runs: list[Run] = []

    def show(event: Event) -> None:
        nonlocal finished
        finished = isinstance(event, Finish)
        print_json(event)

    async def go() -> int:
        async with sessions.opened(place) as session:
            conversation = await session.begin(which)
            runs.append(run := agent.run(text if text.strip() else None, files=files, conversation=conversation))
            printer = terminal.Printer()
            try:
                return await chatting.watch(
                    run, show if json else chatting.with_references(run, printer, printer.event)
                )
            finally:
                print_id(await session.finish(run, which))

    try:
        return asyncio.run(go())
    except (KeyboardInterrupt, SystemExit) as interrupt:
        if json and not finished:
            print_json(Finish("incomplete", "cancelled", *(run.usage for run in runs)))
        if not json and isinstance(interrupt, KeyboardInterrupt):
            typer.echo("showandtell: stopped", err=True)
        raise


def print_id(conversation_id: str | None) -> None:
    """Print the id of the stored conversation, but only to a terminal."""
    if conversation_id is not None and sys.stderr.isatty():
        typer.echo(f"(stored as {conversation_id})", err=True)


@app.command()
@with_settings(*PLAN)
def render(
    settings: Settings,
    conversation: Annotated[Path, typer.Argument(help="a conversation file")],
    strict: Strict = False,
) -> None:
    """Print the exact request body that would be sent."""
    history = conversation_file.load(arguments.existing(conversation))
    request = render_request(history, model=settings.model, file_policy=file_policy(settings, strict=strict))
    for piece in request.chunks():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")


@app.command()
@with_settings(*PLAN)
def explain(
    settings: Settings,
    paths: Annotated[list[Path], typer.Argument(help="a conversation file, or any files")],
    place: Annotated[
        FileSource | None, typer.Option("--as", help="whether the files come from a tool (default) or the user")
    ] = None,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Print how each file would be sent to a model, why, and the evidence."""
    history = arguments.conversation(paths)
    if history is not None and place is not None:
        raise UsageError(f"{paths[0]} is a conversation, which has the origin of its files: omit --as")
    files = arguments.files_from_user if place is FileSource.user else arguments.files_from_tool
    source = history if history is not None else files(paths)
    receipts = explain_files(source, model=settings.model, file_policy=file_policy(settings, strict=strict))
    hint_at_conversations(paths)
    if json:
        typer.echo(msgspec.json.encode([receipt.record() for receipt in receipts]).decode())
        return
    origin = None if history is not None else f"from {'the user' if place is FileSource.user else 'a tool'}"
    for line in terminal.format_receipts(receipts, settings.model, origin):
        typer.echo(line)


def hint_at_conversations(paths: list[Path]) -> None:
    """Print a hint if a conversation among other files is explained as a file."""
    for path in paths if len(paths) > 1 else []:
        if arguments.is_conversation(path):
            hint = f"{path} is explained as a file: name it alone to explain the conversation in it"
            typer.echo(f"showandtell: {plain(hint)}", err=True)


@app.command(epilog=VERIFY_STATUSES)
def verify(
    model: Annotated[str, typer.Argument(help="provider:model, or inspector")],
    kind: Annotated[
        str, typer.Option("--kind", help="image, document, audio, video, comma-separated; default: all")
    ] = "",
    record: Annotated[Path | None, typer.Option("--record", help="save requests and responses, without keys")] = None,
    replay: Annotated[Path | None, typer.Option("--replay", help="use a recording instead of a model")] = None,
    save: Annotated[bool, typer.Option("--save", help="store the verdicts in your settings, for later plans")] = False,
    json: AsJson = False,
) -> None:
    """Check what a model really sees, with a few requests per kind of file; --save uses the verdicts from then on."""
    raise typer.Exit(verify_command.run(model, verify_command.kinds(kind), record, replay, save=save, json=json))


@app.command()
def matrix(
    json: Annotated[bool, typer.Option("--json", help="one JSON array with an object per row")] = False,
) -> None:
    """Print how each kind of file is sent, for every known model and those that you verified, as Markdown."""
    rows = table.matrix(read_overrides())
    typer.echo(table.to_json(rows) if json else table.markdown(rows))


app.command()(serve)
app.command()(token)
app.command()(doctor)
app.command("config")(show_settings)
app.add_typer(db, name="db")
app.command(epilog=EPILOG)(models)
for name, command in COMMANDS.items():
    app.command(name)(command)


def print_json(event: Event) -> None:
    """One event per line, with control characters escaped, because they could drive the terminal."""
    sys.stdout.write(msgspec.json.encode(event).decode().translate(CONTROLS) + "\n")
    sys.stdout.flush()


def leave(number: int, _: FrameType | None) -> None:
    """Exit after a signal, so that temporary files are removed."""
    sys.exit(128 + number)


def exit_on_signals() -> None:
    """Exit on SIGTERM and SIGHUP, unless `nohup` ignores them."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def main() -> None:
    """Run the command line; each of our errors is one line on stderr and an exit status."""
    terminal.replace_unencodable()
    hide_process()  # its environment holds keys
    exit_on_signals()
    try:
        sys.exit(app(standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except typer.Abort:
        fail("nothing was changed", 1)
    except TyperException as error:
        if not (text := error.format_message()):  # without a command, typer has printed the help
            sys.exit(error.exit_code)
        fail(f"{text} (see --help)", error.exit_code)
    except UnsupportedFile as error:
        fail(error, EXIT["refused"])
    except (UnknownModel, UsageError) as error:
        fail(error, 2)
    except ShowAndTellError as error:
        fail(error, 1)


def fail(error: object, status: int) -> None:
    """Print an error and exit."""
    sys.stderr.write(f"showandtell: {' '.join(plain(error).split())}\n")
    sys.exit(status)
