"""The protocol of conversations as runs use them, in memory, in our database or in a store of your own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from showandtell.core.messages.attachments import Attachment, Facts, ProbedFile
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.message import BranchPoint, Draft, Message
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.step_record import Step
from showandtell.core.planning.values import Receipt, View


class Conversation(Protocol):
    """The messages and files that a run reads, and the place where it stores new ones.

    Derive a store of your own from `showandtell.conversations.MemoryConversation`, which has all of this but storing.
    `showandtell.testing.CONVERSATION_CHECKS` check it. Instances are hashable, and an agent keeps weak references.

    >>> from showandtell import Agent
    >>> from showandtell.conversations import Conversation
    >>> async def ask(text: str, conversation: Conversation) -> str:
    ...     return (await Agent("inspector").run(text, conversation=conversation)).text
    """

    @property
    def id(self) -> str:
        """The conversation's id."""
        ...

    @property
    def owner(self) -> str:
        """The user that the conversation belongs to."""
        ...

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from start to end, so that it is the only writer. Raises `Busy` if another doesn't end in time.

        Entering it brings `messages` up to date. Tasks of the run that holds it get `BadInput`.
        """
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the current branch, oldest first."""
        ...

    @property
    def head(self) -> str | None:
        """The id of the current branch's last message, or None if there are no messages."""
        ...

    async def everything(self) -> Sequence[Message]:
        """The messages of all branches, in the order in which they were stored."""
        ...

    async def lead(self, message_id: str | None) -> None:
        """Continue after a message of any branch (None: before the first one). The next message will follow it."""
        ...

    async def branch_from(self, lead: BranchPoint) -> None:
        """Like `lead`, for the holder of the turn: stored with the next message."""
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
