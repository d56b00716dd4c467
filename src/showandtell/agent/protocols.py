"""The loop's doors to the world: a conversation, in memory or in a database. Sending is `providers.http.Send`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from showandtell.core.messages.attachments import Attachment, Facts, Proved
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft, Message
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.step import Step
from showandtell.core.planning.values import Receipt, View


class Conversation(Protocol):
    """Where a run reads what was said and stores what is said next."""

    @property
    def id(self) -> str:
        """Its own id."""
        ...

    @property
    def owner(self) -> str:
        """Who it belongs to."""
        ...

    @property
    def attachments(self) -> Mapping[int, Attachment]:
        """Its files by number."""
        ...

    @property
    def blobs(self) -> Blobs:
        """Where their bytes are read."""
        ...

    @property
    def receipts(self) -> Mapping[int, Receipt]:
        """What the model was last given of each file."""
        ...

    def file(self, number: int) -> File:
        """The stored file of a number; raises `BadInput`."""
        ...

    def view(self) -> View:
        """What the planner reads."""
        ...

    def known(self) -> Derivations:
        """Conversions, uploads and rejections so far."""
        ...

    async def prove(self, draft: Draft) -> Sequence[Proved]:
        """Store and prove a draft's files; nothing is numbered yet."""
        ...

    async def record(self, draft: Draft, proved: Sequence[Proved], step: Step | None = None) -> Message:
        """Number a draft's files and store its message; a step's with what the model was given, and what it took."""
        ...

    async def begin(self, calls: Sequence[ToolCall]) -> None:
        """Store that these calls are about to run: until their results are stored, nobody knows whether they did."""
        ...

    async def check(self, files: Collection[Facts]) -> Mapping[Facts, str]:
        """The stored files that are no longer what they were, each with what is wrong in words."""
        ...

    async def load(self, wants: Iterable[DerivationRequest]) -> Derivations:
        """Convert what a plan wants."""
        ...

    async def learn(self, news: Derivations) -> None:
        """Keep what was learnt."""
        ...

    async def forget(self, wants: Iterable[DerivationRequest]) -> None:
        """Drop what was learnt and holds no more: an upload that expired, or was deleted."""
        ...
