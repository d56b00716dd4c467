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
from typing import Any, TypeAlias, TypeVar

import typer

from showandtell.agent.agent import Agent, Run
from showandtell.agent.builtin_tools import names_in
from showandtell.cli import terminal
from showandtell.cli.arguments import split_paths
from showandtell.cli.sessions import NEW, NONE, Sessions, opened
from showandtell.cli.transcript import counts_of, pointed
from showandtell.core.events.types import ApprovalNeeded, Event, Finish, Status, StepStart
from showandtell.core.messages.file import File
from showandtell.errors import NotFound, ShowAndTellError
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.location import StorageLocation

T = TypeVar("T")

EXIT: dict[Status, int] = {"complete": 0, "error": 1, "incomplete": 3, "waiting": 3, "refused": 4}
INTERRUPTED = 130
#: Seconds after which it is said that somebody else is waited for.
LONG = 2.0
WAITING = "another program is answering in this conversation: yours goes on when that has ended"
#: The signals that ask a program to end.
ENDING = (signal.SIGTERM, signal.SIGHUP)

#: Asks the person at the terminal; raises EOFError or KeyboardInterrupt as `input` does.
Read: TypeAlias = Callable[[str], str]

GREETING = """\
Show & Tell. You are talking to {model}.{inspector}
Tools: {tools}. read_file serves {folder}.
{kept}
Try one of these, or write what you like (/attach PATH adds a file of yours, /help says more, Ctrl-D ends):
{tries}"""
KEPT = "Kept in {where}: what is said from your first message on (showandtell list, show, delete)."
NOT_KEPT = "Nothing of this is kept."
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

    `run` does what is to be awaited, all of it in one event loop. The first message begins the conversation, if it is
    `which` that names it: a new one, or one to be gone on with.
    """

    agent: Agent
    asking: bool
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    keeping: Sessions
    which: str
    conversation: MemoryConversation | None = None
    files: list[File] = field(default_factory=list[File])
    status: int = 0


def hold(agent: Agent, folder: Path | None, place: StorageLocation, which: str = NEW, read: Read = input) -> int:
    """Chat until the input ends; gives the exit status, which is the last answer's where nobody sits there.

    `place` says where the conversation is kept, `which` is to be gone on with.
    """
    asking = sys.stdin.isatty()
    if asking:
        with contextlib.suppress(ImportError):  # `input` then edits lines and remembers them
            importlib.import_module("readline")
    with asyncio.Runner() as runner, in_loop(runner, opened(place)) as keeping:
        chat = Chat(agent, asking, runner.run, keeping, which)
        typer.echo(greet(agent, folder, keeping.told))
        if which not in {NEW, NONE}:
            chat.conversation = runner.run(keeping.begin(which))
            typer.echo(going_on(chat.conversation))
        return talk(chat, read)


@contextlib.contextmanager
def in_loop(runner: asyncio.Runner, context: contextlib.AbstractAsyncContextManager[T]) -> Generator[T]:
    """What an asynchronous context gives, in the event loop of a runner, which stands still while a person thinks."""

    async def enter() -> T:
        return await context.__aenter__()

    async def leave() -> None:
        await context.__aexit__(None, None, None)

    found = runner.run(enter())
    try:
        yield found
    finally:
        runner.run(leave())


def going_on(conversation: MemoryConversation) -> str:
    """Which conversation is gone on with."""
    return (
        f"Going on with {conversation.id}: {counts_of(conversation)}. `showandtell show {conversation.id}` prints it."
    )


def talk(chat: Chat, read: Read) -> int:
    """Line after line, until the input ends."""
    while (line := read_line(read, asking=chat.asking)) is not None and line.strip() not in {"/quit", "/exit"}:
        take_line(chat, line, read)
    if chat.files:
        names = ", ".join(terminal.plain(file.name) for file in chat.files)
        typer.echo(f"{names}: attached, but no message came after it, so nobody was shown it")
    return 0 if chat.asking else chat.status


def greet(agent: Agent, folder: Path | None, told: str) -> str:
    """Whom one talks to, with which tools, where it is kept (empty: nowhere), and what to try."""
    plain_names = [name for name in names_in(folder) if " " not in name] if folder else []
    tries = [
        *(TRIES if folder is None else (f"/read_file path={name}" for name in plain_names[:1])),
        *([CHART] if "chart" in agent.tools else []),
    ]
    return GREETING.format(
        model=agent.target.name,
        inspector=INSPECTOR if agent.target.provider == "inspector" else "",
        tools=", ".join(agent.tools),
        kept=KEPT.format(where=terminal.plain(told)) if told else NOT_KEPT,
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
            chat.conversation = begun = chat.run(chat.keeping.begin(chat.which))
            if chat.keeping.told:
                printer.line(f"(kept as {begun.id})")
        run = chat.agent.run(text, files=files, approvals=approvals, conversation=chat.conversation)
        return chat.run(watch(run, pointing(run, printer, show))), waiting
    except KeyboardInterrupt:
        printer.line("[stopped]")
        return INTERRUPTED, []
    except NotFound:
        printer.line("NotFound: this conversation was deleted meanwhile: your next message begins a new one")
        chat.conversation, chat.which = None, NEW
    except ShowAndTellError as error:
        printer.line(f"{type(error).__name__}: {error}")
    return EXIT["error"], []


def allows(one: ApprovalNeeded, read: Read) -> bool:
    """Whether the person says yes; to leave the question is a no."""
    try:
        return read(f"allow {terminal.plain(one.tool)}? [y/N] ").strip().lower().startswith("y")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return False


def pointing(run: Run, printer: terminal.Printer, show: Callable[[Event], None]) -> Callable[[Event], None]:
    """The same, told besides how the message's words were read, once its files have been."""

    def tell(event: Event) -> None:
        if isinstance(event, StepStart) and event.step == 1:
            for message in run.messages:
                for line in pointed(message, run.conversation.attachments):
                    printer.line(f"  {line}")
        show(event)

    return tell


async def watch(run: Run, show: Callable[[Event], Any]) -> int:
    """Show a run's events; gives the exit status. A signal that asks for an end cancels the run, and then ends.

    Raises what kept the run from its turn (`Busy`, `NotFound`); then no end of it is shown.
    """
    end: Event | None = None
    with ending_signals() as ended:
        try:
            await wait_for_turn(run.conversation)
            async for event in run:
                if isinstance(event, Finish):
                    end = event  # shown when nothing is raised behind it
                else:
                    show(event)
        except asyncio.CancelledError:
            if ended:
                sys.exit(128 + ended[0])
            raise
    if end is not None:
        show(end)
    return EXIT[run.status]


async def wait_for_turn(conversation: MemoryConversation) -> None:
    """Wait until nobody else answers in a conversation, and say so where that takes long."""

    async def take() -> None:
        async with conversation.turn:
            pass

    turn = asyncio.create_task(take())
    try:
        done, _ = await asyncio.wait({turn}, timeout=LONG)
        if not done:
            typer.echo(f"showandtell: {WAITING}", err=True)
        await turn
    finally:
        turn.cancel()


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
