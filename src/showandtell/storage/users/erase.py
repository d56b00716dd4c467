"""Deletes all that is stored of a person: the rows that belong to them by `ownership`, then the bytes of their files.

What they wrote in conversations of others belongs to these, and stays.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, func, or_, select, tuple_, update

from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.errors import Busy, NotFound
from showandtell.storage.blobs.base import owner_key
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.conversations import runs as stored_runs
from showandtell.storage.conversations.access import check_user
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.users import name_of
from showandtell.storage.database.database import SLOW_SECONDS, Database
from showandtell.storage.database.garbage_collection import KNOWN_COLUMNS, collect_now, delete_orphan_batch, uploads_of
from showandtell.storage.database.ownership import WHO, count_rows, of_person, owned_directly
from showandtell.storage.database.rows import derivations_of
from showandtell.storage.database.tables import (
    blobs,
    conversations,
    known,
    messages,
    metadata,
    runs,
    shares,
    users,
)

#: Rows per transaction, while other writers wait; fewer conversations, because their rows go with them.
BATCH, CONVERSATIONS = 500, 20
#: How long nothing may have been received of an upload that continues. One that a kill has left says not whose it is.
SPOOL_SECONDS = 3600.0
#: How often what a running server has stored meanwhile is deleted, too.
PASSES = 5
#: Seconds that running answers have to end, and between two looks at them.
STOP_SECONDS, POLL_SECONDS = 10.0, 0.25

SELECT_RUNNING = select(runs.c.id).where(of_person(runs), runs.c.state == stored_runs.RUNNING)
SELECT_SIZE = select(func.coalesce(func.sum(blobs.c.size), 0)).where(blobs.c.owner == bindparam(WHO))
SELECT_HASHES = select(blobs.c.sha256).where(blobs.c.owner == bindparam(WHO))
SELECT_KNOWN = select(*KNOWN_COLUMNS).where(known.c.owner == bindparam(WHO))
#: Nobody waits for bytes that a message was to name.
UPDATE_UNREFERENCED = update(blobs).where(blobs.c.owner == bindparam(WHO)).values(pins=0)
#: Conversations of others in which the person may have written.
SELECT_OF_OTHERS = select(conversations.c.id).where(
    conversations.c.owner != bindparam(WHO),
    or_(
        select(shares)
        .where(shares.c.conversation_id == conversations.c.id, shares.c.user_id == bindparam(WHO))
        .exists(),
        select(runs).where(runs.c.conversation_id == conversations.c.id, runs.c.user_id == bindparam(WHO)).exists(),
    ),
)
SELECT_RECORDS = select(messages.c.record).where(messages.c.conversation_id == bindparam("conversation"))


class Belongings(Struct, frozen=True):
    """What is stored of a person: the number of rows by table, and the bytes of files before compression.

    `written` is the number of their messages in conversations of others.
    """

    rows: Mapping[str, int]
    bytes: int
    written: int


class Author(Struct):
    """The fields of a message that say who wrote it."""

    role: str
    author: str = ""


async def find_belongings(store: Store, user: str) -> Belongings:
    """What is stored of a person. Raises `NotFound` if that is nothing."""
    rows = await count(store.database, user)
    has_bytes = bool(await run_in_thread(lambda: next(store.blobs.for_owner(user).list_blobs(), None)))
    if not user or not (rows or has_bytes):
        raise NotFound(f"nothing is stored here of a user {user!r:.80}: `showandtell users list` lists the account ids")
    size = (await store.database.read(SELECT_SIZE, who=user))[0][0]
    return Belongings(rows, int(size), await count_written(store.database, user))


async def count(database: Database, user: str) -> dict[str, int]:
    """The numbers of a person's rows by table, without zeros."""
    found = await database.read(count_rows(), SLOW_SECONDS, who=check_user(user))
    return {name: number for name, number in found if number}


async def count_written(database: Database, user: str) -> int:
    """The number of a person's messages in conversations of others: those with the display name."""
    name = await name_of(database, user)
    written = 0
    for (conversation,) in await database.read(SELECT_OF_OTHERS, who=user):
        records = await database.read(SELECT_RECORDS, conversation=conversation)
        written += sum(author_of(record) == name for (record,) in records)
    return written if name else 0


def author_of(record: str) -> str:
    """The display name in a stored message; empty for messages of no person, and for damaged ones."""
    try:
        message = msgspec.json.decode(record, type=Author)
    except msgspec.DecodeError:
        return ""
    return message.author if message.role == "user" else ""


async def list_copies(database: Database, user: str) -> Sequence[tuple[DerivationRequest, Derivative]]:
    """The uploads of a person's files to providers. Ones whose record is damaged are left out."""
    found: dict[DerivationRequest, Derivative | Failed] = {}
    for row in await database.read(SELECT_KNOWN, who=check_user(user)):
        with suppress(msgspec.DecodeError):
            found |= derivations_of([row])
    return uploads_of(found)


async def erase(store: Store, user: str) -> Counter[str]:
    """Delete all that is stored of a person, and return the number of deleted rows by table.

    Delete the uploads of `list_copies` before. Running answers are stopped. Raises `Busy` if a server keeps storing.
    If it is interrupted, it can be run again: it deletes the rest.
    """
    await store.make_room()
    await stop_runs(store, user)
    deleted: Counter[str] = Counter()
    for _ in range(PASSES):
        found = await count(store.database, user)
        await delete_rows(store.database, user)
        await delete_bytes(store, user)
        deleted.update(found)
        if not await count(store.database, user):
            await store.database.scrub()
            return deleted
    raise Busy(f"a server keeps storing for {user!r:.80}: delete the account where people sign in, and try again")


async def stop_runs(store: Store, user: str) -> None:
    """Stop the answers in a person's conversations, and those that the person started. Waits a while for their end."""
    for _ in range(round(STOP_SECONDS / POLL_SECONDS)):
        running = await store.database.read(SELECT_RUNNING, who=user)
        if not running:
            return
        for (run,) in running:
            await stored_runs.request_stop(store.database, run)
        await store.terms.sleep(POLL_SECONDS)


async def delete_rows(database: Database, user: str) -> None:
    """Delete a person's rows, and with them all that hangs on them. The bytes of files and their rows stay."""
    for table in [*(each for each in metadata.sorted_tables if each not in {blobs, users}), users]:
        directly = owned_directly(table)
        while directly is not None and await delete_batch(database, table, directly, user):
            pass


async def delete_batch(database: Database, table: Table, directly: ColumnElement[bool], user: str) -> int:
    """Delete some rows of a table. Returns how many."""
    key = tuple_(*table.primary_key.columns)
    some = select(*table.primary_key.columns).where(directly).limit(CONVERSATIONS if table is conversations else BATCH)
    statement = delete(table).where(key.in_(some))

    def transaction(connection: Connection) -> int:
        if database.is_sqlite:  # also without the space that rewriting the file takes, nothing stays readable in it
            connection.exec_driver_sql("PRAGMA secure_delete=ON")
        return connection.execute(statement, {WHO: user}).rowcount

    return await database.write(transaction, within=SLOW_SECONDS)


async def delete_bytes(store: Store, user: str) -> None:
    """Delete the bytes of a person's files: those with a row, and those that a killed process has left."""
    await store.database.write(lambda connection: connection.execute(UPDATE_UNREFERENCED, {WHO: user}))
    hashes = [row[0] for row in await store.database.read(SELECT_HASHES, who=user)]
    await collect_now(store.database, store.blobs, [(user, sha256) for sha256 in hashes])
    await run_in_thread(store.blobs.clear_spools, time.time() - SPOOL_SECONDS)
    left = await run_in_thread(lambda: [blob.sha256 for blob in store.blobs.for_owner(user).list_blobs()])
    for start in range(0, len(left), BATCH):
        await delete_orphan_batch(store.database, store.blobs, owner_key(user), left[start : start + BATCH])
