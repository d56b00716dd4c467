"""The command line: `chat`, `ask`, `render`, `explain`, `matrix`.

Exit status: 0 complete, 1 error, 2 usage, 3 incomplete, 4 refused, 130 interrupted.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from showandtell import records, terminal
from showandtell.agent.agent import Agent, Run
from showandtell.agent.builtin import builtin_tools
from showandtell.agent.tools import Tool, as_tool
from showandtell.capabilities import matrix as table
from showandtell.content import Draft, File, History, ToolCall
from showandtell.errors import BadInput, ShowAndTellError, UnknownModel, UnsupportedFile
from showandtell.events.types import ApprovalNeeded, Event, Status
from showandtell.rendering import explain as explain_files
from showandtell.rendering import render as render_request
from showandtell.samples import folder as samples

EXIT: dict[Status, int] = {"complete": 0, "error": 1, "incomplete": 3, "waiting": 3, "refused": 4}
INTERRUPTED = 130

GREETING = """\
Show & Tell. You are talking to {model}.{inspector}
Tools: {tools}. read_file serves {folder}.
Try one of these, or write what you like (/attach PATH adds a file of yours, Ctrl-D ends):
  /read_file path=invoice.pdf
  Show me harbour.png and tell me what the text in it says.
  /chart title="Apples" values=3,1,4,1,5
"""
INSPECTOR = " It is not a language model: it reads what it is sent, and says what arrived."

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


class Place(StrEnum):
    """Who brought the files that are explained."""

    tool = "tool"
    user = "user"


@app.command()
def chat(model: Model = "inspector", tools: Tools = None, folder: Folder = None, strict: Strict = False) -> None:
    """Chat in the terminal. Where stdin is no terminal it takes one message a line, and ends with the input."""
    agent = make_agent(model, tools, folder, strict=strict)
    asking = sys.stdin.isatty()
    hint = INSPECTOR if agent.target.provider == "inspector" else ""
    names = ", ".join(agent.tools)
    typer.echo(GREETING.format(model=agent.target.name, inspector=hint, tools=names, folder=folder or "our samples"))
    conversation, files, status = agent.conversation(), list[File](), 0
    while (line := read_line(asking=asking)) is not None:
        if line.startswith("/attach "):
            files += attach(line.removeprefix("/attach ").strip())
        elif line.strip():
            status = answer(agent, asking, line, files=files, conversation=conversation)
            files = []
    raise typer.Exit(0 if asking else status)


@app.command()
def ask(
    text: Annotated[str, typer.Argument(help="what to ask")],
    attach: Annotated[list[Path] | None, typer.Option("--attach", "-a", help="a file for the model to see")] = None,
    model: Model = "inspector",
    tools: Tools = None,
    folder: Folder = None,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Ask once: words as they come, a line for each tool call, file and receipt; with --json all events."""
    agent = make_agent(model, tools, folder, strict=strict)
    files = [existing(path) for path in attach or []]
    show = print_json if json else terminal.Printer().event
    raise typer.Exit(asyncio.run(watch(agent.run(text, files=files), show)))


@app.command()
def render(
    conversation: Annotated[Path, typer.Argument(help="a conversation file")],
    model: Model = "inspector",
    strict: Strict = False,
) -> None:
    """Print the exact request body that would be sent."""
    request = render_request(records.load(conversation), model=model, strict=strict)
    for piece in request.chunks():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")


@app.command()
def explain(
    paths: Annotated[list[Path], typer.Argument(help="a conversation file, or any files")],
    model: Model = "inspector",
    place: Annotated[Place, typer.Option("--as", help="whether a tool or the user brings the files")] = Place.tool,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Say what a model would be given of each file, why, and how we know."""
    history = records.load(paths[0]) if len(paths) == 1 and is_conversation(paths[0]) else brought(paths, place)
    found = explain_files(history, model=model, strict=strict)
    if json:
        typer.echo(msgspec.json.encode([receipt.record() for receipt in found]).decode())
        return
    for line in terminal.receipts(found, model):
        typer.echo(line)


@app.command()
def matrix(
    markdown: Annotated[bool, typer.Option("--markdown", help="as the README has it")] = False,
    json: AsJson = False,
) -> None:
    """Print what becomes of each kind of file, for every model we know."""
    rows = table.matrix()
    typer.echo(table.to_json(rows) if json else table.markdown(rows))
    _ = markdown  # the plain form is Markdown, which reads well in a terminal, too


def make_agent(model: str, tools: str | None, folder: Path | None, *, strict: bool) -> Agent:
    """An agent with the built-in tools and those that were named; a named one replaces a built-in of its name."""
    if folder is not None and not folder.is_dir():
        raise typer.BadParameter(f"{folder} is no folder", param_hint="--folder")
    named = {one.name: one for one in map(as_tool, import_tools(tools))}
    found = {one.name: one for one in map(as_tool, builtin_tools(folder or samples()))} | named
    return Agent(model, tools=found.values(), strict=strict)


def import_tools(name: str | None) -> Iterable[Callable[..., Any] | Tool]:
    """The list of tools at MODULE:NAME; the current folder counts."""
    if name is None:
        return []
    module, _, attribute = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise typer.BadParameter(f"{name}: {error}; write MODULE:NAME", param_hint="--tools") from error
    return [found] if callable(found) else found


def existing(path: Path) -> File:
    """A file of the user's, which must be there."""
    if not path.is_file():
        raise typer.BadParameter(f"there is no file {path}", param_hint="--attach")
    return File.from_path(path)


def attach(path: str) -> list[File]:
    """The same in a chat, where a wrong path is said and forgotten."""
    if not Path(path).is_file():
        typer.echo(f"there is no file {path}")
        return []
    typer.echo(f"{path} goes with your next message")
    return [File.from_path(path)]


def read_line(*, asking: bool) -> str | None:
    """The next message; None at the end of the input."""
    if not asking:
        line = sys.stdin.readline()
        if line.strip():
            typer.echo(f"> {terminal.plain(line.strip())}")
        return line.rstrip("\n") if line else None
    try:
        return input("> ")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return None


def answer(agent: Agent, asking: bool, text: str | None, **settings: Any) -> int:
    """One message of a chat; an interrupt stops this answer alone, and calls that wait are put to the person."""
    waiting: list[ApprovalNeeded] = []
    printer = terminal.Printer()

    def show(event: Event) -> None:
        printer.event(event)
        if isinstance(event, ApprovalNeeded):
            waiting.append(event)

    try:
        status = asyncio.run(watch(agent.run(text, **settings), show))
    except KeyboardInterrupt:
        printer.line("[stopped]")
        return INTERRUPTED
    if waiting and asking:
        said = {one.call_id: input(f"allow {one.tool}? [y/N] ").lower().startswith("y") for one in waiting}
        return answer(agent, asking, None, approvals=said, conversation=settings["conversation"])
    return status


async def watch(run: Run, show: Callable[[Event], None]) -> int:
    """Show a run's events; gives the exit status."""
    async for event in run:
        show(event)
    return EXIT[run.status]


def print_json(event: Event) -> None:
    """One event a line."""
    sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
    sys.stdout.flush()


def is_conversation(path: Path) -> bool:
    """Whether a file is one of ours: a JSON object with messages."""
    if path.suffix != ".json":
        return False
    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(value, dict) and "messages" in value


def brought(paths: list[Path], place: Place) -> History:
    """A conversation in which a tool, or the user, brings these files."""
    for path in paths:
        if not path.is_file():
            raise typer.BadParameter(f"there is no file {path}")
    files = tuple(File.from_path(path) for path in paths)
    if place is Place.user:
        return History([Draft("user", files)])
    call = ToolCall("call_1", "tool", "{}")
    return records.History((Draft("user"), Draft("assistant", (call,)), Draft("tool", files, call.call_id, call.tool)))


def main() -> None:
    """Run the command line; every error of ours is one line on stderr and an exit status."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except UnsupportedFile as error:
        fail(error, EXIT["refused"])
    except UnknownModel as error:
        fail(error, 2)
    except (BadInput, ShowAndTellError) as error:
        fail(error, 1)


def fail(error: Exception, status: int) -> None:
    """Say an error and leave."""
    sys.stderr.write(f"showandtell: {terminal.plain(error)}\n")
    sys.exit(status)
