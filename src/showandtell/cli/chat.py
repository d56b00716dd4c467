"""The chat in the terminal: one message per line, files by /attach, and questions for calls that need approval."""

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
from showandtell.cli.agents import MakeAgent
from showandtell.cli.arguments import split_paths
from showandtell.cli.person import Person, about_inspector
from showandtell.cli.sessions import NEW, NONE, Sessions, opened
from showandtell.cli.statuses import ENDING, EXIT, INTERRUPTED
from showandtell.cli.transcript import counts_of, references
from showandtell.core.capabilities.registry import INSPECTOR
from showandtell.core.display.words import plain
from showandtell.core.events.types import ApprovalNeeded, Event, Finish, StepStart
from showandtell.core.messages.file import File
from showandtell.errors import NotFound, ShowAndTellError
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.location import StorageLocation

T = TypeVar("T")

#: Seconds after which `WAITING` is printed.
WAIT_NOTICE = 2.0
WAITING = "another program is using this conversation: waiting for it to finish"
#: Reads a line from the terminal; raises EOFError or KeyboardInterrupt as `input` does.
Read: TypeAlias = Callable[[str], str]

GREETING = """\
Show & Tell. You are talking to {model}.{inspector}
Tools: {tools}. read_file serves {folder}.
{stored}
Try one of these, or write a message (/attach PATH adds a file, /help lists commands, Ctrl-D ends the chat):
{examples}"""
STORED = "This conversation is stored in {location} (see showandtell list, show, delete)."
NOT_STORED = "This conversation is not stored."
EXAMPLES = ("/read_file path=invoice.pdf", "Show me harbour.png and tell me what the text in it says.")
CHART = '/chart title="Apples" values=3,1,4,1,5'
ATTACH = "write /attach PATH, with one or more paths; quote paths with spaces. They go with your next message."
HELP = """\
/attach PATH …   send files with your next message; quote paths with spaces.
/help            show this help.
/quit, /exit     end the chat, like Ctrl-D. Ctrl-C stops an answer.
Anything else goes to the model."""


@dataclass
class Chat:
    """A running chat: the conversation, and the files for the next message.

    `run` runs coroutines in one event loop. The first message opens the conversation `which`, as in `sessions.find`.
    """

    agent: Agent
    asking: bool
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    sessions: Sessions
    which: str
    conversation: MemoryConversation | None = None
    files: list[File] = field(default_factory=list[File])
    status: int = 0


def run_chat(make: MakeAgent, folder: Path | None, place: StorageLocation, which: str = NEW, read: Read = input) -> int:
    """Chat until the input ends. Returns the exit status: 0 at a terminal, otherwise that of the last answer.

    `make` makes the agent of the person whose conversations are stored there.
    `place` is where the conversation is stored, and `which` the one to continue, as in `sessions.find`.
    """
    asking = sys.stdin.isatty()
    if asking:
        with contextlib.suppress(ImportError):  # `input` then edits lines and remembers them
            importlib.import_module("readline")
    with asyncio.Runner() as runner, in_loop(runner, opened(place)) as sessions:
        person = runner.run(sessions.read_person())
        agent = make(person)
        _ = agent.exchange  # raises before the user writes a message
        chat = Chat(agent, asking, runner.run, sessions, which)
        typer.echo(greet(agent, folder, sessions.location, person))
        if which not in {NEW, NONE}:
            chat.conversation = runner.run(sessions.begin(which))
            typer.echo(describe(chat.conversation))
        return read_messages(chat, read)


@contextlib.contextmanager
def in_loop(runner: asyncio.Runner, context: contextlib.AbstractAsyncContextManager[T]) -> Generator[T]:
    """Enter and exit an async context in the event loop of a runner, which is idle while the user types."""

    async def enter() -> T:
        return await context.__aenter__()

    async def leave() -> None:
        await context.__aexit__(None, None, None)

    value = runner.run(enter())
    try:
        yield value
    finally:
        runner.run(leave())


def describe(conversation: MemoryConversation) -> str:
    """The conversation that is continued."""
    return f"Continuing {conversation.id}: {counts_of(conversation)}. `showandtell show {conversation.id}` prints it."


def read_messages(chat: Chat, read: Read) -> int:
    """Handle line after line, until the input ends."""
    while (line := read_line(read, asking=chat.asking)) is not None and line.strip() not in {"/quit", "/exit"}:
        handle_line(chat, line, read)
    if chat.files:
        names = ", ".join(plain(file.name) for file in chat.files)
        typer.echo(f"{names}: attached, but not sent, because no message followed")
    return 0 if chat.asking else chat.status


def greet(agent: Agent, folder: Path | None, location: str, person: Person) -> str:
    """The greeting: the model, its tools, where the conversation is stored (empty: nowhere), and examples."""
    names = [name for name in names_in(folder) if " " not in name] if folder else []
    examples = [
        *(EXAMPLES if folder is None else (f"/read_file path={name}" for name in names[:1])),
        *([CHART] if "chart" in agent.tools else []),
    ]
    return GREETING.format(
        model=agent.target.name,
        inspector=f" {about_inspector(person)}" if agent.target.provider == INSPECTOR else "",
        tools=", ".join(agent.tools),
        stored=STORED.format(location=plain(location)) if location else NOT_STORED,
        folder="the sample files" if folder is None else f'"{plain(folder.resolve())}"',
        examples="".join(f"  {line}\n" for line in examples).rstrip("\n"),
    )


def handle_line(chat: Chat, line: str, read: Read) -> None:
    """Run a command, or send a message."""
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
    """The files of an /attach; wrong paths are reported and skipped."""
    if not text:
        typer.echo(ATTACH)
    files: list[File] = []
    for path in split_paths(text) if text else []:
        name = plain(path)
        if path.is_file():
            files.append(File.from_path(path))
            typer.echo(f"{name} goes with your next message")
        else:
            typer.echo(f"{name} is a folder: name a file in it" if path.is_dir() else f"there is no file {name}")
    return files


def read_line(read: Read, *, asking: bool) -> str | None:
    """The next message; None at the end of the input."""
    if not asking:
        line = sys.stdin.readline()
        if line.strip():
            typer.echo(f"you: {plain(line.strip())}")
        return line.rstrip("\n") if line else None
    try:
        return read("> ")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return None


def answer(chat: Chat, text: str, files: Sequence[File], read: Read) -> int:
    """Answer one message; waiting calls are put to the user until none is left."""
    status, waiting = watch_answer(chat, text, files=files)
    while waiting and chat.asking:
        approvals = {call.call_id: ask_approval(call, read) for call in waiting}
        status, waiting = watch_answer(chat, None, approvals=approvals)
    return status


def watch_answer(
    chat: Chat, text: str | None, *, files: Sequence[File] = (), approvals: Mapping[str, bool] | None = None
) -> tuple[int, list[ApprovalNeeded]]:
    """Show one run. Returns its exit status and the waiting calls. Ctrl-C stops this answer only."""
    waiting: list[ApprovalNeeded] = []
    denied = [call_id for call_id, yes in (approvals or {}).items() if not yes]
    printer = terminal.Printer(asking=chat.asking, denied=denied)

    def show(event: Event) -> None:
        printer.event(event)
        if isinstance(event, ApprovalNeeded):
            waiting.append(event)

    try:
        if chat.conversation is None:
            chat.conversation = conversation = chat.run(chat.sessions.begin(chat.which))
            if chat.sessions.location:
                printer.line(f"(stored as {conversation.id})")
        run = chat.agent.run(text, files=files, approvals=approvals, conversation=chat.conversation)
        status = chat.run(watch(run, with_references(run, printer, show)))
        chat.run(chat.sessions.remember(run, chat.agent.target.name))
    except KeyboardInterrupt:
        printer.line("[stopped]")
        return INTERRUPTED, []
    except NotFound:
        printer.line("NotFound: this conversation has been deleted: your next message starts a new one")
        chat.conversation, chat.which = None, NEW
    except ShowAndTellError as error:
        printer.line(f"{type(error).__name__}: {error}")
    else:
        return status, waiting
    return EXIT["error"], []


def ask_approval(call: ApprovalNeeded, read: Read) -> bool:
    """Whether the user allows a call; Ctrl-C and Ctrl-D mean no."""
    try:
        return read(f"allow {plain(call.tool)}? [y/N] ").strip().lower().startswith("y")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return False


def with_references(run: Run, printer: terminal.Printer, show: Callable[[Event], None]) -> Callable[[Event], None]:
    """`show`, which also prints what the message's references mean, after its files."""

    def show_event(event: Event) -> None:
        if isinstance(event, StepStart) and event.step == 1:
            for message in run.messages:
                for line in references(message, run.conversation.attachments):
                    printer.line(f"  {line}")
        show(event)

    return show_event


async def watch(run: Run, show: Callable[[Event], Any]) -> int:
    """Show a run's events and return the exit status. SIGTERM and SIGHUP cancel the run, and then exit.

    Raises `Busy` or `NotFound` if the run can't start; then no end is shown.
    """
    end: Event | None = None
    with ending_signals() as ended:
        try:
            await wait_for_turn(run.conversation)
            async for event in run:
                if isinstance(event, Finish):
                    end = event  # shown unless an error follows
                else:
                    show(event)
        except asyncio.CancelledError:
            if ended:
                sys.exit(128 + ended[0])
            raise
        finally:
            await run.cancel()  # it has not begun if the conversation was busy
    if end is not None:
        show(end)
    return EXIT[run.status]


async def wait_for_turn(conversation: Conversation) -> None:
    """Wait until no other run uses a conversation, with a notice if that takes long."""

    async def acquire() -> None:
        async with conversation.turn:
            pass

    turn = asyncio.create_task(acquire())
    try:
        done, _ = await asyncio.wait({turn}, timeout=WAIT_NOTICE)
        if not done:
            typer.echo(f"showandtell: {WAITING}", err=True)
        await turn
    finally:
        turn.cancel()


@contextlib.contextmanager
def ending_signals() -> Generator[list[int]]:
    """Handle signals in the event loop while a run is watched, because an exit inside a tool would look like its error.

    Signals that `nohup` ignores stay ignored.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in ENDING}
    ended: list[int] = []

    def end(number: int) -> None:
        ended.append(number)
        if task is not None:
            task.cancel()

    handled = [number for number in ENDING if before[number] is not signal.SIG_IGN]
    for number in handled:
        loop.add_signal_handler(number, end, number)
    try:
        yield ended
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
