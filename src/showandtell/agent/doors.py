"""The loop's doors to the world: a conversation, in memory or in a database. Sending is `providers.http.Send`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from showandtell.content import Draft, File, Message
from showandtell.delivery.values import Receipt, View
from showandtell.files import Attachment, Blobs, Known, Proved, Want


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

    def known(self) -> Known:
        """Conversions, uploads and rejections so far."""
        ...

    async def prove(self, draft: Draft) -> Sequence[Proved]:
        """Store and prove a draft's files; nothing is numbered yet."""
        ...

    def record(self, draft: Draft, proved: Sequence[Proved], receipts: Sequence[Receipt] = ()) -> Message:
        """Number a draft's files and store its message, with what the model was given for it."""
        ...

    async def load(self, wants: Iterable[Want]) -> Known:
        """Convert what a plan wants."""
        ...

    def learn(self, news: Known) -> None:
        """Keep what was learnt."""
        ...

    def forget(self, wants: Iterable[Want]) -> None:
        """Drop what was learnt and holds no more: an upload that expired, or was deleted."""
        ...
