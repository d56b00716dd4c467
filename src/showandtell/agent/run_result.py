"""What a run has given so far: messages, files, receipts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from showandtell.agent.loop import Loop
from showandtell.core.display.displayed import Displayed
from showandtell.core.events.types import Status, Usage
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.message import Message, last_text
from showandtell.core.planning.values import Receipt
from showandtell.storage.conversations.memory_conversation import MemoryConversation


class RunResult(Displayed):
    """The results of a run over a conversation. They are final when the run has ended."""

    def __init__(self, conversation: MemoryConversation) -> None:
        self.conversation = conversation
        self.status: Status = "incomplete"
        self.reason: str | None = None
        self.usage = Usage()
        self._loop: Loop | None = None

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
        return last_text(self.messages)

    @property
    def files(self) -> list[File]:
        """The numbered files that tools and the model added in this run."""
        return [
            self._with_conversation(self.conversation.file(attachment.number), attachment.facts.size)
            for attachment in (self._loop.files if self._loop else ())
            if attachment.facts is not None and attachment.origin.by != "user"
        ]

    def _with_conversation(self, file: File, size: int) -> File:
        """A copy of the file that references its conversation, so that its bytes live as long as the copy."""
        conversation, number = self.conversation, file.number or 0
        return replace(file, source=Reader(lambda: conversation.file(number).open(), size))
