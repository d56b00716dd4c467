"""What a run has given so far: messages, files, receipts, the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, cast

from showandtell.checking.checked import checked
from showandtell.errors import NoOutput, public_message
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypeVar

    from showandtell.agent import engine
    from showandtell.core.events.types import Finish, Status
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
    """The results of a run over a conversation. They are final when the run has ended."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.status: Status = "incomplete"
        self.reason: str | None = None
        self.usage = engine.Usage()
        self._loop: engine.Loop | None = None

    @property
    def output(self) -> OutputT:
        """The validated answer, a value of the output type or the decoded JSON of a JSON schema, or else the text.

        Raises `NoOutput`, which says how the run ended, if it isn't complete.
        """
        answer = self._loop.answer if self._loop else None
        if self.status != "complete":
            end = f"{self.status} ({self.reason})" if self.reason else self.status
            problem = f": {answer.problem}" if answer and self.reason == "output" else ""
            raise NoOutput(f"no output: the run ended with {end}{problem}")
        return cast("OutputT", answer.value if answer else self.text)

    @property
    def error(self) -> Exception | None:
        """The exception that ended the run, if any."""
        return self._loop.error if self._loop else None

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """How each file was given to the model in the last step, and why."""
        return tuple(self._loop.receipts.values()) if self._loop else ()

    @property
    def metadata(self) -> Mapping[str, object]:
        """The metadata of tool results (`ToolResult(..., metadata=...)`) by call id; the model never sees it."""
        return self._loop.metadata if self._loop else {}

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that this run stored."""
        return tuple(self._loop.messages) if self._loop else ()

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
            for attachment in (self._loop.files if self._loop else ())
            if attachment.facts is not None and attachment.origin.by != "user"
        ]

    def file(self, number: int) -> File:
        """The file of the conversation with a number. It references its conversation, so that its bytes live as long.

        Raises `BadInput` if there is none, or if it has no bytes here.
        """
        conversation, file = self.conversation, self.conversation.file(number)
        size = file.source.size if isinstance(file.source, engine.Reader) else 0
        return engine.replace(file, source=engine.Reader(lambda: conversation.file(number).open(), size))


def finish_early(error: BaseException | None) -> Finish:
    """The end of a run that the loop didn't end: cancelled, or an error."""
    if error is None or isinstance(error, engine.CancelledError):
        return engine.Finish("incomplete", "cancelled")
    return engine.Finish("error", public_message(error))
