"""A conversation in memory: messages, attachments and what is known of conversions, its bytes in a temporary folder."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence

from showandtell.attachments.ingest import Register, claims, clean
from showandtell.attachments.load import load_now
from showandtell.attachments.proving import prove_all, prove_now
from showandtell.attachments.shelf import Shelf
from showandtell.content import Draft, File, Message, is_approval, new_id
from showandtell.delivery.values import Receipt, View
from showandtell.errors import BadConversation, BadInput
from showandtell.files import Attachment, Blobs, Failed, Known, Proved, Variant, Want, find


class Turn:
    """Whose turn it is: runs of one event loop wait for each other, and those of another are refused."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        with self._guard:
            here = asyncio.get_running_loop()
            if self._loop is not here:
                if self._lock.locked():
                    raise BadInput("another thread is using this conversation: give each its own, or one event loop")
                self._loop, self._lock = here, asyncio.Lock()
            lock = self._lock
            if not lock.locked():
                await lock.acquire()  # doesn't wait: nobody has it
                return
        await lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class MemoryConversation:
    """The `Conversation` door of the loop, without a database. One run at a time: a second waits for its `turn`."""

    def __init__(self, shelf: Shelf | None = None, owner: str = "local", first_number: int = 1) -> None:
        self.id = new_id("conv")
        self.owner = owner
        self.shelf = shelf or Shelf()
        self.messages: list[Message] = []
        self.receipts: dict[int, Receipt] = {}
        self.turn = Turn()
        self._register = Register(first_number=first_number)
        self._known: dict[Want, Variant | Failed] = {}
        self._answering: str | None = None

    @property
    def attachments(self) -> dict[int, Attachment]:
        """The files of this conversation by number."""
        return self._register.attachments

    @property
    def blobs(self) -> Blobs:
        """Where its bytes are read."""
        return self.shelf.blobs

    def file(self, number: int) -> File:
        """The stored file of a number, to read again; `BadInput` where there is none, or it has no bytes here."""
        found = find(self.attachments, number)
        if found.facts is None:
            raise BadInput(f"{found.label} ({found.name}) has no bytes here: {found.problem or 'it is an address'}")
        path = self.shelf.blobs.blob(found.facts.sha256)
        return File(path, found.media_type, found.name, found.description, number)

    def view(self) -> View:
        """What the planner reads."""
        return View(tuple(self.messages), self._register.attachments, self._answering)

    def known(self) -> Known:
        """Conversions, uploads and rejections so far."""
        return self._known

    async def prove(self, draft: Draft) -> list[Proved]:
        """Store and prove a draft's files, side by side; nothing is numbered yet."""
        return await prove_all(self.shelf, claims(draft))

    def record(self, draft: Draft, proved: Sequence[Proved], receipts: Sequence[Receipt] = ()) -> Message:
        """Number a draft's files and store its message, with what the model was given for it."""
        message = self._register.accept(draft, proved)
        self.messages.append(message)
        self.receipts |= {receipt.number: receipt for receipt in receipts}
        if message.role == "user" and not is_approval(message.parts):
            self._answering = message.id
        return message

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Prove, number and store a whole history, without an event loop."""
        for index, draft in enumerate(map(clean, drafts)):
            try:
                self.record(draft, [prove_now(self.shelf, file) for file in claims(draft)])
            except BadConversation as error:
                raise BadConversation(f"messages[{index}]: {error}") from error

    async def load(self, wants: Iterable[Want]) -> Known:
        """Convert what the plan wants."""
        return await asyncio.to_thread(load_now, list(wants), self.shelf)

    def learn(self, news: Known) -> None:
        """Keep what conversions and providers taught."""
        self._known |= news

    def forget(self, wants: Iterable[Want]) -> None:
        """Drop what holds no more."""
        for want in wants:
            self._known.pop(want, None)
