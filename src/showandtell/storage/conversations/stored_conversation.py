"""A conversation in a database. Each change is stored first and then applied in memory, which runs read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy import Connection, insert

from showandtell.core.events.replay import StepSummary
from showandtell.core.messages.attachments import Attachment, Facts, ProbedFile, find_attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.message import BranchPoint, Details, Draft, Message
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.step_record import Step
from showandtell.errors import BadInput, LeaseLost, NotFound
from showandtell.storage.blobs.base import BlobStore
from showandtell.storage.conversations.access import Right, check_id, not_found, resolve, resolve_in
from showandtell.storage.conversations.file_deletion import delete_in
from showandtell.storage.conversations.keys import read_source
from showandtell.storage.conversations.known_results import delete_results, load_result, store_results
from showandtell.storage.conversations.load import State, load, read_column
from showandtell.storage.conversations.memory_conversation import MemoryConversation, waiting_calls
from showandtell.storage.conversations.organizing import read_details
from showandtell.storage.conversations.statements import (
    DELETE_INTENT,
    INSERT_MESSAGE,
    SELECT_MESSAGE,
    UPDATE_APPENDED,
    UPDATE_APPENDED_LAST,
    UPDATE_CHANGED,
    UPDATE_HEAD,
    UPDATE_STATE,
    UPDATE_VERSION,
    first_append,
)
from showandtell.storage.conversations.titles import title_of
from showandtell.storage.conversations.turn_writes import TurnWrites
from showandtell.storage.database.database import Database
from showandtell.storage.database.garbage_collection import Collected, collect_now
from showandtell.storage.database.lease import LOST, OUTDATED, Lease, Outdated, Terms, Write
from showandtell.storage.database.prepared import Prepared
from showandtell.storage.database.quotas import (
    Account,
    Quotas,
    admit,
    check_conversation,
    check_quotas,
    reference_again,
    reference_within,
)
from showandtell.storage.database.rows import (
    decode_in_thread,
    read_all,
    read_messages,
    read_steps,
    row_of,
    row_of_new_file,
    serialize,
)
from showandtell.storage.database.sent_uploads import mark_sent
from showandtell.storage.database.tables import attachments, intents
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.numbering import AcceptedMessage, Register

#: A version that no conversation has.
STALE = -1
#: Why a model stops whose message is followed at once by something else that is stored.
FOLLOWED = ("end", "tool_calls")


class StoredConversation(MemoryConversation):
    """A conversation of a `Store`. Its `turn` is a lease, so that only one process writes at a time.

    Methods called without the turn acquire it while they run. `metadata` is the program's, as it was last read,
    `size` the bytes of the records.
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
        self._writes = TurnWrites(database, self._lease)
        #: Begins what `abandon` does, at once: the run stores nothing more here.
        self.lose_turn = self._lease.lose
        self._loop = asyncio.get_running_loop()
        self._changing = asyncio.Lock()
        self._remembered: dict[DerivationRequest, Derivative | Failed] = {}
        file_cache.reference, file_cache.reference_again = self.reference, self.reference_again
        self._set_state(state)

    @property
    def is_owner(self) -> bool:
        """Whether it was opened for its owner, who alone may see what is for the user alone."""
        return self._user == self.owner

    def _set_state(self, state: State) -> None:
        """Replace the state in memory by the stored one."""
        self._free_version = state.version if state.is_free else None
        self.messages[:] = state.messages
        self._register = Register(state.attachments)
        self.receipts.clear()
        self.receipts |= state.receipts
        self._derivations.clear()
        self._derivations |= state.derivations | self._remembered
        self._started_calls = state.started_calls
        self._version, self.metadata, self.size = state.version, state.metadata, state.size
        self.file_cache.facts |= {file.facts.sha256: file.facts for file in state.attachments if file.facts is not None}

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from start to end. Raises `Busy` if another process doesn't release it in time."""
        return self._hold_turn()

    @asynccontextmanager
    async def _hold_turn(self) -> AsyncGenerator[None]:
        self._check_right()
        async with self._turn:
            try:
                if (
                    self._writes.begin is not None
                    and self._free_version is not None
                    and not waiting_calls(self.messages)
                ):
                    self._lease.claim(self._free_version)
                else:
                    await self._writes.begin_now()
                    if await self._lease.acquire(self._check_shared) != self._version:
                        await self.refresh()
                yield
            finally:
                await self._writes.close()

    def join(self, begin: Write | None, end: Write | None) -> None:
        """Let a server add to the first and the last transaction of each turn; None adds nothing (see `TurnWrites`).

        With `begin`, a message is stored without waiting for the conversation, and `Outdated` is raised if that isn't
        free, or has changed since it was read.
        """
        self._writes.begin, self._writes.end = begin, end

    def is_current(self, version: int, *, is_free: bool) -> bool:
        """Whether it has the version that is stored, and may be used as if it had just been read."""
        self._free_version = version if is_free else None
        return self._version == version

    async def abandon(self) -> None:
        """Leave a run as a crash would, so that another process can continue it. It stores nothing more here."""
        await self._lease.abandon()

    def _check_right(self) -> None:
        if self._right == "reader":
            raise not_found(self.id)

    def _check_shared(self, connection: Connection) -> None:
        resolve_in(connection, self.id, self._user, self._right)

    async def _check_access(self) -> None:
        """Raise `NotFound` for readers, and for writers whose share was revoked before the turn started."""
        self._check_right()
        if not self._lease.is_held:
            await resolve(self._database, self.id, self._user, self._right)

    async def refresh(self) -> None:
        """Reload what other processes may have written."""
        async with self._changing:
            self._set_state(await load(self._database, self.id, self._user, self._right))

    async def everything(self) -> list[Message]:
        """The messages of all branches, in the order in which they were stored."""
        rows = await read_column(self._database, self.id, self._user, self._right, "record")
        return await decode_in_thread(lambda: read_all(read_messages, rows, 1), rows)

    async def step_summaries(self) -> dict[str, StepSummary]:
        """The summary of each step of the current branch, by message id."""
        ids = {message.id for message in self.messages}
        rows = await read_column(self._database, self.id, self._user, "reader", "step")
        rows = [row for row in rows if row[0] in ids]
        steps = await decode_in_thread(lambda: read_all(read_steps, rows, 1), rows)
        return {row[0]: step.summary() for row, step in zip(rows, steps, strict=True)}

    async def read_details(self) -> Details:
        """Its details as they are stored now."""
        return await read_details(self._database, self.id, self._user)

    async def read_source(self) -> str | None:
        """The id of the conversation of which it is an imported copy; None if it isn't one."""
        return await read_source(self._database, self.id, self.owner)

    async def record(self, draft: Draft, proved: Sequence[ProbedFile], step: Step | None = None) -> Message:
        """Number a draft's files and store its message. Raises `LeaseLost` if another process has the lease.

        Calls from outside of the current run wait for its end.
        """
        async with self.holding_turn(), self._changing:
            return await super().record(draft, proved, step)

    async def write(self, accepted: AcceptedMessage, step: Step | None) -> AcceptedMessage:
        """Store a message with its files and step in one transaction."""
        message, now = accepted.message, self._terms.clock()
        title = title_of(message) if message.role == "user" else ""
        parameters = {"conversation": self.id, "message": message.id, "now": now, "words": title}
        statement, is_first = UPDATE_APPENDED, self._lease.is_claimed
        if is_first:
            statement = first_append(self._right, has_shared_clock=self._lease.has_shared_clock)
            parameters |= {"user": self._user, **self._lease.claimed()}
        else:
            parameters["token"] = self._lease.token
        ended = message.call_id if message.call_id in self._started_calls else None

        def append(connection: Connection, statement: Prepared = statement) -> int:
            places = statement.execute(connection, parameters).all()
            if not places:
                raise Outdated(OUTDATED) if is_first else LeaseLost(LOST)
            seq, version = tuple(places[0])
            row = row_of(message, self.id, seq, now, step)
            INSERT_MESSAGE.execute(connection, row)
            self.size += len(row["record"])
            return version

        def append_later(connection: Connection, *, is_last: bool) -> None:
            self._set_version(append(connection, UPDATE_APPENDED_LAST if is_last else UPDATE_APPENDED))

        def transaction(connection: Connection) -> tuple[int, tuple[Attachment, ...]]:
            version = append(connection)
            if message.role == "user":
                mark_sent(connection, self._user, accepted.attachments)
            files = admit(connection, self._account, self.attachments, accepted.attachments)
            if files:
                rows = [row_of_new_file(file, self.id, self.owner, now) for file in files]
                connection.execute(insert(attachments), rows)
            if ended is not None:
                connection.execute(DELETE_INTENT, {"conversation": self.id, "call": serialize(ended)})
            return version, files

        if self._writes.end is not None and message.stop in FOLLOWED and not accepted.attachments:
            self._writes.defer(append_later)
            return accepted
        version, files = await self._writes.write(transaction)
        self._set_version(version)
        return AcceptedMessage(message, files)

    def _set_version(self, version: int) -> None:
        """If other changes came in between, mark memory as stale; the next turn reloads it."""
        self._version = version if version == self._version + 1 else STALE

    async def start_calls(self, calls: Sequence[ToolCall]) -> None:
        """Store that these calls are about to run, so that they are known after a crash."""
        async with self.holding_turn(), self._changing:
            fresh = dict.fromkeys(call.call_id for call in calls if call.call_id not in self._started_calls)
            if not fresh:
                return
            now = self._terms.clock()
            touch = {"conversation": self.id, "token": self._lease.token, "now": now}
            rows = [{"conversation_id": self.id, "call_id": serialize(call_id), "started": now} for call_id in fresh]

            def work(connection: Connection) -> int:
                touched = connection.execute(UPDATE_CHANGED, touch).first()
                if touched is None:
                    raise LeaseLost(LOST)
                connection.execute(insert(intents), rows)
                return touched[0]

            self._set_version(await self._writes.write(work))
            await super().start_calls(calls)

    async def lead(self, message_id: str | None) -> None:
        """Continue after a message of any branch (None: before the first one). The next message will follow it.

        Raises `NotFound` if the message is not in this conversation. Waits for the end of a run; tasks of that run get
        `BadInput` while tool calls have no result.
        """
        if self._turn.is_held_here:
            self._check_answered()
        async with self.holding_turn():
            if message_id == self.head:
                return
            parameters = {"conversation": self.id, "message": None if message_id is None else check_id(message_id)}
            lead = {**parameters, "token": self._lease.token}

            def transaction(connection: Connection) -> None:
                if message_id is not None and connection.execute(SELECT_MESSAGE, parameters).first() is None:
                    raise NotFound(f"this conversation has no message {message_id!r}: check the id")
                if connection.execute(UPDATE_HEAD, lead).first() is None:
                    raise LeaseLost(LOST)

            await self._writes.write(transaction)
            await self.refresh()

    async def branch_from(self, lead: BranchPoint) -> None:
        """Like `lead`, for the holder of the turn, in memory only: stored with the next message."""
        async with self._changing:
            self._set_state(await load(self._database, self.id, self._user, self._right, lead))
            if self._lease.is_claimed:
                self._lease.claim(self._version)  # as it is now
            self._version = STALE  # if nothing is stored, the next turn reloads the stored branch

    async def update_attachments(self, files: Sequence[Attachment]) -> None:
        """Store files that were marked or found intact again. A reader's are kept in memory only."""
        async with self._changing:
            existing = [file for file in files if self.attachments[file.number].state != "deleted"]
            if existing and self._right != "reader":
                await self._check_access()
                rows = [{"file": file.id, "now": file.state, "record": serialize(file)} for file in existing]
                self._set_version(await self._change(lambda connection: connection.execute(UPDATE_STATE, rows)))
            await super().update_attachments(existing)

    async def _change(self, change: Callable[[Connection], object]) -> int:
        """Make a change that needs no turn, and return the new version. Raises `NotFound` if deleted."""

        def transaction(connection: Connection) -> int:
            version = connection.execute(UPDATE_VERSION, {"conversation": self.id}).scalar_one_or_none()
            if version is None:
                raise not_found(self.id)
            change(connection)
            return version

        return await self._database.write(transaction)

    async def delete_file(self, number: int, blobs: BlobStore) -> Collected:
        """Delete a file's bytes and everything derived from them, even during a run. See `Store.delete_file`."""
        await resolve(self._database, self.id, self._user, "owner")
        if number not in self.attachments:
            await self.refresh()
        async with self._changing:
            file = find_attachment(self.attachments, number)
            version, deleted = await self._database.write(
                lambda tables: delete_in(tables, self.owner, self.id, file.id)
            )
            self._set_version(version)
            self.attachments.update((left.number, left) for left in deleted.files)
        return await collect_now(self._database, blobs, deleted.keys)

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Needs an event loop, so it raises `BadInput`."""
        del drafts
        raise BadInput("a stored conversation needs `await record(...)` instead of ingest_now")

    async def recall(self, request: DerivationRequest) -> Derivative | Failed | None:
        """A stored result, also one that another conversation has stored since this one was read."""
        return await super().recall(request) or await load_result(self._database, self.owner, request)

    async def learn(self, results: Derivations) -> None:
        """Store results of conversions and providers. Derived bytes are kept as long as their source."""
        if results:
            await self._check_access()
            now = self._terms.clock()
            await self._database.write(lambda connection: store_results(connection, self.owner, results, now))
        self._derivations |= results

    def remember(self, results: Derivations) -> None:
        """Keep results for the lifetime of this object."""
        self._remembered |= results
        super().remember(results)

    async def forget(self, requests: Iterable[DerivationRequest]) -> None:
        """Drop outdated results. A reader's are dropped in memory only."""
        dropped = list(requests)
        if dropped and self._right != "reader":
            await self._check_access()
            await self._database.write(lambda connection: delete_results(connection, self.owner, dropped))
        for request in dropped:
            self._remembered.pop(request, None)
        await super().forget(dropped)

    def reference(self, sha256: str, size: int) -> None:
        """Protect bytes in the database before they are committed. For threads; raises `QuotaExceeded`."""
        asyncio.run_coroutine_threadsafe(self._reference(sha256, size), self._loop).result()

    async def _reference(self, sha256: str, size: int) -> None:
        await self._check_quota(sha256, size)
        await reference_within(self._database, self._account, sha256, size)

    def reference_again(self, sha256: str, size: int) -> bool:
        """Like `reference`, for bytes that are stored already. Returns whether they still are."""
        return asyncio.run_coroutine_threadsafe(self._reference_again(sha256, size), self._loop).result()

    async def _reference_again(self, sha256: str, size: int) -> bool:
        await self._check_quota(sha256, size)
        return await reference_again(self._database, self._account, sha256, size)

    async def check_quotas(self, files: Iterable[Facts]) -> None:
        """Raise `QuotaExceeded` if the quotas have no room for these files, before a message with them is stored."""
        await check_quotas(self._database, self._account, self.attachments, files)

    async def _check_quota(self, sha256: str, size: int) -> None:
        await self._check_access()
        check_conversation(self.attachments, sha256, size, self._account.quotas)
