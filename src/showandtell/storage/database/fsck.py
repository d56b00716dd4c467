"""Whether what lies in the store of blobs is what the database says: missing, short, changed and orphaned bytes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import bindparam, select, union_all

from showandtell.core.messages.attachments import Facts
from showandtell.storage.blobs.base import BlobStore, owner_key
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.tables import attachments, blobs, uploads


class Finding(Struct, frozen=True):
    """Something wrong: the bytes, what is wrong in words, and the ids of the files that need them (none: no one does).

    `owner` is the owner's name, or what stands for one in the store where the database knows none.
    """

    owner: str
    sha256: str
    problem: str
    files: tuple[str, ...] = ()


SELECT_BLOBS = select(blobs.c.owner, blobs.c.sha256, blobs.c.size, blobs.c.state)
SELECT_NEEDED = union_all(
    select(attachments.c.owner, attachments.c.sha256, attachments.c.id).where(attachments.c.sha256.is_not(None)),
    select(uploads.c.owner, uploads.c.sha256, uploads.c.id),
).subquery()
SELECT_ALL_NEEDED = select(SELECT_NEEDED)
ROWS_OF = SELECT_BLOBS.where(blobs.c.owner == bindparam("who"))
FILES_OF = SELECT_ALL_NEEDED.where(SELECT_NEEDED.c.owner == bindparam("who"))


async def check_all(database: Database, store: BlobStore, owner: str | None = None) -> tuple[Finding, ...]:
    """Look at every blob of an owner, or of all: its size and hash, and whether a row names it."""
    there = await asyncio.to_thread(list_all, store, None if owner is None else owner_key(owner))
    if owner is None:
        rows, files = await database.read(SELECT_BLOBS), await database.read(SELECT_ALL_NEEDED)
    else:
        rows = await database.read(ROWS_OF, who=owner)
        files = await database.read(FILES_OF, who=owner)
    needed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for who, sha256, file in files:
        needed[who, sha256].append(file)
    found = await asyncio.to_thread(compare, store, rows, needed)
    named = {(owner_key(row[0]), row[1]) for row in rows}
    names = {owner_key(row[0]): row[0] for row in rows}
    orphans = [Finding(names.get(who, who), sha256, "is named by no row") for who, sha256 in there - named]
    return tuple(sorted([*found, *orphans], key=lambda one: (one.owner, one.sha256)))


def list_all(store: BlobStore, only: str | None) -> set[tuple[str, str]]:
    """What lies in the store: keys of owners, and hashes."""
    owners = [*store.owners()] if only is None else [only]
    return {(owner, kept.sha256) for owner in owners for kept in store.at(owner).listed()}


def compare(store: BlobStore, rows: Sequence[Row], needed: dict[tuple[str, str], list[str]]) -> list[Finding]:
    """What is wrong with the bytes that rows name; those that are being deleted may be gone."""
    found: list[Finding] = []
    for owner, sha256, size, state in rows:
        files = tuple(needed.get((owner, sha256), ()))
        problem = store.of(owner).check(Facts(sha256, "application/octet-stream", size), anew=True)
        if problem is not None and (state == "ready" or files):
            found.append(Finding(owner, sha256, problem, files))
    return found
