"""What a tool may use during a call: the conversation's files, the caller's ids, and progress reports."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from showandtell.checking.checked import Checked, checked
from showandtell.core.events.types import ToolProgress
from showandtell.core.messages.attachments import Attachment, Facts, find_attachment
from showandtell.core.messages.conversion import text_conversion
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Shown
from showandtell.errors import BadInput
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import TypeVar

    from showandtell.core.collect import tool_result

    DepsT = TypeVar("DepsT", default=Any)
else:
    from typing import TypeVar

    asyncio, tool_result = LazyModule("asyncio"), LazyModule("showandtell.core.collect.tool_result")
    DepsT = TypeVar("DepsT")

Convert: TypeAlias = Callable[[DerivationRequest], Awaitable[Derivative | Failed]]

#: The conversion that gives the text of each kind of file. Images have none.
TEXT_CONVERSIONS = {"document": "text", "text": "text", "other": "text", "audio": "transcript", "video": "transcript"}


async def cannot_convert(_want: DerivationRequest) -> Failed:
    """The default for files outside a conversation that can convert."""
    return Failed("it can't be converted here: read its bytes")


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one conversation, in order of their numbers.

    `loop` is the event loop of its run. Without one, `text_now` runs its own. `max_text` is the maximum number of
    characters of a tool's result, if there is one.
    """

    attachments: Mapping[int, Attachment]
    read: Callable[[int], File]
    convert: Convert = cannot_convert
    loop: asyncio.AbstractEventLoop | None = None
    max_text: int | None = None

    def __iter__(self) -> Iterator[Attachment]:
        return iter(tuple(self.attachments.values()))  # a copy: a tool's thread reads while other results are numbered

    def get(self, number: int) -> File:
        """The file with a number. Raises `BadInput`, which lists the existing files."""
        return self.read(number)

    def show(self, number: int) -> Shown:
        """A value to return from a tool, to show the model a file again under its own number. Raises `BadInput`."""
        return Shown(number, find_attachment(self.attachments, number).id)

    async def text(self, number: int) -> str:
        """The text of a file, at most 200,000 characters: a PDF's text layer, or a transcript of audio or video.

        Each file is converted once per conversation. Raises `BadInput` with the reason if there is no text.
        """
        file = find_attachment(self.attachments, number)
        facts = stored_facts(file)
        conversion = TEXT_CONVERSIONS.get(file.kind)
        if conversion is None:
            raise BadInput(f"{format_name(file)} is {file.media_type} and has no text")
        if conversion == "text":
            conversion = text_conversion(facts.encoding)
        derivative = await self.convert(DerivationRequest(facts.sha256, conversion))
        if isinstance(derivative, Failed):
            raise BadInput(f"{format_name(file)} has no text that can be read: {derivative.reason}")
        return derivative.text or ""

    def text_now(self, number: int) -> str:
        """Like `text`, for sync tools: blocks the tool's thread. Raises `BadInput` inside an event loop, too."""
        if in_event_loop():
            raise BadInput("text_now waits, and would hold up the event loop: write `await files.text(number)`")
        if self.loop is None:
            return asyncio.run(self.text(number))
        return asyncio.run_coroutine_threadsafe(self.text(number), self.loop).result()


def in_event_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def format_name(file: Attachment) -> str:
    """A file's label, and its name unless that is kept from the model, like `document 3 (report.pdf)`."""
    return f"{file.label} ({file.name_for_model})" if file.name_for_model else file.label


def check_problem(file: Attachment) -> None:
    """Raise `BadInput` for a file that failed, is damaged, or was deleted."""
    if file.problem is not None:
        raise BadInput(f"{format_name(file)} can't be used: {file.problem}")


def stored_facts(file: Attachment) -> Facts:
    """The facts about a file's stored bytes. Raises `BadInput` if they are unusable or not stored here."""
    check_problem(file)
    if file.facts is None:
        raise BadInput(f"{format_name(file)} is an address: its bytes are not here")
    return file.facts


@checked
@dataclass(frozen=True, slots=True)
class RunContext(Checked, Generic[DepsT]):
    """The context of a call, passed to the tool's parameter that is annotated with it. The model doesn't see it.

    Annotate the parameter with `RunContext[Settings]` if `deps` is a `Settings`.

    >>> from showandtell import Agent, RunContext
    >>> def count_files(context: RunContext) -> int:
    ...     "Count the files of this conversation."
    ...     context.progress(1, total=1)
    ...     return len(list(context.files))
    >>> run = Agent("inspector", [count_files]).run_sync("/count_files")
    >>> run.messages[2].text
    '0'

    Args:
        owner (str): the user that the conversation belongs to; empty for conversations in memory.
        conversation (str): the conversation's id.
        call_id (str): the id of this call.
        files (Files): the conversation's files: iterate, or use `get`, `show`, `text` and `text_now`.
        emit (Callable): receives the events of `progress`.
        deps (DepsT): what the program gave to the `Agent` or the run. Default: None.
        cancelled (threading.Event): set when the run is cancelled or the call times out. Long sync tools should
            check it.
    """

    owner: str
    conversation: str
    call_id: str
    files: Files
    emit: Callable[[ToolProgress], None]
    cancelled: threading.Event = field(default_factory=threading.Event)
    deps: DepsT = None  # pyright: ignore[reportAssignmentType] - as the program says

    def progress(self, done: float, total: float | None = None, note: str = "", *, preview: object = None) -> None:
        """Report progress, from any thread: `done` of `total` in any unit, and a short `note` for people.

        `preview` is a picture or another file that people see while the tool works, as a small picture. It isn't
        stored, and no model sees it. Of several within half a second, only the newest is shown.
        """
        files = tool_result.ToolResult(preview).files
        file = next((file for file in files if isinstance(file, File) and file.audience != "assistant"), None)
        self.emit(ToolProgress(self.call_id, done, total, note, file))
