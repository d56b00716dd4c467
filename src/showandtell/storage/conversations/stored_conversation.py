"""A conversation in a database: each change is stored first, and then made in memory, which is all that a run reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any

from msgspec import structs
from sqlalchemy import Connection, Select, Text, and_, bindparam, case, delete, insert, select, update

from showandtell.core.events.replay import StepSummary
from showandtell.core.messages.attachments import Attachment, Proved, find
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.messages import Draft, Lead, Message
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.step import Step
from showandtell.errors import BadInput, LeaseLost, NotFound
from showandtell.storage.blobs.base import BlobStore
from showandtell.storage.conversations.access import Right, allowed, check_id, not_found, resolve, resolve_in
from showandtell.storage.conversations.known_results import drop_known, store_known
from showandtell.storage.conversations.load import State, load
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.garbage_collection import Collected, collect_now
from showandtell.storage.database.lease import LOST, UPDATE_HELD, Lease, Terms
from showandtell.storage.database.quotas import (
    Account,
    Quotas,
    admit,
    check_conversation,
    reference_again,
    reference_within,
    without_bytes,
)
from showandtell.storage.database.rows import (
    decode_in_thread,
    read_all,
    read_messages,
    read_steps,
    row_of,
    row_of_file,
    serialize,
)
from showandtell.storage.database.sent_uploads import mark_sent
from showandtell.storage.database.tables import attachments, conversations, intents, messages
from showandtell.storage.files.file_cache import FileCache, drop_unseen
from showandtell.storage.files.numbering import AcceptedMessage, Register

#: The next place in the conversation, for the one who may write.
NEXT = UPDATE_HELD.values(
    next_seq=conversations.c.next_seq + 1,
    version=conversations.c.version + 1,
    head=bindparam("message"),
    changed=bindparam("now"),
    title=case((conversations.c.title == "", bindparam("words", type_=Text)), else_=conversations.c.title),
).returning(conversations.c.next_seq, conversations.c.version)
LEAD = UPDATE_HELD.values(version=conversations.c.version + 1, head=bindparam("message")).returning(
    conversations.c.version
)
#: Calls that begin are a change as any other: who goes on in another process reads them.
TOUCH = UPDATE_HELD.values(version=conversations.c.version + 1, changed=bindparam("now")).returning(
    conversations.c.version
)
SELECT_MESSAGE = select(messages.c.id).where(
    messages.c.conversation_id == bindparam("conversation"), messages.c.id == bindparam("message")
)
DELETE_INTENT = delete(intents).where(
    intents.c.conversation_id == bindparam("conversation"), intents.c.call_id == bindparam("call")
)
UPDATE_ATTACHMENT = update(attachments).where(attachments.c.id == bindparam("file"))
#: What was deleted meanwhile stays so.
SETTLE = UPDATE_ATTACHMENT.where(attachments.c.state != "deleted").values(
    state=bindparam("now"), record=bindparam("says")
)

#: The most letters of a title.
TITLE = 60
#: A version that no conversation has.
STALE = -1
DELETED = "was deleted by the user"
UPDATE_VERSION = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(version=conversations.c.version + 1)
    .returning(conversations.c.version)
)


@cache
def said(column: str, right: Right) -> Select[Any, Any]:
    """A column of all messages of a conversation that have it, with their ids, in the order in which they were said.

    No row: not with this right; one row of nothing: there is none.
    """
    one = messages.c[column]
    theirs = and_(messages.c.conversation_id == conversations.c.id, one.is_not(None))
    return (
        select(messages.c.id, one)
        .select_from(conversations.outerjoin(messages, theirs))
        .where(conversations.c.id == bindparam("conversation"), allowed(right))
        .order_by(messages.c.seq)
    )


class StoredConversation(MemoryConversation):
    """A conversation of a `Store`. Its `turn` is a lease, so that one process writes at a time.

    What is called without the turn takes it for as long as it needs.
    """

    def __init__(
        self,
        state: State,
        file_cache: FileCache,
        database: Database,
        terms: Terms,
        *,
        user: str,
        right: Right,
        quotas: Quotas,
    ) -> None:
        super().__init__(file_cache, state.owner, id=state.id)
        self._user = user
        self._right: Right = right
        self._database, self._terms, self._account = database, terms, Account(state.owner, quotas, terms.clock)
        self._lease = Lease(database, state.id, terms)
        self._events = asyncio.get_running_loop()
        self._changing = asyncio.Lock()
        self._remembered: dict[DerivationRequest, Derivative | Failed] = {}
        file_cache.pin, file_cache.again = self.pin, self.pin_again
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
        self.file_cache.facts |= {one.facts.sha256: one.facts for one in state.attachments if one.facts is not None}

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from its start to its end. Raises `Busy` where another process doesn't end in time."""
        return self._hold()

    @asynccontextmanager
    async def _hold(self) -> AsyncGenerator[None]:
        self._check_right()
        async with self._turn:
            try:
                if await self._lease.take(self._check_shared) != self._version:
                    await self.refresh()
                yield
            finally:
                await self._lease.give_back()

    async def leave(self) -> None:
        """Leave a run as a crash would, for another process to go on with: nothing more of it is stored here."""
        await self._lease.leave()

    def _check_right(self) -> None:
        if self._right == "reader":
            raise not_found(self.id)

    def _check_shared(self, connection: Connection) -> None:
        resolve_in(connection, self.id, self._user, self._right)

    async def _still_may(self) -> None:
        """Raise `NotFound` for a reader, and for a writer whose share was taken back before the turn began."""
        self._check_right()
        if not self._lease.is_held:
            await resolve(self._database, self.id, self._user, self._right)

    async def refresh(self) -> None:
        """Read again what others may have written."""
        async with self._changing:
            self._take(await load(self._database, self.id, self._user, self._right))

    async def everything(self) -> list[Message]:
        """The messages of all branches, in the order in which they were said."""
        rows = await self._read_said("record", self._right)
        return await decode_in_thread(lambda: read_all(read_messages, rows, 1), rows)

    async def told(self) -> dict[str, StepSummary]:
        """What a page tells of each step of this branch, by its message's id."""
        here = {one.id for one in self.messages}
        mine = [row for row in await self._read_said("step", "reader") if row[0] in here]
        steps = await decode_in_thread(lambda: read_all(read_steps, mine, 1), mine)
        return {row[0]: step.told() for row, step in zip(mine, steps, strict=True)}

    async def _read_said(self, column: str, right: Right) -> list[Row]:
        rows = await self._database.read(said(column, right), conversation=self.id, user=self._user)
        if not rows:
            raise not_found(self.id)
        return [row for row in rows if row[0] is not None]

    async def record(self, draft: Draft, proved: Sequence[Proved], step: Step | None = None) -> Message:
        """Number a draft's files and store its message. Raises `LeaseLost` where another process writes now.

        While a run goes on, what isn't part of it waits for its end.
        """
        async with self.held(), self._changing:
            return await super().record(draft, proved, step)

    async def write(self, accepted: AcceptedMessage, step: Step | None) -> AcceptedMessage:
        """Store a message with its files, and what belongs to its step, in one transaction."""
        message, now = accepted.message, self._terms.clock()
        token = self._lease.token
        title = title_of(message) if message.role == "user" else ""
        asked = {"conversation": self.id, "token": token, "message": message.id, "now": now, "words": title}
        ended = message.call_id if message.call_id in self._begun else None

        def work(connection: Connection) -> tuple[int, tuple[Attachment, ...]]:
            place = connection.execute(NEXT, asked).first()
            if place is None:
                raise LeaseLost(LOST)
            connection.execute(insert(messages), row_of(message, self.id, place[0], now, step))
            if message.role == "user":
                mark_sent(connection, self._user, accepted.attachments)
            files = admit(connection, self._account, self.attachments, accepted.attachments)
            if files:
                connection.execute(insert(attachments), [row_of_file(one, self.id, self.owner) for one in files])
            if ended is not None:
                connection.execute(DELETE_INTENT, {"conversation": self.id, "call": serialize(ended)})
            return place[1], files

        version, files = await self._database.write(work)
        self._moved_to(version)
        return AcceptedMessage(message, files)

    def _moved_to(self, version: int) -> None:
        """Where somebody else has changed something besides, memory is read again with the next turn."""
        self._version = version if version == self._version + 1 else STALE

    async def begin(self, calls: Sequence[ToolCall]) -> None:
        """Store that these calls are about to run: a crash leaves them as such."""
        async with self.held(), self._changing:
            fresh = dict.fromkeys(call.call_id for call in calls if call.call_id not in self._begun)
            if not fresh:
                return
            now = self._terms.clock()
            touch = {"conversation": self.id, "token": self._lease.token, "now": now}
            rows = [{"conversation_id": self.id, "call_id": serialize(call_id), "started": now} for call_id in fresh]

            def work(connection: Connection) -> int:
                touched = connection.execute(TOUCH, touch).first()
                if touched is None:
                    raise LeaseLost(LOST)
                connection.execute(insert(intents), rows)
                return touched[0]

            self._moved_to(await self._database.write(work))
            await super().begin(calls)

    async def lead(self, message_id: str | None) -> None:
        """Go on behind a message of any branch (None: before the first one), which what is said next will follow.

        Raises `NotFound` for what is no message of this conversation. While a run goes on, waits for its end; what
        belongs to the run gets `BadInput` while calls wait for their results.
        """
        if self._turn.is_mine:
            self._check_answered()
        async with self.held():
            if message_id == self.head:
                return
            here = {"conversation": self.id, "message": None if message_id is None else check_id(message_id)}
            lead = {**here, "token": self._lease.token}

            def work(connection: Connection) -> None:
                if message_id is not None and connection.execute(SELECT_MESSAGE, here).first() is None:
                    raise NotFound(f"this conversation has no message {message_id!r}: check the id")
                if connection.execute(LEAD, lead).first() is None:
                    raise LeaseLost(LOST)

            await self._database.write(work)
            await self.refresh()

    async def stand_behind(self, lead: Lead) -> None:
        """The same for who has the turn, in memory alone: it is stored with the first message that is said there."""
        async with self._changing:
            self._take(await load(self._database, self.id, self._user, self._right, lead))
            self._version = STALE  # if nothing is said, the next turn reads where the conversation really stands

    async def settle(self, files: Sequence[Attachment]) -> None:
        """Store the state of files that were set aside, or found whole again; a reader's, in memory alone."""
        async with self._changing:
            there = [one for one in files if self.attachments[one.number].state != "deleted"]
            if there and self._right != "reader":
                await self._still_may()
                rows = [{"file": one.id, "now": one.state, "says": serialize(one)} for one in there]
                self._moved_to(await self._change(lambda connection: connection.execute(SETTLE, rows)))
            await super().settle(there)

    async def _change(self, change: Callable[[Connection], object]) -> int:
        """The version behind a change that waits for no turn. Raises `NotFound` where the conversation is deleted."""

        def work(connection: Connection) -> int:
            version = connection.execute(UPDATE_VERSION, {"conversation": self.id}).scalar_one_or_none()
            if version is None:
                raise not_found(self.id)
            change(connection)
            return version

        return await self._database.write(work)

    async def delete_file(self, number: int, blobs: BlobStore) -> Collected:
        """Delete the bytes of a file and what was made of them; see `Store.delete_file`. A run that goes on may."""
        await resolve(self._database, self.id, self._user, "owner")
        if number not in self.attachments:
            await self.refresh()
        async with self._changing:
            there = find(self.attachments, number)
            gone = structs.replace(without_bytes(there, DELETED), state="deleted")
            deleted, file = UPDATE_ATTACHMENT.values(row_of_file(gone, self.id, self.owner)), {"file": there.id}
            self._moved_to(await self._change(lambda connection: connection.execute(deleted, file)))
            self.attachments[number] = gone
        if there.facts is None:
            return Collected()
        return await collect_now(self._database, blobs, [(self.owner, there.facts.sha256)])

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Not without an event loop: raises `BadInput`."""
        del drafts
        raise BadInput("a stored conversation takes messages by `await record(...)`, not by ingest_now")

    async def learn(self, news: Derivations) -> None:
        """Store what conversions and providers taught; converted bytes stay for as long as their source does."""
        if news:
            await self._still_may()
            now = self._terms.clock()
            await self._database.write(lambda connection: store_known(connection, self.owner, news, now))
        self._known |= news

    def remember(self, news: Derivations) -> None:
        """Keep what conversions and providers taught for as long as this object lives."""
        self._remembered |= news
        super().remember(news)

    async def forget(self, wants: Iterable[DerivationRequest]) -> None:
        """Drop what holds no more; a reader's, for as long as this object lives."""
        gone = list(wants)
        if gone and self._right != "reader":
            await self._still_may()
            await self._database.write(lambda connection: drop_known(connection, self.owner, gone))
        for want in gone:
            self._remembered.pop(want, None)
        await super().forget(gone)

    def pin(self, sha256: str, size: int) -> None:
        """Note bytes in the database before they are put in place. Called in a thread; raises `BadFile` for a quota."""
        asyncio.run_coroutine_threadsafe(self._pin(sha256, size), self._events).result()

    async def _pin(self, sha256: str, size: int) -> None:
        await self._check_room(sha256, size)
        await reference_within(self._database, self._account, sha256, size)

    def pin_again(self, sha256: str, size: int) -> bool:
        """The same for bytes that are kept already; whether they are."""
        return asyncio.run_coroutine_threadsafe(self._pin_again(sha256, size), self._events).result()

    async def _pin_again(self, sha256: str, size: int) -> bool:
        await self._check_room(sha256, size)
        return await reference_again(self._database, self._account, sha256, size)

    async def _check_room(self, sha256: str, size: int) -> None:
        await self._still_may()
        check_conversation(self.attachments, sha256, size, self._account.quotas)


def title_of(message: Message) -> str:
    """The first words of a message, on one line."""
    return shorten(message.text)


def shorten(words: str) -> str:
    """Words as a title: on one line, not too long."""
    words = drop_unseen(" ".join(words.split()))
    return words if len(words) <= TITLE else words[: TITLE - 1].rsplit(" ", 1)[0] + "…"
