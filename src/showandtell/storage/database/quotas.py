"""Rows of blobs and quotas. A row is written before the bytes are committed, and reserved when a message names them.

Until then the bytes are referenced (`pins`): deleting other files leaves them alone, and they count against quotas.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs
from sqlalchemy import Connection, Double, Integer, and_, bindparam, case, exists, func, or_, select, text, update

from showandtell.checking.checked import TakesDict
from showandtell.core.limits import AtLeast0
from showandtell.core.messages.attachments import Attachment, Facts
from showandtell.core.planning.labels import format_size
from showandtell.errors import QuotaExceeded
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import attachments, blobs, derivations, uploads
from showandtell.storage.database.upserts import upsert

DELETED_MEANWHILE = "its bytes were cleared away before its message was stored: add the file again"
#: How long referenced bytes count against a quota, in seconds. After that they are considered abandoned.
REFERENCE_SECONDS = 3600.0
#: Rows per query.
BATCH = 500


class Quotas(TakesDict, Struct, frozen=True):
    """Limits in bytes for one file, the files of a conversation, and all files of an owner. None means no limit.

    Identical bytes count once.

    >>> from showandtell import Quotas
    >>> Quotas(file=5_000_000, owner=1_000_000_000).conversation is None
    True
    """

    file: AtLeast0 | None = 20_000_000
    conversation: AtLeast0 | None = None
    owner: AtLeast0 | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An owner, their quotas, and a clock in epoch seconds."""

    owner: str
    quotas: Quotas
    clock: Callable[[], float]


#: Whether a message or an upload has these bytes, and whether they were derived from existing bytes.
IS_USED = or_(
    exists().where(attachments.c.owner == blobs.c.owner, attachments.c.sha256 == blobs.c.sha256),
    exists().where(uploads.c.owner == blobs.c.owner, uploads.c.sha256 == blobs.c.sha256),
)
EXISTS_DERIVATION = exists().where(derivations.c.owner == blobs.c.owner, derivations.c.sha256 == blobs.c.sha256)
KEY = and_(blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
LATER = case((blobs.c.touched > bindparam("now"), blobs.c.touched), else_=bindparam("now", type_=Double[float]()))
FEWER = case((blobs.c.pins > bindparam("pinned"), blobs.c.pins - bindparam("pinned", type_=Integer)), else_=0)
OWNED_HASHES = and_(blobs.c.owner == bindparam("who"), blobs.c.sha256.in_(bindparam("hashes", expanding=True)))
#: Ready rows, locked in a fixed order so that transactions can't deadlock.
SELECT_READY = (
    select(blobs.c.sha256).where(OWNED_HASHES, blobs.c.state == "ready").order_by(blobs.c.sha256).with_for_update()
)
UPDATE_REFERENCES = update(blobs).where(KEY).values(touched=LATER, pins=FEWER)
IS_REFERENCED = and_(blobs.c.pins > 0, blobs.c.touched > bindparam("since"))
SELECT_USED_BYTES = select(func.coalesce(func.sum(blobs.c.size), 0)).where(
    blobs.c.owner == bindparam("who"),
    blobs.c.state == "ready",
    or_(IS_USED, EXISTS_DERIVATION, IS_REFERENCED),
)
SELECT_OTHER_BYTES = SELECT_USED_BYTES.where(blobs.c.sha256.not_in(bindparam("besides", expanding=True)))
#: PostgreSQL allows concurrent writes, so quota checks of an owner are serialized.
SELECT_ADVISORY_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(CAST(:who AS text), 0))")


#: Doesn't insert a row: if there is none, the bytes may be deleted too.
UPDATE_REFERENCED_AGAIN = (
    update(blobs).where(KEY, blobs.c.state == "ready").values(touched=LATER, pins=blobs.c.pins + 1)
)


def reference(connection: Connection, owner: str, sha256: str, size: int, now: float) -> None:
    """Protect bytes from deletion, even if they were about to be deleted."""
    row = {"owner": owner, "sha256": sha256, "size": size, "state": "ready", "touched": now, "pins": 1}
    later = case((blobs.c.touched > now, blobs.c.touched), else_=now)
    values = {"state": "ready", "touched": later, "pins": blobs.c.pins + 1}
    connection.execute(
        upsert(connection, blobs).values(row).on_conflict_do_update(index_elements=["owner", "sha256"], set_=values)
    )


async def reference_within(database: Database, account: Account, sha256: str, size: int) -> None:
    """Like `reference`, in its own transaction. Raises `QuotaExceeded`."""

    def transaction(connection: Connection) -> None:
        owner_usage(connection, account, {sha256}).check(size)
        reference(connection, account.owner, sha256, size, account.clock())

    await database.write(transaction)


async def reference_again(database: Database, account: Account, sha256: str, size: int) -> bool:
    """Reference stored bytes once more. Returns whether they are still stored. Raises `QuotaExceeded`."""

    def transaction(connection: Connection) -> bool:
        owner_usage(connection, account, {sha256}).check(size)
        parameters = {"who": account.owner, "hash": sha256, "now": account.clock()}
        return connection.execute(UPDATE_REFERENCED_AGAIN, parameters).rowcount > 0

    return await database.write(transaction)


def reference_from_threads(database: Database, account: Account) -> Callable[[str, int], None]:
    """Like `reference_within`, to be called from probing threads."""
    loop = asyncio.get_running_loop()

    def reference_now(sha256: str, size: int) -> None:
        asyncio.run_coroutine_threadsafe(reference_within(database, account, sha256, size), loop).result()

    return reference_now


def check_conversation(existing: Mapping[int, Attachment], sha256: str, size: int, quotas: Quotas) -> None:
    """Raise `QuotaExceeded` if the conversation's quota would be exceeded. Thread-safe."""
    conversation_usage(quotas, existing, {sha256}).check(size)


async def check_quotas(
    database: Database, account: Account, existing: Mapping[int, Attachment], files: Iterable[Facts]
) -> None:
    """Raise `QuotaExceeded` if a conversation can't get all of these files. Nothing is reserved."""
    sizes = {file.sha256: file.size for file in files}
    if sizes:
        conversation_usage(account.quotas, existing, sizes).check(sum(sizes.values()))
    if sizes and account.quotas.owner is not None:
        await database.write(lambda connection: owner_usage(connection, account, sizes).check(sum(sizes.values())))


@dataclass(slots=True)
class QuotaUsage:
    """Bytes used of a quota."""

    what: str
    used: int
    limit: int | None

    def check(self, size: int) -> None:
        """Raise `QuotaExceeded` if another `size` bytes exceed the limit."""
        if self.limit is not None and self.used + size > self.limit:
            has = f"{self.what} have {format_size(self.used)} of the {format_size(self.limit)} that they may have"
            advice = "delete files or conversations that you no longer need, then add it again"
            raise QuotaExceeded("the file", f"has {format_size(size)}, and {has}", advice)


def conversation_usage(quotas: Quotas, existing: Mapping[int, Attachment], excluded: Iterable[str]) -> QuotaUsage:
    """The usage of a conversation, without the `excluded` hashes."""
    sizes: dict[str, int] = {}
    if quotas.conversation is not None:
        now = tuple(existing.values())  # a snapshot: other threads may add files
        sizes = {file.facts.sha256: file.facts.size for file in now if file.facts is not None}
    for sha256 in excluded:
        sizes.pop(sha256, None)
    return QuotaUsage("the files of this conversation", sum(sizes.values()), quotas.conversation)


def owner_usage(connection: Connection, account: Account, excluded: Iterable[str]) -> QuotaUsage:
    """The usage of an owner. Other transactions can't change it until this one ends."""
    used = 0
    if account.quotas.owner is not None:
        if connection.dialect.name != "sqlite":
            connection.execute(SELECT_ADVISORY_LOCK, {"who": account.owner})
        parameters = {"who": account.owner, "besides": [*excluded], "since": account.clock() - REFERENCE_SECONDS}
        used = int(connection.execute(SELECT_OTHER_BYTES, parameters).scalar_one())
    return QuotaUsage("all your files", used, account.quotas.owner)


async def used_bytes(database: Database, account: Account) -> int:
    """The bytes that count against an owner's quota. Identical bytes count once."""
    since = account.clock() - REFERENCE_SECONDS
    rows = await database.read(SELECT_USED_BYTES, who=account.owner, since=since)
    return int(rows[0][0])


def reserve(connection: Connection, owner: str, pins: Mapping[str, int], now: float) -> set[str]:
    """Protect bytes from deletion until the transaction ends, and drop the given number of references to each.

    Returns the hashes that are still stored.
    """
    reserved: set[str] = set()
    hashes = sorted(pins)
    for start in range(0, len(hashes), BATCH):
        parameters = {"who": owner, "hashes": hashes[start : start + BATCH]}
        ready = [row[0] for row in connection.execute(SELECT_READY, parameters)]
        if ready:
            touched = [{"who": owner, "hash": sha256, "now": now, "pinned": pins[sha256]} for sha256 in ready]
            connection.execute(UPDATE_REFERENCES, touched)
        reserved.update(ready)
    return reserved


def admit(
    connection: Connection, account: Account, existing: Mapping[int, Attachment], fresh: Sequence[Attachment]
) -> tuple[Attachment, ...]:
    """The attachments of a message as they are stored. One without bytes or quota gets that as its problem.

    The others' bytes are reserved until the transaction ends.
    """
    pins = Counter(file.facts.sha256 for file in fresh if file.facts is not None)
    if not pins:
        return tuple(fresh)
    usages = [conversation_usage(account.quotas, existing, pins), owner_usage(connection, account, pins)]
    reserved = reserve(connection, account.owner, pins, account.clock())
    sizes = {file.facts.sha256: file.facts.size for file in fresh if file.facts is not None}
    problems = {
        sha256: consume_quota(usages, size) if sha256 in reserved else DELETED_MEANWHILE
        for sha256, size in sizes.items()
    }
    return tuple(
        file if file.facts is None or (problem := problems[file.facts.sha256]) is None else without_bytes(file, problem)
        for file in fresh
    )


def consume_quota(usages: Iterable[QuotaUsage], size: int) -> str | None:
    """Count bytes against the quotas. Returns the problem if one would be exceeded."""
    try:
        for usage in usages:
            usage.check(size)
    except QuotaExceeded as error:
        return f"{error.problem}: {error.advice}"
    for usage in usages:
        usage.used += size
    return None


def without_bytes(file: Attachment, problem: str) -> Attachment:
    """The attachment with a problem instead of bytes. Number, name and media type stay."""
    return structs.replace(file, facts=None, address=None, claimed=file.media_type, corrected=None, problem=problem)
