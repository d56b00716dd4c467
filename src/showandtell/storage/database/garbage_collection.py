"""Garbage collection: bytes that no file of any message needs are marked first, and deleted in a second transaction.

Between the two, and before, somebody may want the same bytes again: noting them (`pin`) makes them ready again, or
waits until they are deleted, and only then are they put in place. So no interleaving loses bytes that a message names.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, exists, or_, select, text, tuple_, update
from sqlalchemy.sql import Executable

from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative
from showandtell.storage.blobs.base import BlobStore, owner_key
from showandtell.storage.database.database import Database
from showandtell.storage.database.quotas import EXISTS_DERIVATION, NAMED, OURS
from showandtell.storage.database.rows import derivations_of
from showandtell.storage.database.tables import attachments, blobs, derivations, known, uploads

#: What bytes stand under: their owner and their sha256.
Key: TypeAlias = tuple[str, str]


class Collected(Struct, frozen=True):
    """What was deleted: blobs, their bytes before compression, files without a row, and copies half made.

    `uploads` were made of these blobs and may still lie at their providers; nothing here knows them any more.
    """

    blobs: int = 0
    bytes: int = 0
    orphans: int = 0
    spools: int = 0
    uploads: tuple[tuple[DerivationRequest, Derivative], ...] = ()


THIS = (blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
KNOWN_OF = (known.c.owner == bindparam("who"), known.c.sha256.in_(bindparam("hashes", expanding=True)))
#: Bytes that nobody needs; those that somebody writes about just now are left to the next time.
SELECT_UNREFERENCED = (
    select(blobs.c.owner, blobs.c.sha256).where(~NAMED, ~EXISTS_DERIVATION).with_for_update(of=blobs, skip_locked=True)
)
#: Those of them that nobody touched for long.
OLD = SELECT_UNREFERENCED.where(or_(blobs.c.touched < bindparam("before"), blobs.c.state == "deleting"))
#: Some of them, but for those that a message may name soon.
AMONG = SELECT_UNREFERENCED.where(OURS, blobs.c.pins == 0)
#: Who pinned bytes and named them in no message for so long has given up.
SELECT_STALE_REFERENCES = select(blobs.c.owner, blobs.c.sha256).where(
    blobs.c.pins > 0, blobs.c.touched < bindparam("before")
)
UPDATE_UNREFERENCED = (
    update(blobs)
    .where(tuple_(blobs.c.owner, blobs.c.sha256).in_(SELECT_STALE_REFERENCES.with_for_update(skip_locked=True)))
    .values(pins=0)
)
UPDATE_DELETING = update(blobs).where(*THIS).values(state="deleting")
#: The rows of bytes that are to be deleted, held until the transaction ends.
SELECT_DELETING = (
    select(blobs.c.sha256, blobs.c.size, or_(NAMED, EXISTS_DERIVATION).label("needed"))
    .where(OURS, blobs.c.state == "deleting")
    .order_by(blobs.c.sha256)
    .with_for_update(of=blobs)
)
UPDATE_READY = update(blobs).where(*THIS).values(state="ready")
DELETE_BLOB = delete(blobs).where(OURS)
ROW = (known.c.owner, known.c.owner, known.c.sha256, known.c.recipe, known.c.record, known.c.at)
DELETE_KNOWN = delete(known).where(*KNOWN_OF).returning(*ROW)
#: What is known of files that are gone: it was learnt while they were deleted.
DELETE_ORPHANED_KNOWN = (
    delete(known)
    .where(
        ~exists().where(blobs.c.owner == known.c.owner, blobs.c.sha256 == known.c.sha256),
        ~exists().where(attachments.c.owner == known.c.owner, attachments.c.address == known.c.sha256),
    )
    .returning(*ROW)
)
SELECT_DERIVED = select(derivations.c.sha256).where(
    derivations.c.owner == bindparam("who"), derivations.c.source.in_(bindparam("hashes", expanding=True))
)
#: Uploads that became part of no message in time.
DELETE_EXPIRED_UPLOADS = delete(uploads).where(uploads.c.created < bindparam("before"))
SELECT_HASHES = select(blobs.c.sha256).where(blobs.c.owner == bindparam("who"))
SELECT_OWNERS = select(blobs.c.owner).distinct()
#: How long a file that was uploaded waits for its message, in seconds.
PENDING = 24 * 3600.0
#: So many files are deleted while others wait.
SOME = 100
#: How long a file may take to be written, in seconds: what is younger is never taken for a leftover.
WRITING = 3600.0


async def collect(database: Database, store: BlobStore, now: float, grace: float) -> Collected:
    """Delete what nobody needs and nobody has touched for `grace` seconds; `now` is in epoch seconds."""
    before, written = now - grace, now - max(grace, WRITING)
    done: list[Collected] = []

    def give_up(connection: Connection) -> Derivations:
        connection.execute(DELETE_EXPIRED_UPLOADS, {"before": now - max(grace, PENDING)})
        connection.execute(UPDATE_UNREFERENCED, {"before": before})
        return derivations_of(connection.execute(DELETE_ORPHANED_KNOWN).all())

    left = await database.write(give_up)
    while marked := await mark(database, OLD, before=before):
        for who, hashes in by_owner(marked).items():
            starts = range(0, len(hashes), SOME)
            done += [(await sweep(database, store, who, hashes[start : start + SOME]))[0] for start in starts]
    orphans = await clear(database, store, written)
    spools = await asyncio.to_thread(store.clear_spools, written)
    return sum_up([*done, Collected(orphans=orphans, spools=spools, uploads=uploads_of(left))])


async def collect_now(database: Database, store: BlobStore, keys: Iterable[Key]) -> Collected:
    """Delete these bytes, and what was made of them, wherever nobody needs them or is about to name them.

    What is left because somebody has pinned it is deleted by `collect`, where it isn't named after all.
    """
    done: list[Collected] = []
    for who, hashes in by_owner(keys).items():
        left = hashes
        while left:
            some, left = left[:SOME], left[SOME:]
            marked = await mark(database, AMONG, who=who, hashes=some)
            if marked:
                swept, made = await sweep(database, store, who, [sha256 for _, sha256 in marked])
                done.append(swept)
                left += made
    return sum_up(done)


def by_owner(keys: Iterable[Key]) -> dict[str, list[str]]:
    """The hashes of each owner, in order, each once."""
    found: dict[str, list[str]] = defaultdict(list)
    for who, sha256 in sorted({*keys}):
        found[who].append(sha256)
    return found


async def mark(database: Database, needless: Executable, **values: object) -> Sequence[Key]:
    """Mark bytes that nobody needs."""

    def work(connection: Connection) -> Sequence[Key]:
        found = [(row[0], row[1]) for row in connection.execute(needless, values)]
        if found:
            connection.execute(UPDATE_DELETING, [{"who": who, "hash": sha256} for who, sha256 in found])
        return found

    return await database.write(work)


async def sweep(
    database: Database, store: BlobStore, who: str, hashes: Sequence[str]
) -> tuple[Collected, Sequence[str]]:
    """Delete bytes that are still marked, with their rows and what was known of them; those that are needed stay.

    Gives the hashes of what was made of them, too.
    """

    def work(connection: Connection) -> tuple[Collected, Sequence[str]]:
        rows = connection.execute(SELECT_DELETING, {"who": who, "hashes": hashes}).all()
        needed = [{"who": who, "hash": row.sha256} for row in rows if row.needed]
        if needed:
            connection.execute(UPDATE_READY, needed)
        sizes: dict[str, int] = {row.sha256: row.size for row in rows if not row.needed}
        if not sizes:
            return Collected(), ()
        gone = {"who": who, "hashes": [*sizes]}
        made = [row[0] for row in connection.execute(SELECT_DERIVED, gone)]
        forgotten = derivations_of(connection.execute(DELETE_KNOWN, gone).all())
        connection.execute(DELETE_BLOB, gone)  # fails where a row still refers to it, and so before the bytes go
        delete_all(store.of(who), sizes)
        return Collected(len(sizes), sum(sizes.values()), uploads=uploads_of(forgotten)), made

    return await database.write(work)


def delete_all(blobs: BlobStore, hashes: Iterable[str]) -> None:
    """Delete blobs."""
    for sha256 in hashes:
        blobs.delete(sha256)


def uploads_of(forgotten: Derivations) -> tuple[tuple[DerivationRequest, Derivative], ...]:
    """Those of what was known that lie at a provider."""
    return tuple((want, found) for want, found in forgotten.items() if isinstance(found, Derivative) and found.file_id)


async def clear(database: Database, store: BlobStore, before: float) -> int:
    """Delete files that have no row and were written before; gives how many."""
    cleared = 0
    for owner in await asyncio.to_thread(lambda: [*store.owners()]):
        old = await asyncio.to_thread(list_old, store.at(owner), before)
        for start in range(0, len(old), SOME):
            cleared += await clear_some(database, store, owner, old[start : start + SOME])
    return cleared


def list_old(blobs: BlobStore, before: float) -> list[str]:
    """What lies there and was written before."""
    return [kept.sha256 for kept in blobs.listed() if kept.mtime < before]


async def clear_some(database: Database, store: BlobStore, owner: str, files: Sequence[str]) -> int:
    """Delete those of an owner's files that have no row, while nobody can note any."""

    def work(connection: Connection) -> int:
        if not database.is_sqlite:
            connection.execute(text("LOCK TABLE blobs IN SHARE ROW EXCLUSIVE MODE"))
        names = [row[0] for row in connection.execute(SELECT_OWNERS)]
        who = next((name for name in names if owner_key(name) == owner), None)
        rows = {row[0] for row in connection.execute(SELECT_HASHES, {"who": who})}
        orphans = [sha256 for sha256 in files if sha256 not in rows]
        delete_all(store.at(owner), orphans)
        return len(orphans)

    return await database.write(work)


def sum_up(done: Sequence[Collected]) -> Collected:
    """All of it together."""
    return Collected(
        sum(one.blobs for one in done),
        sum(one.bytes for one in done),
        sum(one.orphans for one in done),
        sum(one.spools for one in done),
        tuple(upload for one in done for upload in one.uploads),
    )
