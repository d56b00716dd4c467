"""What a tool may know of its call: whose it is, the conversation's files, and how to say how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from showandtell.content import File, Shown
from showandtell.events.types import ToolProgress
from showandtell.files import Attachment, find


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one conversation, and of no other."""

    attachments: Mapping[int, Attachment]
    read: Callable[[int], File]

    def __iter__(self) -> Iterator[Attachment]:
        return iter(tuple(self.attachments.values()))  # a tool's thread reads while other results are numbered

    def get(self, number: int) -> File:
        """The file of a number; raises `BadInput` that lists what there is."""
        return self.read(number)

    def show(self, number: int) -> Shown:
        """A showing to return from a tool: the model sees that file again, under its own number."""
        return Shown(number, find(self.attachments, number).id)


@dataclass(frozen=True, slots=True)
class Context:
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
