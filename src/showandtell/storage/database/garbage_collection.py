"""Garbage collection of blobs: unused ones are marked first, and deleted in a second transaction.

If the same bytes are needed again meanwhile, `reference` makes them ready again, or waits until they are deleted and
only then commits them. So no interleaving loses bytes that a message names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from sqlalchemy import DDL, Connection, bindparam, delete, exists, or_, select, tuple_, update
from sqlalchemy.sql import Executable

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative
from showandtell.storage.blobs.base import BlobStore, owner_key
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.database.database import SLOW_SECONDS, Database
from showandtell.storage.database.quotas import EXISTS_DERIVATION, IS_USED, OWNED_HASHES
from showandtell.storage.database.rows import derivations_of
from showandtell.storage.database.tables import attachments, blobs, derivations, known, pending_files, uploads

#: Owner and sha256 of a blob.
Key: TypeAlias = tuple[str, str]


class Collected(Struct, frozen=True):
    """What was deleted: blobs, their size before compression, files without a row, and leftover spools.

    `uploads` were made from these blobs. They may still exist at their providers, but are no longer recorded here.
    """

    blobs: int = 0
    bytes: int = 0
    orphans: int = 0
    spools: int = 0
    uploads: tuple[tuple[DerivationRequest, Derivative], ...] = ()


#: Lets no other transaction add or change a blob, on PostgreSQL.
LOCK_BLOBS = DDL("LOCK TABLE %(fullname)s IN SHARE ROW EXCLUSIVE MODE").against(blobs)
THIS_BLOB = (blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
OF_THESE_FILES = (known.c.owner == bindparam("who"), known.c.sha256.in_(bindparam("hashes", expanding=True)))
#: Unused bytes. Rows locked by other transactions are skipped until the next collection.
SELECT_UNREFERENCED = (
    select(blobs.c.owner, blobs.c.sha256)
    .where(~IS_USED, ~EXISTS_DERIVATION)
    .with_for_update(of=blobs, skip_locked=True)
)
#: Those not touched for a while.
SELECT_OLD = SELECT_UNREFERENCED.where(or_(blobs.c.touched < bindparam("before"), blobs.c.state == "deleting"))
#: Those with given hashes, except referenced ones, which a message may name soon.
SELECT_AMONG = SELECT_UNREFERENCED.where(OWNED_HASHES, blobs.c.pins == 0)
#: References that were not used in time are abandoned.
SELECT_STALE_REFERENCES = select(blobs.c.owner, blobs.c.sha256).where(
    blobs.c.pins > 0, blobs.c.touched < bindparam("before")
)
UPDATE_UNREFERENCED = (
    update(blobs)
    .where(tuple_(blobs.c.owner, blobs.c.sha256).in_(SELECT_STALE_REFERENCES.with_for_update(skip_locked=True)))
    .values(pins=0)
)
UPDATE_DELETING = update(blobs).where(*THIS_BLOB).values(state="deleting")
#: Rows of bytes to delete, locked until the transaction ends.
SELECT_DELETING = (
    select(blobs.c.sha256, blobs.c.size, or_(IS_USED, EXISTS_DERIVATION).label("needed"))
    .where(OWNED_HASHES, blobs.c.state == "deleting")
    .order_by(blobs.c.sha256)
    .with_for_update(of=blobs)
)
UPDATE_READY = update(blobs).where(*THIS_BLOB).values(state="ready")
DELETE_BLOB = delete(blobs).where(OWNED_HASHES)
KNOWN_COLUMNS = (known.c.owner, known.c.owner, known.c.sha256, known.c.recipe, known.c.record, known.c.at)
DELETE_KNOWN = delete(known).where(*OF_THESE_FILES).returning(*KNOWN_COLUMNS)
#: Records about deleted files, written while these were being deleted.
DELETE_ORPHANED_KNOWN = (
    delete(known)
    .where(
        ~exists().where(blobs.c.owner == known.c.owner, blobs.c.sha256 == known.c.sha256),
        ~exists().where(attachments.c.owner == known.c.owner, attachments.c.address == known.c.sha256),
    )
    .returning(*KNOWN_COLUMNS)
)
SELECT_DERIVED = select(derivations.c.sha256).where(
    derivations.c.owner == bindparam("who"), derivations.c.source.in_(bindparam("hashes", expanding=True))
)
#: Uploads that no message used in time, pending ones included.
DELETE_EXPIRED_UPLOADS = delete(uploads).where(
    uploads.c.created < bindparam("before"), ~exists().where(pending_files.c.upload_id == uploads.c.id)
)
SELECT_HASHES = select(blobs.c.sha256).where(blobs.c.owner == bindparam("who"))
SELECT_OWNERS = select(blobs.c.owner).distinct()
#: How long an uploaded file waits for its message, in seconds.
UPLOAD_SECONDS = 24 * 3600.0
#: Files deleted per transaction, while other writers wait.
BATCH = 100
#: In seconds. Younger files without a row may still be in use by a writer.
MIN_AGE = 3600.0


async def collect(database: Database, store: BlobStore, now: float, grace: float) -> Collected:
    """Delete what is unused and wasn't touched for `grace` seconds; `now` is in epoch seconds."""
    before, written = now - grace, now - max(grace, MIN_AGE)
    results: list[Collected] = []

    def drop_expired(connection: Connection) -> Derivations:
        connection.execute(DELETE_EXPIRED_UPLOADS, {"before": now - max(grace, UPLOAD_SECONDS)})
        connection.execute(UPDATE_UNREFERENCED, {"before": before})
        return derivations_of(connection.execute(DELETE_ORPHANED_KNOWN).all())

    orphaned = await database.write(drop_expired, within=SLOW_SECONDS)
    while marked := await mark(database, SELECT_OLD, before=before):
        for owner, hashes in group_by_owner(marked).items():
            starts = range(0, len(hashes), BATCH)
            results += [(await sweep(database, store, owner, hashes[start : start + BATCH]))[0] for start in starts]
    orphans = await delete_orphans(database, store, written)
    spools = await run_in_thread(store.clear_spools, written)
    return total([*results, Collected(orphans=orphans, spools=spools, uploads=uploads_of(orphaned))])


async def collect_now(database: Database, store: BlobStore, keys: Iterable[Key]) -> Collected:
    """Delete these bytes, and everything derived from them, unless they are used or referenced.

    Referenced bytes are left to `collect`, which deletes them if no message names them.
    """
    results: list[Collected] = []
    for owner, hashes in group_by_owner(keys).items():
        remaining = hashes
        while remaining:
            batch, remaining = remaining[:BATCH], remaining[BATCH:]
            marked = await mark(database, SELECT_AMONG, who=owner, hashes=batch)
            if marked:
                swept, derived = await sweep(database, store, owner, [sha256 for _, sha256 in marked])
                results.append(swept)
                remaining += derived
    return total(results)


def group_by_owner(keys: Iterable[Key]) -> dict[str, list[str]]:
    """Sorted, unique hashes by owner."""
    hashes: dict[str, list[str]] = defaultdict(list)
    for owner, sha256 in sorted({*keys}):
        hashes[owner].append(sha256)
    return hashes


async def mark(database: Database, statement: Executable, **values: object) -> Sequence[Key]:
    """Mark unused bytes for deletion."""

    def transaction(connection: Connection) -> Sequence[Key]:
        keys = [(row[0], row[1]) for row in connection.execute(statement, values)]
        if keys:
            connection.execute(UPDATE_DELETING, [{"who": who, "hash": sha256} for who, sha256 in keys])
        return keys

    return await database.write(transaction, within=SLOW_SECONDS)


async def sweep(
    database: Database, store: BlobStore, owner: str, hashes: Sequence[str]
) -> tuple[Collected, Sequence[str]]:
    """Delete marked bytes with their rows and records, unless they are needed again.

    Also returns the hashes of bytes derived from them.
    """
    # A store that hangs is noticed here: inside the transaction, others would wait for it.
    await run_in_thread(store.for_owner(owner).has, Facts(hashes[0], "file", 0))

    def transaction(connection: Connection) -> tuple[Collected, Sequence[str]]:
        rows = connection.execute(SELECT_DELETING, {"who": owner, "hashes": hashes}).all()
        needed = [{"who": owner, "hash": row.sha256} for row in rows if row.needed]
        if needed:
            connection.execute(UPDATE_READY, needed)
        sizes: dict[str, int] = {row.sha256: row.size for row in rows if not row.needed}
        if not sizes:
            return Collected(), ()
        parameters = {"who": owner, "hashes": [*sizes]}
        derived = [row[0] for row in connection.execute(SELECT_DERIVED, parameters)]
        deleted = derivations_of(connection.execute(DELETE_KNOWN, parameters).all())
        connection.execute(DELETE_BLOB, parameters)  # fails if a row still refers to it, before any bytes are deleted
        delete_all(store.for_owner(owner), sizes)
        return Collected(len(sizes), sum(sizes.values()), uploads=uploads_of(deleted)), derived

    return await database.write(transaction, within=SLOW_SECONDS)


def delete_all(blobs: BlobStore, hashes: Iterable[str]) -> None:
    """Delete blobs."""
    for sha256 in hashes:
        blobs.delete(sha256)


def uploads_of(deleted: Derivations) -> tuple[tuple[DerivationRequest, Derivative], ...]:
    """The deleted records that are uploads at a provider."""
    return tuple(
        (request, result) for request, result in deleted.items() if isinstance(result, Derivative) and result.file_id
    )


async def delete_orphans(database: Database, store: BlobStore, before: float) -> int:
    """Delete files that have no row and were written before `before`. Returns their number."""
    count = 0
    for owner in await run_in_thread(lambda: [*store.owners()]):
        old = await run_in_thread(list_old, store.for_key(owner), before)
        for start in range(0, len(old), BATCH):
            count += await delete_orphan_batch(database, store, owner, old[start : start + BATCH])
    return count


def list_old(blobs: BlobStore, before: float) -> list[str]:
    """The hashes of blobs written before `before`."""
    return [blob.sha256 for blob in blobs.list_blobs() if blob.mtime < before]


async def delete_orphan_batch(database: Database, store: BlobStore, owner: str, files: Sequence[str]) -> int:
    """Delete those of an owner's files that have no row, while no row can be added."""

    def transaction(connection: Connection) -> int:
        if not database.is_sqlite:
            connection.execute(LOCK_BLOBS)
        names = [row[0] for row in connection.execute(SELECT_OWNERS)]
        name = next((name for name in names if owner_key(name) == owner), None)
        rows = {row[0] for row in connection.execute(SELECT_HASHES, {"who": name})}
        orphans = [sha256 for sha256 in files if sha256 not in rows]
        delete_all(store.for_key(owner), orphans)
        return len(orphans)

    return await database.write(transaction, within=SLOW_SECONDS)


def total(results: Sequence[Collected]) -> Collected:
    """The sum of several results."""
    return Collected(
        sum(result.blobs for result in results),
        sum(result.bytes for result in results),
        sum(result.orphans for result in results),
        sum(result.spools for result in results),
        tuple(upload for result in results for upload in result.uploads),
    )
