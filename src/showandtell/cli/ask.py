"""The commands `ask` and `chat`."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import Annotated

import msgspec
import typer

from showandtell.agent.agent import Run
from showandtell.cli import arguments, sessions, standard_input, terminal
from showandtell.cli import chat as chatting
from showandtell.cli.agents import MakeAgent, folder_of, make_agent
from showandtell.cli.configured import AGENT, with_settings
from showandtell.cli.options import AsJsonLines, Strict
from showandtell.config.settings import Settings
from showandtell.core.events.types import ErrorEvent, Event, Finish
from showandtell.core.messages.file import File
from showandtell.errors import ShowAndTellError, UsageError
from showandtell.storage.location import StorageLocation

#: DEL and the C1 controls, which JSON doesn't escape.
CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}

Which = Annotated[
    str,
    typer.Option("--conversation", "-c", help="new, last, the id of a stored conversation, or none to store nothing"),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="print the traceback of a tool that fails")]


@with_settings(*AGENT, "storage.")
def chat(
    settings: Settings, conversation: Which = sessions.NEW, strict: Strict = False, verbose: Verbose = False
) -> None:
    """Chat in the terminal. If stdin is not a terminal, each line is a message, and the chat ends with the input."""
    terminal.configure_logging(verbose=verbose)
    folder = folder_of(settings)
    place = sessions.choose_location(sessions.place_of(settings), conversation)
    make = partial(make_agent, settings, strict=strict)
    raise typer.Exit(chatting.run_chat(make, folder, place, conversation))


@with_settings(*AGENT, "storage.")
def ask(
    settings: Settings,
    text: Annotated[str | None, typer.Argument(help="the message; default, and for -: standard input")] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option("--attach", "-a", help="a file for the model to see, or its https address; - for standard input"),
    ] = None,
    conversation: Which = sessions.NEW,
    strict: Strict = False,
    json: AsJsonLines = False,
    verbose: Verbose = False,
) -> None:
    """Ask once. Prints the answer, and a line for each tool call, file and receipt; with --json all events.

    Beside a message, what is piped into the command is a file for the model to see.
    """
    terminal.configure_logging(verbose=verbose)
    names, limit = attach or [], settings.file_policy.max_file_bytes
    files = [arguments.attached(name, limit) for name in names if name != standard_input.DASH]
    text, piped = standard_input.read_input(text, names, limit)
    files += [piped] if piped is not None else []
    if not text.strip() and not files:
        raise UsageError(standard_input.NOTHING)
    try:
        place = sessions.choose_location(sessions.place_of(settings), conversation)
        make = partial(make_agent, settings, strict=strict)
        raise typer.Exit(watch(make, text, files, place, conversation, json=json))
    except ShowAndTellError as error:
        if json:
            print_json(ErrorEvent(type(error).__name__, str(error)))
            print_json(Finish("error", str(error)))
        raise


def watch(make: MakeAgent, text: str, files: list[File], place: StorageLocation, which: str, *, json: bool) -> int:
    """Show one run and return the exit status. With `json` the last line is a `finish`, however the run ends."""
    finished = False
    runs: list[Run] = []

    def show(event: Event) -> None:
        nonlocal finished
        finished = isinstance(event, Finish)
        print_json(event)

    async def go() -> int:
        async with sessions.opened(place) as session:
            agent = make(await session.read_person())
            conversation = await session.begin(which)
            runs.append(run := agent.run(text if text.strip() else None, files=files, conversation=conversation))
            printer = terminal.Printer()
            try:
                return await chatting.watch(
                    run, show if json else chatting.with_references(run, printer, printer.event)
                )
            finally:
                await session.remember(run, agent.target.name)
                print_id(await session.finish(run, which))

    try:
        return asyncio.run(go())
    except (KeyboardInterrupt, SystemExit) as interrupt:
        if json and not finished:
            print_json(Finish("incomplete", "cancelled", *(run.usage for run in runs if run.has_begun)))
        if not json and isinstance(interrupt, KeyboardInterrupt):
            typer.echo("showandtell: stopped", err=True)
        raise


def print_id(conversation_id: str | None) -> None:
    """Print the id of the stored conversation, but only to a terminal."""
    if conversation_id is not None and sys.stderr.isatty():
        typer.echo(f"(stored as {conversation_id})", err=True)


def print_json(event: Event) -> None:
    """One event per line, with control characters escaped, because they could drive the terminal."""
    sys.stdout.write(msgspec.json.encode(event).decode().translate(CONTROLS) + "\n")
    sys.stdout.flush()
