"""The protocol of conversations as the loop uses them, in memory or in a database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from showandtell.core.messages.attachments import Attachment, Facts, ProbedFile
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.step_record import Step
from showandtell.core.planning.values import Receipt, View


class Conversation(Protocol):
    """The messages and files that a run reads, and the place where it stores new ones."""

    @property
    def id(self) -> str:
        """The conversation's id."""
        ...

    @property
    def owner(self) -> str:
        """The user that the conversation belongs to."""
        ...

    @property
    def attachments(self) -> Mapping[int, Attachment]:
        """The files by number."""
        ...

    @property
    def blobs(self) -> Blobs:
        """The storage of the files' bytes."""
        ...

    @property
    def receipts(self) -> Mapping[int, Receipt]:
        """How each file was last given to the model, by number."""
        ...

    def file(self, number: int) -> File:
        """The stored file with a number. Raises `BadInput`."""
        ...

    def view(self) -> View:
        """The planner's view of the conversation."""
        ...

    def known(self) -> Derivations:
        """Conversions, uploads and rejections so far."""
        ...

    async def probe(self, draft: Draft) -> Sequence[ProbedFile]:
        """Store and probe a draft's files, without numbering them yet."""
        ...

    async def record(self, draft: Draft, proved: Sequence[ProbedFile], step: Step | None = None) -> Message:
        """Number a draft's files and store its message; for a model's message also the receipts and usage of `step`."""
        ...

    async def start_calls(self, calls: Sequence[ToolCall]) -> None:
        """Store that these calls are about to run, to detect interrupted ones after a crash."""
        ...

    async def check(self, files: Collection[Facts]) -> Mapping[Facts, str]:
        """The stored files whose bytes have changed or vanished, each with the problem as text."""
        ...

    async def load(self, requests: Iterable[DerivationRequest]) -> Derivations:
        """Make the conversions that a plan requests."""
        ...

    async def recall(self, request: DerivationRequest) -> Derivative | Failed | None:
        """A stored result, also one that another conversation of the owner has stored meanwhile."""
        ...

    async def learn(self, results: Derivations) -> None:
        """Store derivatives and failures."""
        ...

    async def forget(self, requests: Iterable[DerivationRequest]) -> None:
        """Drop stored results that are no longer valid, such as expired or deleted uploads."""
        ...
