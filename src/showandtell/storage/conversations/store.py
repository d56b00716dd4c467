"""The store: conversations in a database, and file bytes in a folder or a bucket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self, TypedDict, Unpack

from sqlalchemy import URL, Connection, Engine, bindparam, delete, insert, select, update

from showandtell.checking.checked import checked
from showandtell.checking.shown import Wanted
from showandtell.config.private_folder import make_private_folder
from showandtell.core.limits import MAX_FILE_BYTES
from showandtell.core.messages.attachments import ProbedFile
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, NotFound, StorageFailed
from showandtell.media.turns import Turns, caller
from showandtell.storage.blobs.base import BlobStore, has_any
from showandtell.storage.blobs.open import open_store
from showandtell.storage.blobs.threads import DaemonThreads
from showandtell.storage.conversations.access import Right, check_id, check_user, not_found, resolve, select_by_id
from showandtell.storage.conversations.conversation_settings import encode_settings
from showandtell.storage.conversations.file_deletion import delete_everywhere
from showandtell.storage.conversations.keys import KeyTaken, check_key, check_new_key, find_key, insert_key
from showandtell.storage.conversations.load import State, empty, load
from showandtell.storage.conversations.metadata import read_metadata, serialize_metadata
from showandtell.storage.conversations.pending_messages import drop_uploads_in
from showandtell.storage.conversations.statements import INSERT_CONVERSATION
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.conversations.summaries import SELECT_NEWEST, SELECT_OLDER, Summary, check_limit
from showandtell.storage.conversations.titles import shorten
from showandtell.storage.conversations.uploads import Uploads
from showandtell.storage.database.connect import DATABASE_HELP
from showandtell.storage.database.database import SLOW_SECONDS, Database
from showandtell.storage.database.fsck import Finding, check_all
from showandtell.storage.database.garbage_collection import Collected, Key, collect, collect_now
from showandtell.storage.database.lease import Terms
from showandtell.storage.database.quotas import Account, Quotas, reference_from_threads
from showandtell.storage.database.reserve import Reserve
from showandtell.storage.database.tables import attachments, conversations, shares
from showandtell.storage.files.convert import MAX_CONCURRENT
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.proofs import MAX_CONCURRENT_PROBES, PROBE_SECONDS, start_probe

A_DATABASE = Wanted(DATABASE_HELP)
#: Seconds that the reserve's disk may take, counted one by one, and the threads that wait for it.
RESERVE_SECONDS = 4
RESERVE_JOBS = DaemonThreads(4, "reserve")
#: How long unused bytes are kept, in seconds. A message may name bytes this long after they were stored.
GRACE = 24 * 3600.0


class Settings(TypedDict, total=False):
    """Options of a store."""

    quotas: Quotas
    clock: Callable[[], float]
    strip_location: bool
    terms: Terms
    schema: str | None


#: No metadata, and no settings.
NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_SETTINGS = ConversationSettings()
UPDATE_METADATA = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"), conversations.c.owner == bindparam("who"))
    .values(metadata=bindparam("new"))
    .returning(conversations.c.id)
)
#: An owner's conversation, locked until the transaction ends.
SELECT_OWNED = select_by_id("conv", "owner").with_for_update()
DELETE_SHARE = delete(shares).where(
    shares.c.conversation_id == bindparam("conversation"), shares.c.user_id == bindparam("whom")
)
SELECT_HASHES = select(attachments.c.owner, attachments.c.sha256).where(
    attachments.c.conversation_id == bindparam("conversation"), attachments.c.sha256.is_not(None)
)


@checked
class Store:
    """Stored conversations. Use it as `async with Store.at(folder) as store:`, in one event loop.

    `database` is a URL (sqlite:///path or postgresql://user:password@host/name), `blobs` a folder or the URL of a
    bucket (s3://, gs://, az://). `clock` returns epoch seconds. `strip_location` removes the location from photos.
    `schema` names the schema of PostgreSQL that has the tables; it is created if it doesn't exist.

    `database` may be a sync Engine of your program for PostgreSQL with psycopg. The store connects as it does (its
    credentials, arguments and `connect` events), in a pool of its own with up to 17 connections, and never closes the
    engine or uses its pool. Deadlines and limits hold as with a URL, but for TCP's: a machine that is lost without a
    word is noticed by the deadline of a call.

    >>> import asyncio, tempfile
    >>> from showandtell import Agent, Store
    >>> async def chat(folder: str) -> str:
    ...     async with Store.at(folder) as store:
    ...         conversation = await store.create()
    ...         run = await Agent("inspector").run("hello", conversation=conversation)
    ...         return run.status
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(chat(folder))
    'complete'
    """

    def __init__(
        self,
        database: Annotated[str | URL | Engine, A_DATABASE],
        blobs: str | Path,
        **settings: Unpack[Settings],
    ) -> None:
        #: The folder of a store that has one.
        self.folder: Path | None = None
        self.database = Database(database, schema=settings.get("schema"))
        self.blobs: BlobStore = open_store(blobs)
        #: Space for deletions on a full disk.
        self.reserve = Reserve(self.database.url.database if self.database.is_sqlite else None)
        self.quotas = settings.get("quotas", Quotas())
        self.terms = settings.get("terms", Terms(settings.get("clock", time.time)))
        self.strip_location = settings.get("strip_location", False)
        #: Uploads that are received at once. A user has four while there are others and 16 otherwise.
        self.upload_turns = Turns("uploads", each=4, alone=16)
        #: Concurrent probes of uploads, and conversions for people; those for models are not counted. The gate has as
        #: many child processes for conversions and thumbnails.
        self.probe_turns = Turns("uploads", MAX_CONCURRENT_PROBES, each=2)
        self.conversion_turns = Turns("conversions", MAX_CONCURRENT + 1)
        self.thumbnail_turns = Turns("thumbnails", MAX_CONCURRENT + 1)
        #: How many use it, and the task that has opened it for them.
        self._users = 0
        self._opening: asyncio.Task[None] | None = None
        #: Running conversions for people, by owner and request.
        self.active_conversions: dict[tuple[str, DerivationRequest], asyncio.Task[Derivative | Failed]] = {}

    @classmethod
    def at(
        cls,
        folder: str | Path,
        database: Annotated[str | URL | Engine | None, A_DATABASE] = None,
        blobs: str | Path | None = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """A store in one folder, created if necessary: showandtell.db and blobs/.

        `database` and `blobs` override either of them.
        """
        folder = Path(folder).expanduser()
        try:
            make_private_folder(folder)
        except OSError as error:
            raise StorageFailed(f"the folder {folder} can't be created ({error.strerror}): choose another") from error
        own = URL.create("sqlite", database=str(folder.absolute() / "showandtell.db"))
        store = cls(database or own, blobs or folder.absolute() / "blobs", **settings)
        store.folder = folder
        return store

    async def __aenter__(self) -> Self:
        """Open the store, once for all who use it at the same time."""
        if self._opening is not None and self._opening.get_loop() is not asyncio.get_running_loop():
            if not self._opening.get_loop().is_closed():
                raise BadInput(f"the store {self.database.name} is open in another event loop: make one for each")
            self._users, self._opening = 0, None
        self._users += 1
        try:
            if self._opening is None:
                self._opening = asyncio.create_task(self._open())
            await asyncio.shield(self._opening)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _open(self) -> None:
        await self._use_reserve(self.reserve.shrink)
        await self.database.open(lambda: asyncio.to_thread(has_any, self.blobs))

    async def __aexit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0 and self._opening is not None:
            opening, self._opening = self._opening, None
            opening.cancel()
            await asyncio.wait({opening})
            await self.database.close()

    async def conversation(
        self, key: str, owner: str = "local", *, title: str = "", metadata: Mapping[str, Any] = NOTHING
    ) -> StoredConversation:
        """The owner's conversation with a key of your program, such as "telegram:123". Created if there is none.

        Programs that call this at the same time get the same conversation. A deleted one frees its key. `title` and
        `metadata` are for a new conversation, as in `create`. Raises `BadInput` for a key that is not text of 1 to 200
        characters.

        >>> import asyncio, tempfile
        >>> from showandtell import Store
        >>> async def twice(folder: str) -> bool:
        ...     async with Store.at(folder) as store:
        ...         first = await store.conversation(key="telegram:123", owner="anna")
        ...         again = await store.conversation(key="telegram:123", owner="anna")
        ...         return first.id == again.id
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     asyncio.run(twice(folder))
        True
        """
        check_new_key(key)
        while True:
            conversation_id = await find_key(self.database, owner, key)
            # Another program may create or delete it in between.
            if conversation_id is None:
                with suppress(KeyTaken):
                    return await self.create(owner, title, key, metadata)
            else:
                with suppress(NotFound):
                    return await self.open(conversation_id, owner, "owner")

    async def create(
        self, owner: str = "local", title: str = "", key: str | None = None, metadata: Mapping[str, Any] = NOTHING
    ) -> StoredConversation:
        """Create a conversation. Without a title, it gets one from the first message.

        `key` is the program's own name for it, `metadata` a JSON object of the program's own, up to 16 KiB. Raises
        `Busy` if another conversation of the owner has that key.
        """
        conversation, insert_it = self.prepare(owner, title, key, metadata)
        now = self.terms.clock()
        await self.database.write(lambda connection: insert_it(connection, now))
        return conversation

    def prepare(
        self,
        owner: str = "local",
        title: str = "",
        key: str | None = None,
        metadata: Mapping[str, Any] = NOTHING,
        settings: ConversationSettings = NO_SETTINGS,
    ) -> tuple[StoredConversation, Callable[[Connection, float], None]]:
        """Like `create`, but stores nothing. Returns the conversation, and the function that stores it.

        That function takes the connection of a transaction, and the time in epoch seconds. Use the conversation after
        the commit.
        """
        conversation_id = new_id("conv")
        stored = serialize_metadata(metadata)
        row = {"owner": check_user(owner), "title": shorten(title), "next_seq": 0, "version": 0, "metadata": stored}
        row |= {"settings": encode_settings(settings)}
        row |= dict.fromkeys(("head", "pinned", "archived", "lease_holder", "lease_token", "lease_until"))
        if key is not None:
            check_key(key)

        def insert_it(connection: Connection, now: float) -> None:
            INSERT_CONVERSATION.execute(connection, {**row, "id": conversation_id, "created": now, "changed": now})
            if key is not None:
                insert_key(connection, owner, key, conversation_id)

        return self._opened(empty(conversation_id, owner, read_metadata(stored)), owner, "owner"), insert_it

    async def open(self, id: str, user: str = "local", right: Right | None = None) -> StoredConversation:  # noqa: A002 - it is one
        """Open a conversation with the given right, by default the highest that the user has.

        Raises `NotFound` if it doesn't exist or the user lacks the right.
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
        """Maximum size of a file in bytes."""
        return MAX_FILE_BYTES if self.quotas.file is None else self.quotas.file

    def file_cache(self, owner: str, reference: Callable[[str, int], None] | None = None) -> FileCache:
        """A cache that stores and probes an owner's files. `reference` is that of `FileCache`."""
        return FileCache(
            self.blobs.for_owner(owner), self.max_file_bytes, reference, strip_location=self.strip_location
        )

    def uploads(self, user: str = "local") -> Uploads:
        """The user's uploaded files, and files that messages refer to by id."""
        max_bytes = self.max_file_bytes
        return Uploads(self.database, self.blobs, check_user(user), self._probe, self.terms.clock, max_bytes)

    async def _probe(self, user: str, file: File) -> ProbedFile:
        """Store and probe a file that belongs to no message yet. Its bytes are protected until a row names them."""
        account = Account(user, self.quotas, self.terms.clock)
        file_cache = self.file_cache(user, reference_from_threads(self.database, account))
        async with self.probe_turns.awaited(caller.get().owner, PROBE_SECONDS) as place:
            return await asyncio.wrap_future(place.keep_for(start_probe(file_cache, file)))

    async def list(self, owner: str = "local", *, limit: int = 50, before: str | None = None) -> tuple[Summary, ...]:
        """An owner's conversations, most recently changed first; `before` is the last id of the previous page.

        Conversations shared by others are not listed: open them by id. At most 10,000 at once.
        """
        parameters = {"who": check_user(owner), "most": check_limit(limit)}
        if before is None:
            rows = await self.database.read(SELECT_NEWEST, **parameters)
        else:
            rows = await self.database.read(SELECT_OLDER, **parameters, before=check_id(before))
        return tuple(Summary(*row) for row in rows)

    async def newest(self, owner: str = "local") -> Summary | None:
        """The owner's most recently changed conversation, or None."""
        return next(iter(await self.list(owner, limit=1)), None)

    async def share(self, id: str, owner: str, user: str, right: Right | None) -> None:  # noqa: A002 - it is one
        """Give another user read or write access; None revokes it. Only the owner may."""
        if right not in (None, "reader", "writer"):
            raise BadInput(f'{right!r} can\'t be given: share with "reader" or "writer", or None to take it back')
        parameters = {"id": check_id(id), "user": check_user(owner)}
        row = {"conversation_id": id, "user_id": check_user(user), "access": right}

        def transaction(connection: Connection) -> None:
            if connection.execute(SELECT_OWNED, parameters).first() is None:
                raise not_found(id)
            connection.execute(DELETE_SHARE, {"conversation": id, "whom": user})
            if right is not None:
                connection.execute(insert(shares), row)

        await self.database.write(transaction)

    async def set_metadata(self, id: str, metadata: Mapping[str, Any], owner: str = "local") -> None:  # noqa: A002 - it is one
        """Replace the metadata of a conversation. Only the owner may. Raises `BadInput` and `NotFound`."""
        values = {"conversation": check_id(id), "who": check_user(owner), "new": serialize_metadata(metadata)}
        if not await self.database.write(lambda connection: connection.execute(UPDATE_METADATA, values).first()):
            raise not_found(id)

    async def delete(self, id: str, owner: str = "local") -> Collected:  # noqa: A002 - it is one
        """Delete a conversation with its pending messages, and files that its owner has nowhere else."""
        await resolve(self.database, id, owner, "owner")
        await self.make_room()

        def transaction(connection: Connection) -> set[Key]:
            keys = {(row[0], row[1]) for row in connection.execute(SELECT_HASHES, {"conversation": id})}
            keys |= drop_uploads_in(connection, id)
            connection.execute(delete(conversations).where(conversations.c.id == id))
            return keys

        return await collect_now(self.database, self.blobs, await self.database.write(transaction, within=SLOW_SECONDS))

    async def delete_file(self, conversation: StoredConversation, number: int) -> Collected:
        """Delete the bytes of a file and everything derived from them. Its name and number stay, with a note.

        Bytes that another file of the owner shares are kept. Delete uploads at providers first, with
        `agent.delete_uploads`: the result lists those that are left.
        """
        await self.make_room()
        return await conversation.delete_file(number, self.blobs)

    async def delete_files(self, ids: Sequence[str], owner: str = "local") -> Collected:
        """Delete files, and equal ones, in all conversations of their owner. Raises `NotFound` for ids of others."""
        await self.make_room()
        return await delete_everywhere(self.database, self.blobs, owner, ids)

    async def make_room(self) -> None:
        """Before a deletion: if the database's disk is full, give up the space that is reserved there for it."""
        await self._use_reserve(self.reserve.give_up)

    async def restore_reserve(self) -> None:
        """Reserve space for deletions again, if the database's disk has some."""
        await self._use_reserve(self.reserve.restore)

    async def _use_reserve(self, function: Callable[[], None]) -> None:
        """Call a function of the reserve in a thread. Raises `StorageFailed` if the disk hangs."""
        future = asyncio.wrap_future(RESERVE_JOBS.submit(function))
        try:
            # Second by second, so that a computer that stood still for a while isn't taken for a disk that hangs.
            for _ in range(RESERVE_SECONDS):
                if (await asyncio.wait({future}, timeout=1))[0]:
                    return future.result()
        finally:
            future.cancel()
        raise StorageFailed(f"the disk of the database did not answer within {RESERVE_SECONDS} s: check the disk")

    async def collect(self, grace: float = GRACE) -> Collected:
        """Delete bytes that are unused and were not touched for `grace` seconds."""
        await self.make_room()
        collected = await collect(self.database, self.blobs, self.terms.clock(), grace)
        await self.restore_reserve()
        return collected

    async def fsck(self, owner: str | None = None) -> tuple[Finding, ...]:
        """Problems of the database, and of the stored bytes: missing, short, changed, or left over from killed uploads.

        If the database is damaged, only that is reported. With `owner`, only the bytes of that owner are checked.
        """
        return await check_all(self.database, self.blobs, owner)
