"""The door to what is kept: conversations in a database, and the bytes of their files in a folder or a bucket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self, TypedDict, Unpack

from msgspec import Struct
from sqlalchemy import URL, Connection, bindparam, delete, exists, func, insert, or_, select

from showandtell.core.messages.attachments import Proved
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, Busy, NotFound, StorageFailed
from showandtell.storage.blobs.base import BlobStore
from showandtell.storage.blobs.open import open_store
from showandtell.storage.conversations.access import Right, check_id, check_user, not_found, question, resolve
from showandtell.storage.conversations.load import State, empty, load
from showandtell.storage.conversations.stored_conversation import StoredConversation, shorten
from showandtell.storage.conversations.uploads import Uploads
from showandtell.storage.database.database import Database
from showandtell.storage.database.fsck import Finding, check_all
from showandtell.storage.database.garbage_collection import Collected, Key, collect, collect_now
from showandtell.storage.database.lease import Terms
from showandtell.storage.database.quotas import Account, Quotas, reference_from_threads
from showandtell.storage.database.tables import aliases, attachments, conversations, messages, shares, upsert
from showandtell.storage.files.convert import AT_ONCE
from showandtell.storage.files.file_cache import MAX_FILE_BYTES, FileCache
from showandtell.storage.files.proofs import PROVE_AT_ONCE, start_proof

#: How long bytes that nobody needs are kept, in seconds: what is stored now may be named by a message that long after.
GRACE = 24 * 3600.0


class Settings(TypedDict, total=False):
    """What a store may be told besides where it lies."""

    quotas: Quotas
    clock: Callable[[], float]
    strip_location: bool
    terms: Terms


class Summary(Struct, frozen=True):
    """A conversation in a list: its title (the first words that were said), its times (epoch seconds), its counts."""

    id: str
    title: str
    created: float
    changed: float
    messages: int
    files: int


COUNTS = (
    select(func.count()).where(messages.c.conversation_id == conversations.c.id).scalar_subquery(),
    select(func.count()).where(attachments.c.conversation_id == conversations.c.id).scalar_subquery(),
)
SELECT_NEWEST = (
    select(conversations.c.id, conversations.c.title, conversations.c.created, conversations.c.changed, *COUNTS)
    .where(conversations.c.owner == bindparam("who"))
    .order_by(conversations.c.changed.desc(), conversations.c.id.desc())
    .limit(bindparam("most"))
)
LAST = conversations.alias("last")
#: Those behind one of them.
OLDER = SELECT_NEWEST.where(
    exists().where(
        LAST.c.id == bindparam("before"),
        LAST.c.owner == conversations.c.owner,
        or_(
            conversations.c.changed < LAST.c.changed,
            (conversations.c.changed == LAST.c.changed) & (conversations.c.id < LAST.c.id),
        ),
    )
)
#: A conversation of an owner, held until the transaction ends.
OWNED = question("conv", "owner").with_for_update()
#: The most conversations of one list.
MOST = 10_000
DELETE_SHARE = delete(shares).where(
    shares.c.conversation_id == bindparam("conversation"), shares.c.user_id == bindparam("whom")
)
SELECT_HASHES = select(attachments.c.owner, attachments.c.sha256).where(
    attachments.c.conversation_id == bindparam("conversation"), attachments.c.sha256.is_not(None)
)


class Store:
    """Kept conversations. Use it as `async with Store.at(folder) as store:`, in one event loop.

    `database` is a URL (sqlite:///path or postgresql://user:password@host/name), `blobs` a folder or the URL of a
    bucket (s3://, gs://, az://). `clock` gives epoch seconds. With `strip_location`, photos lose where they were made.
    """

    def __init__(
        self,
        database: str | URL,
        blobs: str | Path,
        **settings: Unpack[Settings],
    ) -> None:
        self.database = Database(database)
        self.blobs: BlobStore = open_store(blobs)
        self.quotas = settings.get("quotas", Quotas())
        self.terms = settings.get("terms", Terms(settings.get("clock", time.time)))
        self.strip_location = settings.get("strip_location", False)
        #: Of files that are uploaded, so many are proved at once: the gate has no more children, and little patience.
        self.proving = asyncio.Semaphore(PROVE_AT_ONCE)
        #: So many conversions for people at once: models' own go on beside them.
        self.making = asyncio.Semaphore(AT_ONCE)
        #: What is made for people now, by owner and want.
        self.underway: dict[tuple[str, DerivationRequest], asyncio.Task[Derivative | Failed]] = {}

    @classmethod
    def at(
        cls,
        folder: str | Path,
        database: str | None = None,
        blobs: str | Path | None = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """Everything in one folder, which is made where it isn't there: showandtell.db and blobs/.

        What `database` or `blobs` names lies there instead.
        """
        folder = Path(folder).expanduser()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageFailed(f"the folder {folder} can't be made ({error.strerror}): name another") from error
        own = URL.create("sqlite", database=str(folder.absolute() / "showandtell.db"))
        return cls(database or own, blobs or folder.absolute() / "blobs", **settings)

    async def __aenter__(self) -> Self:
        await self.database.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.database.close()

    async def create(self, owner: str = "local", title: str = "", alias: str | None = None) -> StoredConversation:
        """A new conversation; without a title, the first words that are said become it.

        `alias` is what the owner's client calls it. Raises `Busy` where that is the name of another one.
        """
        now, fresh = self.terms.clock(), new_id("conv")
        row = {"owner": check_user(owner), "title": shorten(title), "next_seq": 0, "version": 0}

        def work(connection: Connection) -> None:
            connection.execute(insert(conversations), {**row, "id": fresh, "created": now, "changed": now})
            if alias is not None:
                called = upsert(connection, aliases).on_conflict_do_nothing().returning(aliases.c.alias)
                named = {"owner": owner, "alias": alias, "conversation_id": fresh}
                if connection.execute(called, named).first() is None:
                    raise Busy(f"a conversation is called {alias[:40]!r} already: open that one")

        await self.database.write(work)
        return self._opened(empty(fresh, owner), owner, "owner")

    async def open(self, id: str, user: str = "local", right: Right | None = None) -> StoredConversation:  # noqa: A002 - it is one
        """A conversation as it stands, with a right of this user's, or else to write, or at least to read.

        Raises `NotFound` where it isn't there, or the user has no such right to it.
        """
        if right is None:
            with suppress(NotFound):
                return await self.open(id, user, "writer")
            right = "reader"
        return self._opened(await load(self.database, id, user, right), user, right)

    def _opened(self, state: State, user: str, right: Right) -> StoredConversation:
        own = self.database, self.terms
        return StoredConversation(state, self.file_cache(state.owner), *own, user=user, right=right, quotas=self.quotas)

    @property
    def max_file_bytes(self) -> int:
        """The most bytes that one file may have."""
        return MAX_FILE_BYTES if self.quotas.file is None else self.quotas.file

    def file_cache(self, owner: str, pin: Callable[[str, int], None] | None = None) -> FileCache:
        """What proves and keeps an owner's files; `pin` is as in `FileCache`."""
        return FileCache(self.blobs.of(owner), self.max_file_bytes, pin, strip_location=self.strip_location)

    def uploads(self, user: str = "local") -> Uploads:
        """What a user has uploaded for messages to come, and what a message names by a file's id."""
        most = self.max_file_bytes
        return Uploads(self.database, self.blobs, check_user(user), self._prove, self.terms.clock, most)

    async def _prove(self, user: str, file: File) -> Proved:
        """Store and prove a file that belongs to no message yet; its bytes are held until a row names them."""
        account = Account(user, self.quotas, self.terms.clock)
        file_cache = self.file_cache(user, reference_from_threads(self.database, account))
        async with self.proving:
            return await asyncio.wrap_future(start_proof(file_cache, file))

    async def list(self, owner: str = "local", *, limit: int = 50, before: str | None = None) -> tuple[Summary, ...]:
        """An owner's own conversations, the one that changed last first; `before` is the id of the last one seen.

        Those that others share with them are not among them: they are opened by their ids. At most 10,000 at once.
        """
        asked = {"who": check_user(owner), "most": check_limit(limit)}
        if before is None:
            rows = await self.database.read(SELECT_NEWEST, **asked)
        else:
            rows = await self.database.read(OLDER, **asked, before=check_id(before))
        return tuple(Summary(*row) for row in rows)

    async def newest(self, owner: str = "local") -> Summary | None:
        """The conversation of an owner that changed last, if there is any."""
        return next(iter(await self.list(owner, limit=1)), None)

    async def share(self, id: str, owner: str, user: str, right: Right | None) -> None:  # noqa: A002 - it is one
        """Let another user read or write a conversation; None takes it back. Only its owner may."""
        if right not in (None, "reader", "writer"):
            raise BadInput(
                f'{right!r} can\'t be given: share with the right "reader" or "writer", or None to take it back'
            )
        asked = {"id": check_id(id), "user": check_user(owner)}
        row = {"conversation_id": id, "user_id": check_user(user), "access": right}

        def work(connection: Connection) -> None:
            if connection.execute(OWNED, asked).first() is None:
                raise not_found(id)
            connection.execute(DELETE_SHARE, {"conversation": id, "whom": user})
            if right is not None:
                connection.execute(insert(shares), row)

        await self.database.write(work)

    async def delete(self, id: str, owner: str = "local") -> Collected:  # noqa: A002 - it is one
        """Delete a conversation, and every file that no other of its owner has."""
        await resolve(self.database, id, owner, "owner")

        def work(connection: Connection) -> set[Key]:
            keys = {(row[0], row[1]) for row in connection.execute(SELECT_HASHES, {"conversation": id})}
            connection.execute(delete(conversations).where(conversations.c.id == id))
            return keys

        return await collect_now(self.database, self.blobs, await self.database.write(work))

    async def delete_file(self, conversation: StoredConversation, number: int) -> Collected:
        """Delete the bytes of a file, and all that was made of them; its name and number stay, and say so.

        Where another file of the same owner has the same bytes, they stay for it. Uploads at providers are deleted
        first, by `agent.delete_uploads`: those that weren't are in what this returns.
        """
        return await conversation.delete_file(number, self.blobs)

    async def collect(self, grace: float = GRACE) -> Collected:
        """Delete what nobody needs, and nobody has wanted for `grace` seconds."""
        return await collect(self.database, self.blobs, self.terms.clock(), grace)

    async def fsck(self, owner: str | None = None) -> tuple[Finding, ...]:
        """What is wrong with the stored bytes: missing, short, changed, or without a row that names them."""
        return await check_all(self.database, self.blobs, owner)


def check_limit(limit: int) -> int:
    """The same length of a list. Raises `BadInput` for none, and for one that is too long."""
    if not 1 <= limit <= MOST:
        raise BadInput(f"a list of {limit} conversations can't be given: ask for 1 to {MOST}")
    return limit
