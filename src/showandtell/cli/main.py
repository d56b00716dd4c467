"""The command line: `chat` and `ask`, what is kept of them, `render`, `explain`, `verify`, `matrix`.

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
from showandtell.agent.builtin_tools import builtin_tools
from showandtell.agent.render import explain as explain_files
from showandtell.agent.render import render as render_request
from showandtell.agent.settings import FilePolicy
from showandtell.cli import arguments, sessions, terminal
from showandtell.cli import chat as chatting
from showandtell.cli import verify as verify_command
from showandtell.cli.chat import ENDING, EXIT, INTERRUPTED
from showandtell.cli.conversations import COMMANDS
from showandtell.cli.options import Blobs, Data, Most, Quota, Strip, Url
from showandtell.cli.serve import serve
from showandtell.config.user_settings import all_overrides
from showandtell.core.capabilities import matrix as table
from showandtell.core.events.types import ErrorEvent, Event, Finish
from showandtell.core.messages.file import File
from showandtell.core.planning.values import OnUnsupported
from showandtell.errors import ShowAndTellError, UnknownModel, UnsupportedFile, UsageError
from showandtell.samples import folder as samples
from showandtell.storage.files import conversation_file
from showandtell.storage.files.file_cache import MAX_FILE_BYTES
from showandtell.storage.location import StorageLocation

#: DEL and the C1 controls, which JSON allows as they are.
CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
STATUSES = "Exit status: 0 complete, 1 error, 2 usage, 3 incomplete or waiting, 4 refused, 130 interrupted."
IN_CHAT = f"{STATUSES} At a terminal it is 0; elsewhere it is the last answer's."
TESTED = "Exit status: 0 every route was judged or skipped, 1 none was judged, or an error, 2 usage, 3 some failed."
WRITE = "keep the verdicts, or don't; usual: they are kept where the provider's own address was asked"

app = typer.Typer(
    help="Tools that show, not just tell: what a tool returns reaches every model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Model = Annotated[str, typer.Option("--model", "-m", envvar="SHOWANDTELL_MODEL", help="provider:model, or inspector")]
Tools = Annotated[str | None, typer.Option("--tools", help="MODULE:NAME, a list of tools in an importable module")]
Folder = Annotated[Path | None, typer.Option("--folder", help="the folder that read_file serves; default: our samples")]
Strict = Annotated[bool, typer.Option("--strict", help="refuse when any file can't be shown")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON value a line")]
Which = Annotated[
    str, typer.Option("--conversation", "-c", help="new, last, the id of one that is kept, or none: nothing is kept")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="print the traceback of a tool that fails")]


class By(StrEnum):
    """Who brought the files that are explained."""

    tool = "tool"
    user = "user"


def tell_version(wanted: bool) -> None:
    """Print the version, and nothing else."""
    if wanted:
        typer.echo(f"showandtell {version('showandtell')}")
        raise typer.Exit


@app.callback()
def choose(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Tools that show, not just tell: what a tool returns reaches every model."""


@app.command(epilog=IN_CHAT)
def chat(
    model: Model = "inspector",
    tools: Tools = None,
    folder: Folder = None,
    conversation: Which = sessions.NEW,
    strict: Strict = False,
    max_file_bytes: Most = MAX_FILE_BYTES,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    quota: Quota = None,
    strip_location: Strip = False,
    verbose: Verbose = False,
) -> None:
    """Chat in the terminal. Where stdin is no terminal it takes one message a line, and ends with the input."""
    terminal.tell_log(verbose=verbose)
    agent = make_agent(model, tools, folder, max_file_bytes, strict=strict)
    _ = agent.exchange  # raises before anybody has written a word for nothing
    place = sessions.settle_place(
        StorageLocation(data, database, blobs, max_file_bytes, quota, strip_location), conversation
    )
    raise typer.Exit(chatting.hold(agent, folder, place, conversation))


@app.command(epilog=STATUSES)
def ask(
    text: Annotated[str, typer.Argument(help="what to ask")],
    attach: Annotated[list[Path] | None, typer.Option("--attach", "-a", help="a file for the model to see")] = None,
    model: Model = "inspector",
    tools: Tools = None,
    folder: Folder = None,
    conversation: Which = sessions.NEW,
    strict: Strict = False,
    max_file_bytes: Most = MAX_FILE_BYTES,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    quota: Quota = None,
    strip_location: Strip = False,
    json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Ask once: words as they come, a line for each tool call, file and receipt; with --json all events."""
    terminal.tell_log(verbose=verbose)
    files = [File.from_path(arguments.existing(path.expanduser(), "--attach: ")) for path in attach or []]
    if not text.strip() and not files:
        raise UsageError("there is nothing to ask: say something, or give a file with --attach")
    try:
        agent = make_agent(model, tools, folder, max_file_bytes, strict=strict)
        place = sessions.settle_place(
            StorageLocation(data, database, blobs, max_file_bytes, quota, strip_location), conversation
        )
        raise typer.Exit(watch(agent, text, files, place, conversation, json=json))
    except ShowAndTellError as error:
        if json:
            print_json(ErrorEvent(type(error).__name__, str(error)))
            print_json(Finish("error", str(error)))
        raise


def watch(agent: Agent, text: str, files: list[File], place: StorageLocation, which: str, *, json: bool) -> int:
    """Show one run; gives the exit status. Whatever interrupts it, the last line of JSON is a `finish`."""
    finished = False
    runs: list[Run] = []

    def show(event: Event) -> None:
        nonlocal finished
        finished = isinstance(event, Finish)
        print_json(event)

    async def go() -> int:
        async with sessions.opened(place) as kept:
            conversation = await kept.begin(which)
            runs.append(run := agent.run(text if text.strip() else None, files=files, conversation=conversation))
            printer = terminal.Printer()
            try:
                return await chatting.watch(run, show if json else chatting.pointing(run, printer, printer.event))
            finally:
                tell_kept(await kept.settle(run, which))

    try:
        return asyncio.run(go())
    except (KeyboardInterrupt, SystemExit) as ended:
        if json and not finished:
            print_json(Finish("incomplete", "cancelled", *(run.usage for run in runs)))
        if not json and isinstance(ended, KeyboardInterrupt):
            typer.echo("showandtell: stopped", err=True)
        raise


def tell_kept(which: str | None) -> None:
    """Say to a person, not to a program, by which id a conversation is kept."""
    if which is not None and sys.stderr.isatty():
        typer.echo(f"(kept as {which})", err=True)


@app.command()
def render(
    conversation: Annotated[Path, typer.Argument(help="a conversation file")],
    model: Model = "inspector",
    strict: Strict = False,
) -> None:
    """Print the exact request body that would be sent."""
    request = render_request(
        conversation_file.load(arguments.existing(conversation)), model=model, on_unsupported=unsupported(strict)
    )
    for piece in request.chunks():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")


@app.command()
def explain(
    paths: Annotated[list[Path], typer.Argument(help="a conversation file, or any files")],
    model: Model = "inspector",
    place: Annotated[
        By | None, typer.Option("--as", help="whether a tool (the default) or the user brings the files")
    ] = None,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Say what a model would be given of each file, why, and how we know."""
    talk = arguments.conversation(paths)
    if talk is not None and place is not None:
        raise UsageError(f"{paths[0]} is a conversation, which says who brought its files: leave --as away")
    files = arguments.brought_by_user if place is By.user else arguments.brought_by_tool
    found = explain_files(talk if talk is not None else files(paths), model=model, on_unsupported=unsupported(strict))
    hint_at_conversations(paths)
    if json:
        typer.echo(msgspec.json.encode([receipt.record() for receipt in found]).decode())
        return
    brought = None if talk is not None else f"from {'the user' if place is By.user else 'a tool'}"
    for line in terminal.receipts(found, model, brought):
        typer.echo(line)


def hint_at_conversations(paths: list[Path]) -> None:
    """Say that a conversation among other files is explained as a file."""
    for path in paths if len(paths) > 1 else []:
        if arguments.is_conversation(path):
            hint = f"{path} is explained as a file here: name it alone to explain the conversation in it"
            typer.echo(f"showandtell: {terminal.plain(hint)}", err=True)


@app.command(epilog=TESTED)
def verify(
    model: Annotated[str, typer.Argument(help="provider:model, or inspector")],
    kind: Annotated[str, typer.Option("--kind", help="which of image, document, audio, video; commas between")] = "",
    record: Annotated[Path | None, typer.Option("--record", help="keep requests and answers, without keys")] = None,
    replay: Annotated[Path | None, typer.Option("--replay", help="ask no model: take a recording's answers")] = None,
    write: Annotated[
        bool | None, typer.Option("--write/--dry-run", " /--no-write", help=WRITE, show_default=False)
    ] = None,
    json: AsJson = False,
) -> None:
    """Ask a model what it really sees, a few requests for each kind of file, and plan by its verdicts from then on."""
    raise typer.Exit(verify_command.run(model, verify_command.kinds(kind), record, replay, write=write, json=json))


@app.command()
def matrix(
    json: Annotated[bool, typer.Option("--json", help="one JSON array, an object for each row")] = False,
) -> None:
    """Print what happens to each kind of file, for every known model and those that you have verified, as Markdown."""
    rows = table.matrix(all_overrides())
    typer.echo(table.to_json(rows) if json else table.markdown(rows))


app.command()(serve)
for name, command in COMMANDS.items():
    app.command(name)(command)


def unsupported(strict: bool) -> OnUnsupported:
    """What `--strict` says."""
    return "error" if strict else "convert"


def make_agent(model: str, tools: str | None, folder: Path | None, max_file_bytes: int, *, strict: bool) -> Agent:
    """An agent with the built-in tools and those that were named; a named one replaces a built-in of its name."""
    if folder is not None and not folder.is_dir():
        raise UsageError(f"--folder: {folder} is no folder")
    named = arguments.import_tools(tools) if tools is not None else []
    found = arguments.merged(builtin_tools(folder or samples()), named)
    files = FilePolicy(on_unsupported=unsupported(strict), max_file_bytes=max_file_bytes)
    return Agent(model, tools=found, file_policy=files)


def print_json(event: Event) -> None:
    """One event a line, control characters as JSON escapes: they could drive the terminal."""
    sys.stdout.write(msgspec.json.encode(event).decode().translate(CONTROLS) + "\n")
    sys.stdout.flush()


def leave(number: int, _: FrameType | None) -> None:
    """End after a signal as after an exit, so that temporary files are removed."""
    sys.exit(128 + number)


def heed_signals() -> None:
    """Turn the signals that ask for an end into one; what `nohup` ignores stays ignored."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def main() -> None:
    """Run the command line; every error of ours is one line on stderr and an exit status."""
    terminal.forgive_encodings()
    heed_signals()
    try:
        sys.exit(app(standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except typer.Abort:
        fail("nothing was done", 1)
    except TyperException as error:
        if not (told := error.format_message()):  # without a command, the help was printed
            sys.exit(error.exit_code)
        fail(f"{told} (--help says more)", error.exit_code)
    except UnsupportedFile as error:
        fail(error, EXIT["refused"])
    except (UnknownModel, UsageError) as error:
        fail(error, 2)
    except ShowAndTellError as error:
        fail(error, 1)


def fail(error: object, status: int) -> None:
    """Say an error and leave."""
    sys.stderr.write(f"showandtell: {' '.join(terminal.plain(error).split())}\n")
    sys.exit(status)
