"""What a tool may know of its call: whose it is, the conversation's files, and how to say how far it is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from showandtell.core.events.types import ToolProgress
from showandtell.core.messages.attachments import Attachment, Facts, find
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Shown
from showandtell.errors import BadInput

Convert: TypeAlias = Callable[[DerivationRequest], Awaitable[Derivative | Failed]]

#: The recipe that gives the words of a kind of file; pictures have none.
RECIPES = {"document": "text", "text": "text", "other": "text", "audio": "transcript", "video": "transcript"}


async def keep_as_is(_want: DerivationRequest) -> Failed:
    """What files answer that belong to no conversation which converts."""
    return Failed("it can't be converted here: read its bytes")


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one conversation, and of no other. `running` is the event loop of its run."""

    attachments: Mapping[int, Attachment]
    read: Callable[[int], File]
    convert: Convert = keep_as_is
    running: asyncio.AbstractEventLoop | None = None

    def __iter__(self) -> Iterator[Attachment]:
        return iter(tuple(self.attachments.values()))  # a tool's thread reads while other results are numbered

    def get(self, number: int) -> File:
        """The file of a number; raises `BadInput` that lists what there is."""
        return self.read(number)

    def show(self, number: int) -> Shown:
        """A showing to return from a tool: the model sees that file again, under its own number."""
        return Shown(number, find(self.attachments, number).id)

    async def text(self, number: int) -> str:
        """The words of a file, at most 200,000 characters: of a PDF its text layer, of sound and film a transcript.

        They are made once for each conversation. Raises `BadInput` that says why there are none.
        """
        file = find(self.attachments, number)
        facts = stored(file)
        recipe = RECIPES.get(file.kind)
        if recipe is None:
            raise BadInput(f"{called(file)} is {file.media_type} and has no text")
        found = await self.convert(DerivationRequest(facts.sha256, recipe))
        if isinstance(found, Failed):
            raise BadInput(f"{called(file)} has no text that can be read: {found.reason}")
        return found.text or ""

    def text_now(self, number: int) -> str:
        """The same for a tool that is no async function: its thread waits. Raises `BadInput` in an event loop."""
        if runs_here():
            raise BadInput("text_now waits, and would hold up the event loop: write `await files.text(number)`")
        if self.running is None:
            return asyncio.run(self.text(number))
        return asyncio.run_coroutine_threadsafe(self.text(number), self.running).result()


def runs_here() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def called(file: Attachment) -> str:
    """A file by label and name: document 3 (report.pdf)."""
    return f"{file.label} ({file.name})" if file.name else file.label


def check_problem(file: Attachment) -> None:
    """Raise `BadInput` for a file that failed, was found damaged, or was deleted."""
    if file.problem is not None:
        raise BadInput(f"{called(file)} can't be used: {file.problem}")


def stored(file: Attachment) -> Facts:
    """What is proved of a file's bytes; raises `BadInput` where they can't be used, or are not here."""
    check_problem(file)
    if file.facts is None:
        raise BadInput(f"{called(file)} is an address: its bytes are not here")
    return file.facts


@dataclass(frozen=True, slots=True)
class RunContext:
    """Given to a tool whose parameter is annotated with it; the model doesn't see that parameter.

    `cancelled` is set when the run is cancelled or the call timed out: a long sync tool should look at it.
    """

    owner: str
    conversation: str
    call_id: str
    files: Files
    emit: Callable[[ToolProgress], None]
    cancelled: threading.Event = field(default_factory=threading.Event)

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Say how far the tool is; from any thread."""
        self.emit(ToolProgress(self.call_id, done, total, note))
