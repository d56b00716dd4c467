"""Checks a store: reads the whole database, and compares the blob store with it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from sqlalchemy import and_, bindparam, or_, select, union_all

from showandtell.core.messages.attachments import Facts
from showandtell.storage.blobs.base import BlobStore, owner_key
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.integrity import Progress, find_damage
from showandtell.storage.database.quotas import EXISTS_DERIVATION, IS_USED, KEY
from showandtell.storage.database.tables import attachments, blobs, derivations, uploads


class Finding(Struct, frozen=True):
    """A problem: what is wrong, of which blob (empty if of none), and the ids of the files that need it.

    `owner` is the owner's name, or their key in the store if the database doesn't know them. Leftovers, of uploads that
    were killed, are no damage: the next garbage collection removes them.
    """

    owner: str
    sha256: str
    problem: str
    files: tuple[str, ...] = ()
    kind: Literal["database", "file", "leftover"] = "file"


SELECT_BLOBS = select(
    blobs.c.owner,
    blobs.c.sha256,
    blobs.c.size,
    blobs.c.state,
    or_(IS_USED, EXISTS_DERIVATION).label("needed"),
    blobs.c.touched,
)
SELECT_BLOB = SELECT_BLOBS.where(KEY)
#: The files that need a blob: their own bytes, or those converted from them.
SELECT_NEEDED = union_all(
    select(attachments.c.owner, attachments.c.sha256, attachments.c.id).where(attachments.c.sha256.is_not(None)),
    select(uploads.c.owner, uploads.c.sha256, uploads.c.id),
    select(attachments.c.owner, derivations.c.sha256, attachments.c.id).join(
        derivations,
        and_(attachments.c.owner == derivations.c.owner, attachments.c.sha256 == derivations.c.source),
    ),
).subquery()
SELECT_ALL_NEEDED = select(SELECT_NEEDED)
SELECT_BLOBS_OF_OWNER = SELECT_BLOBS.where(blobs.c.owner == bindparam("who"))
SELECT_NEEDED_OF_OWNER = SELECT_ALL_NEEDED.where(SELECT_NEEDED.c.owner == bindparam("who"))


def report_nothing(step: str, done: int, total: int) -> None:
    """Show no progress."""


async def check_all(
    database: Database, store: BlobStore, owner: str | None = None, progress: Progress = report_nothing
) -> tuple[Finding, ...]:
    """Check the database, then every file unless it is damaged; with `owner`, only the owner's files."""
    damage = await check_database(database, progress) if owner is None else ()
    return damage or await check_files(database, store, owner, progress)


async def check_database(database: Database, progress: Progress = report_nothing) -> tuple[Finding, ...]:
    """Read the whole database, opened or not, and return its damage. Raises `StorageFailed` if it does not answer."""
    return tuple(Finding("", "", problem, kind="database") for problem in await find_damage(database, progress))


async def check_files(
    database: Database, store: BlobStore, owner: str | None = None, progress: Progress = report_nothing
) -> tuple[Finding, ...]:
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
    findings = await compare(database, store, rows, needed, progress)
    named = {(owner_key(row[0]), row[1]) for row in rows}
    names = {owner_key(row[0]): row[0] for row in rows}
    findings += [
        Finding(names.get(who, who), sha256, "is named by no row", kind="leftover") for who, sha256 in stored - named
    ]
    if owner is None and (spools := await asyncio.to_thread(store.count_spools)):
        findings.append(Finding("", "", f"unfinished copies: {spools}", kind="leftover"))
    return tuple(sorted(findings, key=lambda finding: (finding.owner, finding.sha256)))


def list_all(store: BlobStore, owner_key: str | None) -> set[tuple[str, str]]:
    """The keys of owners and the hashes of all blobs in the store."""
    owners = [*store.owners()] if owner_key is None else [owner_key]
    return {(owner, blob.sha256) for owner in owners for blob in store.for_key(owner).list_blobs()}


async def compare(
    database: Database,
    store: BlobStore,
    rows: Sequence[Row],
    needed: dict[tuple[str, str], list[str]],
    progress: Progress,
) -> list[Finding]:
    """Problems with the bytes that rows name. Those that nothing needs were not stored to the end."""
    findings: list[Finding] = []
    done, total = 0, sum(row[2] for row in rows)
    for row in rows:
        owner, sha256, size, *_ = row
        problem, is_needed = await check_blob(database, store, row)
        progress("files", done := done + size, total)
        if problem is not None:
            files = tuple(dict.fromkeys(needed.get((owner, sha256), ())))
            findings.append(Finding(owner, sha256, problem, files, "file" if is_needed else "leftover"))
    return findings


async def check_blob(database: Database, store: BlobStore, row: Row) -> tuple[str | None, bool]:
    """What is wrong with the bytes that a row names, if anything, and whether they are needed.

    Reads the row again before that is true: the bytes may have been deleted, or stored again, since it was read.
    """
    while True:
        owner, sha256, size, state, is_needed, _ = row
        facts = Facts(sha256, "application/octet-stream", size)
        problem = await asyncio.to_thread(store.for_owner(owner).check, facts, rehash=True)
        if problem is None or not (state == "ready" or is_needed):
            return None, is_needed
        rows = await database.read(SELECT_BLOB, who=owner, hash=sha256)
        if not rows:
            return None, False
        if rows[0] == row:
            return problem, is_needed
        row = rows[0]
