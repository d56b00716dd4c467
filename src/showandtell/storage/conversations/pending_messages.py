"""Messages that wait until the answers before them have ended: stored in order, until they are sent or removed.

A message is sent as any other, under the client's id of it, which a conversation accepts once. So it may be tried
again at any time, by any process. A process claims a message before it sends it, so that nobody changes it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, literal_column, or_, select, update
from sqlalchemy.exc import IntegrityError

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, Busy
from showandtell.storage.conversations.access import NO_TEXT, allowed, check_id, check_user, not_found, resolve_in
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.garbage_collection import Key
from showandtell.storage.database.lease import is_dead, this_process
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import conversations, pending_files, runs, uploads
from showandtell.storage.database.tables import pending_messages as p

#: Maximum number of pending messages in a conversation.
MAX_PENDING: Final = 20
#: Seconds after which a claim is void. A claim of a dead process of this machine is void at once.
CLAIM_SECONDS: Final = 60.0
FULL: Final = f"{MAX_PENDING} messages are pending in this conversation: wait for an answer, or remove one"
CHANGED: Final = "this message was changed elsewhere meanwhile: look at it, and change it again"
CLAIMED: Final = "this message is being sent: it can't be changed any more"
SENT: Final = "this message was sent already: load the conversation again"
FILE_TAKEN: Final = "a file of this message belongs to another pending message: add it again"


class PendingText(Struct, frozen=True, tag="text"):
    """Text of a message."""

    text: str


class PendingFile(Struct, frozen=True, tag="file"):
    """A file of a message: an upload, or a file of a conversation."""

    id: str


PendingPart: TypeAlias = PendingText | PendingFile


class PendingContent(Struct, frozen=True):
    """What is sent: parts in order; the model to ask, None for the one that is set then; files for the model to see."""

    parts: tuple[PendingPart, ...]
    model: str | None = None
    lift: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The ids of the files."""
        return tuple(part.id for part in self.parts if isinstance(part, PendingFile))


class PendingMessage(Struct, frozen=True):
    """A stored message. Its fields are the columns of `tables.pending_messages`."""

    id: str
    conversation_id: str
    user_id: str
    client_id: str
    position: int
    revision: int
    created: float
    sender: str | None
    claimed: float | None
    problem: str | None
    record: str

    @property
    def content(self) -> PendingContent:
        """What is sent."""
        return read_content(self.record)

    def is_claimed(self, now: float) -> bool:
        """Whether a process is sending it. `now` is in epoch seconds."""
        is_recent = self.claimed is not None and abs(now - self.claimed) < CLAIM_SECONDS
        return self.sender is not None and is_recent and not is_dead(self.sender)


class Queue(Struct, frozen=True):
    """A conversation's pending messages in order.

    sent: the ids of those that a run answers already. running: whether a run is in progress. status: how the last run
    ended; None without one.
    """

    messages: tuple[PendingMessage, ...] = ()
    sent: frozenset[str] = frozenset()
    running: bool = False
    status: str | None = None

    @property
    def hold(self) -> str | None:
        """Why the next message isn't sent when no run is in progress: the status of the last answer, or None."""
        return None if self.status in (None, "complete") else self.status

    def next(self, now: float) -> PendingMessage | None:
        """The message to send now, if there is one."""
        waiting = [message for message in self.messages if message.id not in self.sent]
        if self.running or not waiting or any(message.is_claimed(now) for message in waiting):
            return None
        left = next((message for message in waiting if message.sender is not None), None)
        if left is not None:  # its sender is gone
            return left
        return waiting[0] if self.hold is None and waiting[0].problem is None else None


read_content = msgspec.json.Decoder(PendingContent).decode


def message_of(row: Row) -> PendingMessage:
    """A message from its columns."""
    return PendingMessage(*row)


#: Whether a run that answers the message is stored, or any run is in progress; and how the last one ended.
IS_SENT = exists().where(
    runs.c.conversation_id == p.c.conversation_id, runs.c.client_id == p.c.client_id, runs.c.message_id.is_not(None)
)
IS_RUNNING = exists().where(runs.c.conversation_id == p.c.conversation_id, runs.c.state == literal_column("'running'"))
LAST_STATUS = (
    select(runs.c.status)
    .where(runs.c.conversation_id == p.c.conversation_id)
    .order_by(runs.c.created.desc(), runs.c.id.desc())
    .limit(literal_column("1"))
    .scalar_subquery()
)
SELECT_QUEUE = (
    select(*p.c, IS_SENT, IS_RUNNING, LAST_STATUS)
    .where(p.c.conversation_id == bindparam("conversation"))
    .order_by(p.c.position)
)
#: What changes of messages in conversations with a run, and of those that may be sent. Few: others are left out.
SELECT_ACTIVE = (
    select(p.c.conversation_id, IS_RUNNING, p.c.id, p.c.revision, p.c.position, p.c.sender, p.c.problem)
    .where(
        or_(
            IS_RUNNING,
            IS_SENT,
            p.c.sender.is_not(None),
            and_(p.c.problem.is_(None), func.coalesce(LAST_STATUS, "complete") == "complete"),
        )
    )
    .order_by(p.c.conversation_id, p.c.position)
    .limit(1000)
)
#: A user's messages, as long as the user may write.
IS_OWN = (
    p.c.user_id == bindparam("user"),
    exists().where(conversations.c.id == p.c.conversation_id, allowed("writer")),
)
SELECT_OWN = select(*p.c, IS_SENT).where(*IS_OWN)
SELECT_OWN_ID = SELECT_OWN.where(p.c.id == bindparam("id"))
#: The conversation, locked so that its messages get their positions one after the other.
LOCK_CONVERSATION = (
    select(conversations.c.id).where(conversations.c.id == bindparam("conversation")).with_for_update(key_share=True)
)
SELECT_POSITIONS = (
    select(p.c.id, p.c.client_id, p.c.position)
    .where(p.c.conversation_id == bindparam("conversation"))
    .order_by(p.c.position)
)
SELECT_ANSWERED = select(runs.c.id).where(
    runs.c.conversation_id == bindparam("conversation"), runs.c.client_id == bindparam("client")
)
SELECT_UPLOADS = select(uploads.c.id).where(
    uploads.c.owner == bindparam("user"), uploads.c.id.in_(bindparam("ids", expanding=True))
)
UPDATE_PENDING = update(p).where(p.c.id == bindparam("pending"))
DELETE_PENDING = delete(p).where(p.c.id == bindparam("pending"))
#: The uploads of a message, and of all messages of a conversation.
FILES_OF = select(pending_files.c.upload_id).where(pending_files.c.pending_id == bindparam("pending"))
FILES_IN = (
    select(pending_files.c.upload_id)
    .join(p, p.c.id == pending_files.c.pending_id)
    .where(p.c.conversation_id == bindparam("conversation"))
)
OWNED = (uploads.c.owner, uploads.c.sha256)
DELETE_UPLOADS_OF = delete(uploads).where(uploads.c.id.in_(FILES_OF)).returning(*OWNED)
DELETE_UPLOADS_IN = delete(uploads).where(uploads.c.id.in_(FILES_IN)).returning(*OWNED)


async def add(  # noqa: PLR0917 - they are the columns of its row
    database: Database, conversation_id: str, user: str, client_id: str, content: PendingContent, now: float
) -> PendingMessage:
    """Store a message at the end of a conversation's queue. One with the same client id is returned as it is.

    Raises `NotFound` unless the user may write, and `Busy` if the message was sent, or too many are pending.
    """
    values = {"conversation": check_id(conversation_id), "client": client_id}

    def transaction(connection: Connection) -> str:
        resolve_in(connection, conversation_id, user, "writer")
        connection.execute(LOCK_CONVERSATION, values)
        rows = connection.execute(SELECT_POSITIONS, values).all()
        same = next((row.id for row in rows if row.client_id == client_id), None)
        if same is not None:
            return same
        if connection.execute(SELECT_ANSWERED, values).first() is not None:
            raise Busy(SENT)
        if len(rows) >= MAX_PENDING:
            raise Busy(FULL)
        row = PendingMessage(
            new_id("pending"),
            conversation_id,
            user,
            client_id,
            rows[-1].position + 1 if rows else 0,
            1,
            now,
            None,
            None,
            None,
            serialize(content),
        )
        connection.execute(insert(p), msgspec.structs.asdict(row))
        keep_files(connection, row.id, user, content.files)
        return row.id

    return await find(database, await database.write(transaction), user)


async def find(database: Database, id: str, user: str) -> PendingMessage:  # noqa: A002 - it is one
    """A message of a user that wasn't sent. Raises `NotFound`."""
    rows = await database.read(SELECT_OWN_ID, id=check_id(id), user=check_user(user))
    if not rows or rows[0][-1]:
        raise not_found(id)
    return message_of(rows[0][:-1])


async def read_queue(database: Database, conversation_id: str) -> Queue:
    """The pending messages of a conversation, of all users. Doesn't check access."""
    rows = await database.read(SELECT_QUEUE, conversation=check_id(conversation_id))
    if not rows:
        return Queue()
    messages = tuple(message_of(row[:-3]) for row in rows)
    sent = frozenset(message.id for message, row in zip(messages, rows, strict=True) if row[-3])
    return Queue(messages, sent, bool(rows[0][-2]), rows[0][-1])


async def list_active(database: Database) -> dict[str, tuple[bool, tuple[object, ...]]]:
    """Conversations in which messages wait for a run, or may be sent: whether one is running, and what can change."""
    active: dict[str, tuple[bool, tuple[object, ...]]] = {}
    for conversation_id, running, *state in await database.read(SELECT_ACTIVE):
        _, before = active.get(conversation_id, (False, ()))
        active[conversation_id] = bool(running), (*before, *state)
    return active


def find_to_change(connection: Connection, id: str, user: str, revision: int, now: float) -> PendingMessage:  # noqa: A002 - it is one
    """A user's message in this revision. Raises `NotFound`, and `Busy` for another revision and while it is sent."""
    values = {"id": check_id(id), "user": check_user(user)}
    row = connection.execute(SELECT_OWN_ID, values).first()
    if row is not None:  # changes come one after the other
        connection.execute(LOCK_CONVERSATION, {"conversation": row.conversation_id})
        row = connection.execute(SELECT_OWN_ID, values).first()
    if row is None or row[-1]:
        raise not_found(id)
    message = message_of(row[:-1])
    check_unchanged(message, revision, now)
    return message


def check_unchanged(message: PendingMessage, revision: int, now: float) -> None:
    """Raise `Busy` for another revision, and while the message is sent."""
    if message.is_claimed(now):
        raise Busy(CLAIMED)
    if message.revision != revision:
        raise Busy(CHANGED)


async def edit(
    database: Database,
    id: str,  # noqa: A002 - it is one
    user: str,
    revision: int,
    now: float,
    *,
    content: PendingContent | None = None,
    place: int | None = None,
) -> tuple[PendingMessage, list[Key]]:
    """Change a message, or its place in the queue. Also returns the bytes of uploads that it has no longer.

    Raises `NotFound`, and `Busy` for an edit of an older revision.
    """

    def transaction(connection: Connection) -> list[Key]:
        message = find_to_change(connection, id, user, revision, now)
        changes: dict[str, object] = {"revision": revision + 1, "problem": None}
        dropped: list[Key] = []
        if content is not None:
            changes["record"] = serialize(content)
            dropped = drop_files(connection, message, set(content.files))
            keep_files(connection, id, user, content.files)
        connection.execute(UPDATE_PENDING.values(changes), {"pending": id})
        if place is not None:
            move(connection, message, place)
        return dropped

    dropped = await database.write(transaction)
    return await find(database, id, user), dropped


async def remove(database: Database, id: str, user: str, revision: int, now: float) -> list[Key]:  # noqa: A002 - it is one
    """Remove a message with its uploads, and return the keys of their bytes. Raises as `edit` does."""

    def transaction(connection: Connection) -> list[Key]:
        find_to_change(connection, id, user, revision, now)
        return drop(connection, id)

    return await database.write(transaction)


def drop(connection: Connection, id: str) -> list[Key]:  # noqa: A002 - it is one
    """Delete a message with its uploads. Returns the keys of their bytes."""
    keys = [(row[0], row[1]) for row in connection.execute(DELETE_UPLOADS_OF, {"pending": id})]
    connection.execute(DELETE_PENDING, {"pending": id})
    return keys


def drop_uploads_in(connection: Connection, conversation_id: str) -> set[Key]:
    """Delete the uploads of all pending messages of a conversation. Returns the keys of their bytes."""
    return {(row[0], row[1]) for row in connection.execute(DELETE_UPLOADS_IN, {"conversation": conversation_id})}


def keep_files(connection: Connection, id: str, user: str, files: Sequence[str]) -> None:  # noqa: A002 - it is one
    """Note the uploads of a message. Raises `BadInput` if another one has them."""
    has = set(connection.execute(FILES_OF, {"pending": id}).scalars())
    new = sorted(set(connection.execute(SELECT_UPLOADS, {"user": user, "ids": sorted(set(files))}).scalars()) - has)
    if new:
        try:
            connection.execute(insert(pending_files), [{"upload_id": upload, "pending_id": id} for upload in new])
        except IntegrityError:
            raise BadInput(FILE_TAKEN) from None


def drop_files(connection: Connection, message: PendingMessage, kept: set[str]) -> list[Key]:
    """Delete the uploads that a message has no longer. Returns the keys of their bytes."""
    has = set(connection.execute(FILES_OF, {"pending": message.id}).scalars())
    statement = delete(uploads).where(uploads.c.id.in_(sorted(has - kept))).returning(*OWNED)
    return [(row[0], row[1]) for row in connection.execute(statement)]


def move(connection: Connection, message: PendingMessage, place: int) -> None:
    """Put a message at a place in its queue, counted from 0. The conversation is locked."""
    values = {"conversation": message.conversation_id}
    ids = [row.id for row in connection.execute(SELECT_POSITIONS, values) if row.id != message.id]
    ids.insert(place, message.id)
    set_positions(connection, ids)


def set_positions(connection: Connection, ids: Iterable[str]) -> None:
    """Number messages in order."""
    rows = [{"pending": message_id, "place": place} for place, message_id in enumerate(ids)]
    connection.execute(UPDATE_PENDING.values(position=bindparam("place")), rows)


async def claim(database: Database, message: PendingMessage, now: float, *, first: bool = False) -> bool:
    """Claim a message for sending it, if it is as it was read. `first` puts it at the begin of the queue."""
    unchanged = UPDATE_PENDING.where(
        p.c.revision == message.revision,
        p.c.sender.is_not_distinct_from(message.sender),
        p.c.claimed.is_not_distinct_from(message.claimed),
    ).values(sender=this_process(), claimed=now)

    def transaction(connection: Connection) -> bool:
        connection.execute(LOCK_CONVERSATION, {"conversation": message.conversation_id})
        if not connection.execute(unchanged, {"pending": message.id}).rowcount:
            return False
        if first:
            move(connection, message, 0)
        return True

    return await database.write(transaction)


async def release(database: Database, message: PendingMessage, problem: str | None = None) -> None:
    """Give up a claim, with the reason why the message can't be sent as it is."""
    shown = None if problem is None else NO_TEXT.sub(" ", problem)
    statement = UPDATE_PENDING.where(p.c.sender == this_process()).values(sender=None, claimed=None, problem=shown)
    await database.write(lambda connection: connection.execute(statement, {"pending": message.id}))


async def discard(database: Database, message: PendingMessage) -> list[Key]:
    """Delete a message that was sent, or can't be any more. Returns the keys of the bytes of its uploads."""
    return await database.write(lambda connection: drop(connection, message.id))
