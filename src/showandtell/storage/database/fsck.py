"""Compares the blob store with the database: finds missing, short, changed and orphaned blobs."""

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
    """A problem: the blob, what is wrong with it, and the ids of the files that need it (may be empty).

    `owner` is the owner's name, or their key in the store if the database doesn't know them.
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
SELECT_BLOBS_OF_OWNER = SELECT_BLOBS.where(blobs.c.owner == bindparam("who"))
SELECT_NEEDED_OF_OWNER = SELECT_ALL_NEEDED.where(SELECT_NEEDED.c.owner == bindparam("who"))


async def check_all(database: Database, store: BlobStore, owner: str | None = None) -> tuple[Finding, ...]:
    """Check every blob of an owner, or of all owners: its size, its hash, and whether a row names it."""
    stored = await asyncio.to_thread(list_all, store, None if owner is None else owner_key(owner))
    if owner is None:
        rows, files = await database.read(SELECT_BLOBS), await database.read(SELECT_ALL_NEEDED)
    else:
        rows = await database.read(SELECT_BLOBS_OF_OWNER, who=owner)
        files = await database.read(SELECT_NEEDED_OF_OWNER, who=owner)
    needed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for who, sha256, file in files:
        needed[who, sha256].append(file)
    findings = await asyncio.to_thread(compare, store, rows, needed)
    named = {(owner_key(row[0]), row[1]) for row in rows}
    names = {owner_key(row[0]): row[0] for row in rows}
    orphans = [Finding(names.get(who, who), sha256, "is named by no row") for who, sha256 in stored - named]
    return tuple(sorted([*findings, *orphans], key=lambda finding: (finding.owner, finding.sha256)))


def list_all(store: BlobStore, owner_key: str | None) -> set[tuple[str, str]]:
    """The keys of owners and the hashes of all blobs in the store."""
    owners = [*store.owners()] if owner_key is None else [owner_key]
    return {(owner, blob.sha256) for owner in owners for blob in store.for_key(owner).list_blobs()}


def compare(store: BlobStore, rows: Sequence[Row], needed: dict[tuple[str, str], list[str]]) -> list[Finding]:
    """Problems with the bytes that rows name. Bytes being deleted may be missing."""
    findings: list[Finding] = []
    for owner, sha256, size, state in rows:
        files = tuple(needed.get((owner, sha256), ()))
        problem = store.for_owner(owner).check(Facts(sha256, "application/octet-stream", size), rehash=True)
        if problem is not None and (state == "ready" or files):
            findings.append(Finding(owner, sha256, problem, files))
    return findings
