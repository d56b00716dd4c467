"""What a run has given so far: messages, files, receipts, the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, cast

from showandtell.checking.checked import checked
from showandtell.errors import BadInput, NoOutput, public_message
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypeVar

    from showandtell.agent import engine
    from showandtell.core.events.types import Event, Finish, Status
    from showandtell.core.messages.file import File
    from showandtell.core.messages.message import Message
    from showandtell.core.messages.parts import Source
    from showandtell.core.planning.values import Receipt
    from showandtell.storage.conversations.protocol import Conversation

    OutputT = TypeVar("OutputT", default=Any)
else:
    from typing import TypeVar

    engine = LazyModule("showandtell.agent.engine")
    OutputT = TypeVar("OutputT")


#: The module that has the names of annotations that are imported for type checkers alone.
ANNOTATIONS = "showandtell.agent.annotations"


@checked
class RunResult(Generic[OutputT]):
    """The results of a run over a conversation. They are final when the run has ended.

    Raises:
        BadInput: if a result is read of a run that has not begun.
    """

    def __init__(self, conversation: Conversation, model: str) -> None:
        self.conversation = conversation
        self._model, self._has_finished, self._is_left = model, False, False
        self._status: Status = "incomplete"
        self._reason: str | None = None
        self._usage = engine.Usage()
        self._loop: engine.Loop | None = None

    @property
    def has_begun(self) -> bool:
        """Whether it was awaited or iterated over. Nothing else can be read of one that wasn't."""
        return self._loop is not None

    @property
    def _begun(self) -> engine.Loop:
        """Its loop. Raises `BadInput` for a run that nobody has awaited yet."""
        if self._loop is None:
            raise BadInput("this run has not begun: await it first, as in `run = await agent.run(...)`")
        return self._loop

    @property
    def status(self) -> Status:
        """Its end: "complete", "incomplete", "waiting", "refused" or "error"."""
        _ = self._begun
        return self._status

    @property
    def reason(self) -> str | None:
        """Why a run that isn't complete ended; None for a complete one."""
        _ = self._begun
        return self._reason

    @property
    def usage(self) -> engine.Usage:
        """The tokens of all steps."""
        _ = self._begun
        return self._usage

    @property
    def output(self) -> OutputT:
        """The validated answer, a value of the output type or the decoded JSON of a JSON schema, or else the text.

        Raises `NoOutput`, which says how the run ended, if it isn't complete.
        """
        answer = self._begun.answer
        if self.status != "complete":
            end = f"{self.status} ({self.reason})" if self.reason else self.status
            problem = f": {answer.problem}" if answer and self.reason == "output" else ""
            raise NoOutput(f"no output: the run ended with {end}{problem}")
        return cast("OutputT", answer.value if answer else self.text)

    @property
    def error(self) -> Exception | None:
        """The exception that ended the run, if any."""
        return self._begun.error

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """How each file was given to the model in the last step, and why."""
        return tuple(self._begun.receipts.values())

    @property
    def metadata(self) -> Mapping[str, object]:
        """The metadata of tool results (`ToolResult(..., metadata=...)`) by call id; the model never sees it."""
        return self._begun.metadata

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that this run stored."""
        return tuple(self._begun.messages)

    @property
    def text(self) -> str:
        """The text of the model's last message, with the paused ones that it continues."""
        return engine.last_text(self.messages)

    @property
    def sources(self) -> list[Source]:
        """Where the texts of this run come from, in order. Files of the conversation are named by number."""
        return [source for message in self.messages for source in message.sources]

    @property
    def files(self) -> list[File]:
        """The numbered files that tools and the model added in this run."""
        return [
            self.file(attachment.number)
            for attachment in self._begun.files
            if attachment.facts is not None and attachment.origin.by != "user"
        ]

    def file(self, number: int) -> File:
        """The file of the conversation with a number. It references its conversation, so that its bytes live as long.

        Raises `BadInput` if there is none, if it has no bytes here, or if the run has not begun.
        """
        _, conversation, file = self._begun, self.conversation, self.conversation.file(number)
        size = file.source.size if isinstance(file.source, engine.Reader) else 0
        source = engine.Reader(lambda: conversation.file(number).open(), size, is_stored=True)
        return engine.replace(file, source=source)

    def _record_finish(self, event: Event) -> None:
        """Store the outcome, even if nobody reads the events."""
        if isinstance(event, engine.Finish):
            self._status, self._reason, self._usage = event.status, event.reason, event.usage
            self._has_finished = True

    def __repr__(self) -> str:
        """The model, how it ended, and how many messages and files it added."""
        where = f"<Run of {self._model} in {self.conversation.id}"
        if not self.has_begun:
            return f"{where}: not begun>"
        end = (f"{self.status} ({self.reason})" if self.reason else self.status) if self._has_finished else "running"
        counts = f"{engine.counted(len(self.messages), 'message')}, {engine.counted(len(self._begun.files), 'file')}"
        return f"{where}: {engine.short(end)}, {counts}>"

    def __del__(self) -> None:
        """Warn about a run that nobody awaited, as Python does about a coroutine."""
        if getattr(self, "_loop", self) is None and not self._is_left:
            text = f"a run of {self._model} was never awaited: write `await agent.run(...)`"
            engine.warn(text, RuntimeWarning, stacklevel=2, source=self)


def finish_early(error: BaseException | None) -> Finish:
    """The end of a run that the loop didn't end: cancelled, or an error."""
    if error is None or isinstance(error, engine.CancelledError):
        return engine.Finish("incomplete", "cancelled")
    return engine.Finish("error", public_message(error))
