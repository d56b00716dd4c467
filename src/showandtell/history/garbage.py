"""Garbage collection: bytes that no file of any message needs are marked first, and deleted in a second transaction.

Between the two, and before, somebody may want the same bytes again: noting them (`pin`) makes them ready again, or
waits until they are deleted, and only then are they put in place. So no interleaving loses bytes that a message names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from sqlalchemy import bindparam, delete, exists, or_, select, text, update
from sqlalchemy.sql import Executable

from showandtell.attachments.blobs import BlobStore, owner_key
from showandtell.files import Known, Variant, Want
from showandtell.history.database import Database
from showandtell.history.loading import learnt
from showandtell.history.tables import attachments, blobs, derivations, known

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
    uploads: tuple[tuple[Want, Variant], ...] = ()


USED = exists().where(attachments.c.owner == blobs.c.owner, attachments.c.sha256 == blobs.c.sha256)
DERIVED = exists().where(derivations.c.owner == blobs.c.owner, derivations.c.sha256 == blobs.c.sha256)
THIS = (blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
OF_THIS = (known.c.owner == bindparam("who"), known.c.sha256 == bindparam("hash"))
#: Bytes that nobody needs; those that somebody writes about just now are left to the next time.
NEEDLESS = select(blobs.c.owner, blobs.c.sha256).where(~USED, ~DERIVED).with_for_update(of=blobs, skip_locked=True)
MARK = update(blobs).where(*THIS).values(state="deleting")
#: The row of bytes that are to be deleted, held until the transaction ends.
CLAIM = (
    select(blobs.c.size, or_(USED, DERIVED).label("needed"))
    .where(*THIS, blobs.c.state == "deleting")
    .with_for_update(of=blobs)
)
KEEP = update(blobs).where(*THIS).values(state="ready")
DROP = delete(blobs).where(*THIS)
KNOWN = select(known.c.owner, known.c.owner, known.c.sha256, known.c.recipe, known.c.record, known.c.at).where(*OF_THIS)
FORGET = delete(known).where(*OF_THIS)
MADE = select(derivations.c.sha256).where(
    derivations.c.owner == bindparam("who"), derivations.c.source == bindparam("hash")
)
ROWS = select(blobs.c.sha256).where(blobs.c.owner == bindparam("who"))
OWNERS = select(blobs.c.owner).distinct()
#: So many files without a row are deleted while others wait.
SOME = 100
#: How long a file may take to be written, in seconds: what is younger is never taken for a leftover.
WRITING = 3600.0


async def collect(database: Database, store: BlobStore, now: float, grace: float) -> Collected:
    """Delete what nobody needs and nobody has touched for `grace` seconds; `now` is in epoch seconds."""
    before, written = now - grace, now - max(grace, WRITING)
    done: list[Collected] = []
    old = NEEDLESS.where(or_(blobs.c.touched < before, blobs.c.state == "deleting"))
    while marked := await mark(database, old):
        done += [await sweep(database, store, key) for key in marked]
    orphans = await clear(database, store, written)
    spools = await asyncio.to_thread(store.clear_spools, written)
    return sum_up([*done, Collected(orphans=orphans, spools=spools)])


async def collect_now(database: Database, store: BlobStore, keys: Iterable[Key]) -> Collected:
    """Delete these bytes, and what was made of them, wherever nobody needs them."""
    done: list[Collected] = []
    left = [*keys]
    while left:
        who, sha256 = left.pop()
        made = await database.read(MADE, who=who, hash=sha256)
        for key in await mark(database, NEEDLESS.where(*THIS), who=who, hash=sha256):
            done.append(await sweep(database, store, key))
            left += [(who, row[0]) for row in made]
    return sum_up(done)


async def mark(database: Database, needless: Executable, **values: str) -> Sequence[Key]:
    """Mark bytes that nobody needs."""
    async with database.write() as connection:
        found = [(row[0], row[1]) for row in await connection.execute(needless, values)]
        if found:
            await connection.execute(MARK, [{"who": who, "hash": sha256} for who, sha256 in found])
    return found


async def sweep(database: Database, store: BlobStore, key: Key) -> Collected:
    """Delete bytes that are still marked, with their row and what was known of them; those that are needed stay."""
    this = {"who": key[0], "hash": key[1]}
    async with database.write() as connection:
        row = (await connection.execute(CLAIM, this)).first()
        if row is None:
            return Collected()
        if row.needed:
            await connection.execute(KEEP, this)
            return Collected()
        forgotten = learnt((await connection.execute(KNOWN, this)).all())
        await connection.execute(FORGET, this)
        await connection.execute(DROP, this)  # fails where a row still refers to it, and so before the bytes go
        await asyncio.to_thread(store.of(key[0]).delete, key[1])
    return Collected(1, row.size, uploads=uploads_of(forgotten))


def uploads_of(forgotten: Known) -> tuple[tuple[Want, Variant], ...]:
    """Those of what was known that lie at a provider."""
    return tuple((want, found) for want, found in forgotten.items() if isinstance(found, Variant) and found.file_id)


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
    async with database.write() as connection:
        if not database.is_sqlite:
            await connection.execute(text("LOCK TABLE blobs IN SHARE ROW EXCLUSIVE MODE"))
        names = [row[0] for row in await connection.execute(OWNERS)]
        who = next((name for name in names if owner_key(name) == owner), None)
        rows = {row[0] for row in await connection.execute(ROWS, {"who": who})}
        orphans = [sha256 for sha256 in files if sha256 not in rows]
        for sha256 in orphans:
            await asyncio.to_thread(store.at(owner).delete, sha256)
    return len(orphans)


def sum_up(done: Sequence[Collected]) -> Collected:
    """All of it together."""
    return Collected(
        sum(one.blobs for one in done),
        sum(one.bytes for one in done),
        sum(one.orphans for one in done),
        sum(one.spools for one in done),
        tuple(upload for one in done for upload in one.uploads),
    )
