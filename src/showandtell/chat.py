"""The chat in the terminal: a greeting, then a message a line, files by /attach, and questions before risky calls."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import signal
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from showandtell import terminal
from showandtell.agent.agent import Agent, Run
from showandtell.agent.builtin import names_in
from showandtell.content import File
from showandtell.events.types import ApprovalNeeded, Event, Status
from showandtell.given import split_paths
from showandtell.history.memory import MemoryConversation
from showandtell.keeping import NEW, Place, find

if TYPE_CHECKING:
    from showandtell.history.store import Store

EXIT: dict[Status, int] = {"complete": 0, "error": 1, "incomplete": 3, "waiting": 3, "refused": 4}
INTERRUPTED = 130
#: The signals that ask a program to end.
ENDING = (signal.SIGTERM, signal.SIGHUP)

#: Asks the person at the terminal; raises EOFError or KeyboardInterrupt as `input` does.
Read: TypeAlias = Callable[[str], str]

GREETING = """\
Show & Tell. You are talking to {model}.{inspector}
Tools: {tools}. read_file serves {folder}.
Try one of these, or write what you like (/attach PATH adds a file of yours, /help says more, Ctrl-D ends):
{tries}"""
TRIES = ("/read_file path=invoice.pdf", "Show me harbour.png and tell me what the text in it says.")
CHART = '/chart title="Apples" values=3,1,4,1,5'
INSPECTOR = " It is not a language model: it reads what it is sent, and says what arrived."
ATTACH = "write /attach PATH, one path or several; quote a path that has spaces. They go with your next message."
HELP = """\
/attach PATH …   gives the model these files with your next message; quote a path that has spaces.
/help            says this.
/quit, /exit     end, as Ctrl-D does. Ctrl-C stops an answer.
All else goes to the model."""


@dataclass
class Chat:
    """A chat that is going on: the conversation, and what goes with the next message.

    `run` does what is to be awaited, all of it in one event loop; `begin` gives the conversation at the first message.
    """

    agent: Agent
    asking: bool
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    begin: Callable[[], Coroutine[Any, Any, MemoryConversation]]
    conversation: MemoryConversation | None = None
    files: list[File] = field(default_factory=list[File])
    status: int = 0


def hold(agent: Agent, folder: Path | None, place: Place | None, which: str = NEW, read: Read = input) -> int:
    """Chat until the input ends; gives the exit status, which is the last answer's where nobody sits there.

    The conversation is kept at a place, where there is one; `which` is to be gone on with.
    """
    asking = sys.stdin.isatty()
    if asking:
        with contextlib.suppress(ImportError):  # `input` then edits lines and remembers them
            importlib.import_module("readline")
    with asyncio.Runner() as runner, in_loop(runner, place.store() if place else None) as store:
        chat = Chat(agent, asking, runner.run, lambda: begin(agent, store, which))
        typer.echo(greet(agent, folder))
        if which != NEW:
            chat.conversation = runner.run(chat.begin())
            typer.echo(going_on(chat.conversation))
        return talk(chat, read)


@contextlib.contextmanager
def in_loop(runner: asyncio.Runner, store: Store | None) -> Generator[Store | None]:
    """A store that is open in the event loop of a runner, which stands still while a person thinks."""
    if store is None:
        yield None
        return
    runner.run(store.__aenter__())
    try:
        yield store
    finally:
        runner.run(store.__aexit__())


async def begin(agent: Agent, store: Store | None, which: str) -> MemoryConversation:
    """The conversation of a chat; without a store it ends with the program."""
    return agent.conversation() if store is None else await find(store, which)


def going_on(conversation: MemoryConversation) -> str:
    """Which conversation is gone on with."""
    counts = f"{len(conversation.messages)} messages, {len(conversation.attachments)} files"
    return f"Going on with {conversation.id}: {counts}. `showandtell show {conversation.id}` prints it."


def talk(chat: Chat, read: Read) -> int:
    """Line after line, until the input ends."""
    while (line := read_line(read, asking=chat.asking)) is not None and line.strip() not in {"/quit", "/exit"}:
        take_line(chat, line, read)
    if chat.files:
        names = ", ".join(terminal.plain(file.name) for file in chat.files)
        typer.echo(f"{names}: attached, but no message came after it, so nobody was shown it")
    return 0 if chat.asking else chat.status


def greet(agent: Agent, folder: Path | None) -> str:
    """Whom one talks to, with which tools, and what to try."""
    plain_names = [name for name in names_in(folder) if " " not in name] if folder else []
    tries = [
        *(TRIES if folder is None else (f"/read_file path={name}" for name in plain_names[:1])),
        *([CHART] if "chart" in agent.tools else []),
    ]
    return GREETING.format(
        model=agent.target.name,
        inspector=INSPECTOR if agent.target.provider == "inspector" else "",
        tools=", ".join(agent.tools),
        folder="our samples" if folder is None else f'"{terminal.plain(folder.resolve())}"',
        tries="".join(f"  {line}\n" for line in tries).rstrip("\n"),
    )


def take_line(chat: Chat, line: str, read: Read) -> None:
    """Do what a line says: a command of ours, or a message."""
    command, _, rest = line.strip().partition(" ")
    match command:
        case "":
            pass
        case "/help":
            typer.echo(HELP)
        case "/attach":
            chat.files += attach(rest.strip())
        case _:
            files, chat.files = chat.files, []
            chat.status = answer(chat, line, files, read)


def attach(text: str) -> list[File]:
    """The files at the paths of an /attach; a wrong one is said and forgotten."""
    if not text:
        typer.echo(ATTACH)
    found: list[File] = []
    for path in split_paths(text) if text else []:
        name = terminal.plain(path)
        if path.is_file():
            found.append(File.from_path(path))
            typer.echo(f"{name} goes with your next message")
        else:
            typer.echo(f"{name} is a folder: name a file in it" if path.is_dir() else f"there is no file {name}")
    return found


def read_line(read: Read, *, asking: bool) -> str | None:
    """The next message; None at the end of the input."""
    if not asking:
        line = sys.stdin.readline()
        if line.strip():
            typer.echo(f"you: {terminal.plain(line.strip())}")
        return line.rstrip("\n") if line else None
    try:
        return read("> ")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return None


def answer(chat: Chat, text: str, files: Sequence[File], read: Read) -> int:
    """One message of a chat, answered; calls that wait are put to the person until none does."""
    status, waiting = watch_answer(chat, text, files=files)
    while waiting and chat.asking:
        said = {one.call_id: allows(one, read) for one in waiting}
        status, waiting = watch_answer(chat, None, approvals=said)
    return status


def watch_answer(
    chat: Chat, text: str | None, *, files: Sequence[File] = (), approvals: Mapping[str, bool] | None = None
) -> tuple[int, list[ApprovalNeeded]]:
    """One run, shown; gives its exit status and the calls that wait. An interrupt stops this answer alone."""
    waiting: list[ApprovalNeeded] = []
    denied = [call_id for call_id, yes in (approvals or {}).items() if not yes]
    printer = terminal.Printer(asking=chat.asking, denied=denied)

    def show(event: Event) -> None:
        printer.event(event)
        if isinstance(event, ApprovalNeeded):
            waiting.append(event)

    try:
        if chat.conversation is None:
            chat.conversation = chat.run(chat.begin())
        run = chat.agent.run(text, files=files, approvals=approvals, conversation=chat.conversation)
        return chat.run(watch(run, show)), waiting
    except KeyboardInterrupt:
        printer.line("[stopped]")
        return INTERRUPTED, []


def allows(one: ApprovalNeeded, read: Read) -> bool:
    """Whether the person says yes; to leave the question is a no."""
    try:
        return read(f"allow {terminal.plain(one.tool)}? [y/N] ").strip().lower().startswith("y")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return False


async def watch(run: Run, show: Callable[[Event], Any]) -> int:
    """Show a run's events; gives the exit status. A signal that asks for an end cancels the run, and then ends."""
    with ending_signals() as ended:
        try:
            async for event in run:
                show(event)
        except asyncio.CancelledError:
            if ended:
                sys.exit(128 + ended[0])
            raise
    return EXIT[run.status]


@contextlib.contextmanager
def ending_signals() -> Generator[list[int]]:
    """While a run is watched its signals wait for the event loop: an exit in the midst of a tool would be the tool's.

    What `nohup` ignores stays ignored.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in ENDING}
    ended: list[int] = []

    def end(number: int) -> None:
        ended.append(number)
        if task is not None:
            task.cancel()

    heeded = [number for number in ENDING if before[number] is not signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, end, number)
    try:
        yield ended
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
