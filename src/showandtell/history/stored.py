"""A conversation in a database: each change is stored first, and then made in memory, which is all that a run reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from msgspec import structs
from sqlalchemy import Text, bindparam, case, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from showandtell.attachments.blobs import BlobStore
from showandtell.attachments.ingest import Accepted, Register
from showandtell.attachments.shelf import Shelf, drop_unseen
from showandtell.content import Draft, Message, ToolCall, is_approval
from showandtell.delivery.values import Receipt
from showandtell.errors import BadInput, LeaseLost
from showandtell.events.types import Usage
from showandtell.files import Attachment, Failed, Known, Proved, Variant, Want, find
from showandtell.history.access import Right, not_found, resolve
from showandtell.history.database import Database
from showandtell.history.garbage import Collected, collect_now
from showandtell.history.knowing import drop_known, store_known
from showandtell.history.lease import LOST, Lease, Terms
from showandtell.history.loading import State, Step, join, load, read_messages, spell
from showandtell.history.memory import MemoryConversation
from showandtell.history.pinning import Account, Quotas, admit, check_conversation, pin_within, without_bytes
from showandtell.history.tables import attachments, conversations, intents, messages

HELD = update(conversations).where(
    conversations.c.id == bindparam("conversation"), conversations.c.lease_token == bindparam("token")
)
#: The next place in the conversation, for the one who may write.
NEXT = HELD.values(
    next_seq=conversations.c.next_seq + 1,
    version=conversations.c.version + 1,
    head=bindparam("message"),
    changed=bindparam("now"),
    title=case((conversations.c.title == "", bindparam("words", type_=Text)), else_=conversations.c.title),
).returning(conversations.c.next_seq, conversations.c.version)
LEAD = HELD.values(version=conversations.c.version + 1, head=bindparam("message")).returning(conversations.c.version)
TOUCH = HELD.values(changed=bindparam("now")).returning(conversations.c.version)


#: The most letters of a title.
TITLE = 60
#: A version that no conversation has.
STALE = -1
DELETED = "was deleted by the user"
CHANGED = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(version=conversations.c.version + 1)
    .returning(conversations.c.version)
)
#: All of a conversation's messages.
SAID = select(messages.c.record).where(messages.c.conversation_id == bindparam("conversation")).order_by(messages.c.seq)


class StoredConversation(MemoryConversation):
    """A conversation of a `Store`. Its `turn` is a lease, so that one process writes at a time.

    What is called without the turn takes it for as long as it needs.
    """

    def __init__(
        self, state: State, shelf: Shelf, database: Database, terms: Terms, *, user: str, right: Right, quotas: Quotas
    ) -> None:
        super().__init__(shelf, state.owner, id=state.id)
        self._user = user
        self._right: Right = right
        self._database, self._terms, self._account = database, terms, Account(state.owner, quotas, terms.clock)
        self._lease = Lease(database, state.id, terms)
        self._events = asyncio.get_running_loop()
        self._changing = asyncio.Lock()
        self._remembered: dict[Want, Variant | Failed] = {}
        shelf.pin = self.pin
        self._take(state)

    def _take(self, state: State) -> None:
        """From now on memory is what the database said."""
        self.messages[:] = state.messages
        self._register = Register(state.attachments)
        self.receipts.clear()
        self.receipts |= state.receipts
        self._known.clear()
        self._known |= state.known | self._remembered
        self._begun = state.begun
        self._version = state.version
        said = (one.id for one in reversed(state.messages) if one.role == "user" and not is_approval(one.parts))
        self._answering = next(said, None)
        self.shelf.facts |= {one.facts.sha256: one.facts for one in state.attachments if one.facts is not None}

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from its start to its end. Raises `Busy` where another process doesn't end in time."""
        return self._hold()

    @asynccontextmanager
    async def _hold(self) -> AsyncGenerator[None]:
        self._check_right()
        async with self._turn:
            await resolve(self._database, self.id, self._user, self._right)
            try:
                if await self._lease.take() != self._version:
                    await self.refresh()
                yield
            finally:
                await self._lease.give_back()

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None]:
        if self._lease.is_held:
            yield
            return
        async with self.turn:
            yield

    def _check_right(self) -> None:
        if self._right == "reader":
            raise not_found(self.id)

    async def refresh(self) -> None:
        """Read again what others may have written."""
        async with self._changing:
            self._take(await load(self._database, self.id, self._user, self._right))

    async def everything(self) -> list[Message]:
        """The messages of all branches, in the order in which they were said."""
        await resolve(self._database, self.id, self._user, self._right)
        return read_messages.decode(join(await self._database.read(SAID, conversation=self.id), 0))

    async def record(
        self, draft: Draft, proved: Sequence[Proved], receipts: Sequence[Receipt] = (), usage: Usage | None = None
    ) -> Message:
        """Number a draft's files and store its message. Raises `LeaseLost` where another process writes now."""
        async with self._held(), self._changing:
            return await super().record(draft, proved, receipts, usage)

    async def write(self, accepted: Accepted, receipts: Sequence[Receipt], usage: Usage | None) -> Accepted:
        """Store a message with its files, and what belongs to its step, in one transaction."""
        message, now = accepted.message, self._terms.clock()
        token = self._lease.token
        async with self._database.write() as connection:
            title = title_of(message) if message.role == "user" else ""
            asked = {"conversation": self.id, "token": token, "message": message.id, "now": now, "words": title}
            place = (await connection.execute(NEXT, asked)).first()
            if place is None:
                raise LeaseLost(LOST)
            step = Step(usage, tuple(receipts)) if message.role == "assistant" else None
            await connection.execute(insert(messages), self._row_of(message, place[0], now, step))
            files = await admit(connection, self._account, self.attachments, accepted.attachments)
            if files:
                await connection.execute(insert(attachments), [self._row_of_file(one) for one in files])
            if message.call_id is not None and message.call_id in self._begun:
                await connection.execute(
                    delete(intents).where(
                        intents.c.conversation_id == self.id, intents.c.call_id == spell(message.call_id)
                    )
                )
        self._moved_to(place[1])
        return Accepted(message, files)

    def _moved_to(self, version: int) -> None:
        """Where somebody else has changed something besides, memory is read again with the next turn."""
        self._version = version if version == self._version + 1 else STALE

    def _row_of(self, message: Message, seq: int, now: float, step: Step | None) -> dict[str, Any]:
        return {
            "conversation_id": self.id,
            "seq": seq,
            "id": message.id,
            "parent_id": message.parent_id,
            "role": message.role,
            "created": now,
            "record": spell(message),
            "step": None if step is None else spell(step),
        }

    def _row_of_file(self, one: Attachment) -> dict[str, Any]:
        return {
            "id": one.id,
            "conversation_id": self.id,
            "owner": self.owner,
            "number": one.number,
            "sha256": one.facts.sha256 if one.facts else None,
            "address": one.address.sha256 if one.address else None,
            "size": one.facts.size if one.facts else 0,
            "media_type": one.media_type,
            "state": one.state,
            "record": spell(one),
        }

    async def begin(self, calls: Sequence[ToolCall]) -> None:
        """Store that these calls are about to run: a crash leaves them as such."""
        fresh = [call for call in calls if call.call_id not in self._begun]
        if not fresh:
            return
        async with self._held():
            now = self._terms.clock()
            async with self._database.write() as connection:
                await self._check_token(connection, now)
                rows = [
                    {
                        "conversation_id": self.id,
                        "call_id": spell(call.call_id),
                        "tool": spell(call.tool),
                        "started": now,
                    }
                    for call in {call.call_id: call for call in fresh}.values()
                ]
                await connection.execute(insert(intents), rows)
            await super().begin(calls)

    async def _check_token(self, connection: AsyncConnection, now: float) -> None:
        asked = {"conversation": self.id, "token": self._lease.token, "now": now}
        if (await connection.execute(TOUCH, asked)).first() is None:
            raise LeaseLost(LOST)

    async def lead(self, message_id: str | None) -> None:
        """Go on behind a message of any branch (None: before the first one), which what is said next will follow."""
        if message_id is not None:
            found = await resolve(self._database, message_id, self._user, self._right)
            if found[0] != self.id:
                raise BadInput(f"this conversation has no message {message_id[:40]!r}")
        async with self._held():
            asked = {"conversation": self.id, "token": self._lease.token, "message": message_id}
            async with self._database.write() as connection:
                if (await connection.execute(LEAD, asked)).first() is None:
                    raise LeaseLost(LOST)
            await self.refresh()

    async def delete_file(self, number: int, blobs: BlobStore) -> Collected:
        """Delete the bytes of a file and what was made of them; see `Store.delete_file`. A run that goes on may."""
        await resolve(self._database, self.id, self._user, "owner")
        if number not in self.attachments:
            await self.refresh()
        there = find(self.attachments, number)
        gone = structs.replace(without_bytes(there, DELETED), state="deleted")
        row = self._row_of_file(gone)
        async with self._database.write() as connection:
            version = (await connection.execute(CHANGED, {"conversation": self.id})).scalar_one()
            await connection.execute(update(attachments).where(attachments.c.id == there.id).values(row))
        self._moved_to(version)
        self.attachments[number] = gone
        if there.facts is None:
            return Collected()
        return await collect_now(self._database, blobs, [(self.owner, there.facts.sha256)])

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Not without an event loop: raises `BadInput`."""
        del drafts
        raise BadInput("a stored conversation takes messages by `await record(...)`, not by ingest_now")

    async def learn(self, news: Known) -> None:
        """Store what conversions and providers taught; converted bytes stay for as long as their source does."""
        if news:
            self._check_right()
            async with self._database.write() as connection:
                await store_known(connection, self.owner, news, self._terms.clock())
        self._known |= news

    def remember(self, news: Known) -> None:
        """Keep what conversions and providers taught for as long as this object lives."""
        self._remembered |= news
        super().remember(news)

    async def forget(self, wants: Iterable[Want]) -> None:
        """Drop what holds no more."""
        gone = list(wants)
        if gone:
            self._check_right()
            async with self._database.write() as connection:
                await drop_known(connection, self.owner, gone)
        for want in gone:
            self._remembered.pop(want, None)
        await super().forget(gone)

    def pin(self, sha256: str, size: int) -> None:
        """Note bytes in the database before they are put in place. Called in a thread; raises `BadFile` for a quota."""
        self._check_right()
        check_conversation(self.attachments, sha256, size, self._account.quotas)
        noting = pin_within(self._database, self._account, sha256, size)
        asyncio.run_coroutine_threadsafe(noting, self._events).result()


def title_of(message: Message) -> str:
    """The first words of a message, on one line."""
    words = drop_unseen(" ".join(message.text.split()))
    return words if len(words) <= TITLE else words[: TITLE - 1].rsplit(" ", 1)[0] + "…"
