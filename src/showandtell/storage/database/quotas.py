"""Rows of blobs: noted before the bytes are put in place, within quotas, and held when a message names them.

What is noted and not yet named is pinned: deleting other files leaves such bytes alone, and they count as the owner's.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs
from sqlalchemy import Connection, Double, Integer, and_, bindparam, case, exists, func, or_, select, text, update

from showandtell.core.messages.attachments import Attachment
from showandtell.core.planning.labels import size_of
from showandtell.errors import BadFile
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import attachments, blobs, derivations, uploads, upsert

CLEANED = "its bytes were cleared away before its message was stored: add the file again"
#: How long pinned bytes count against a quota, in seconds: what no message names by then was given up.
WAITING = 3600.0
#: So many rows are asked for at once.
SOME = 500


class Quotas(Struct, frozen=True):
    """The most bytes that one file, the files of one conversation, and all files of one owner may have; None: no bound.

    The same bytes count once.
    """

    file: int | None = 20_000_000
    conversation: int | None = None
    owner: int | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """Whose bytes they are, how many they may be, and what time it is (epoch seconds)."""

    owner: str
    quotas: Quotas
    clock: Callable[[], float]


#: Whether a file of a message or an upload has these bytes, and whether they were made of bytes that are still there.
NAMED = or_(
    exists().where(attachments.c.owner == blobs.c.owner, attachments.c.sha256 == blobs.c.sha256),
    exists().where(uploads.c.owner == blobs.c.owner, uploads.c.sha256 == blobs.c.sha256),
)
EXISTS_DERIVATION = exists().where(derivations.c.owner == blobs.c.owner, derivations.c.sha256 == blobs.c.sha256)
KEY = and_(blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
LATER = case((blobs.c.touched > bindparam("now"), blobs.c.touched), else_=bindparam("now", type_=Double[float]()))
FEWER = case((blobs.c.pins > bindparam("pinned"), blobs.c.pins - bindparam("pinned", type_=Integer)), else_=0)
OURS = and_(blobs.c.owner == bindparam("who"), blobs.c.sha256.in_(bindparam("hashes", expanding=True)))
#: The rows of bytes that are kept, in one order for all, so that no two transactions wait for each other.
SELECT_READY = select(blobs.c.sha256).where(OURS, blobs.c.state == "ready").order_by(blobs.c.sha256).with_for_update()
UPDATE_REFERENCES = update(blobs).where(KEY).values(touched=LATER, pins=FEWER)
PINNED = and_(blobs.c.pins > 0, blobs.c.touched > bindparam("since"))
SELECT_USED_BYTES = select(func.coalesce(func.sum(blobs.c.size), 0)).where(
    blobs.c.owner == bindparam("who"),
    blobs.c.state == "ready",
    blobs.c.sha256.not_in(bindparam("besides", expanding=True)),
    or_(NAMED, EXISTS_DERIVATION, PINNED),
)
#: PostgreSQL lets others write meanwhile: who asks for room waits until all who asked before have taken theirs.
SELECT_ADVISORY_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(CAST(:who AS text), 0))")


#: Who wants bytes again that are kept makes no row: where there is none, the bytes may be gone, too.
UPDATE_REFERENCED_AGAIN = (
    update(blobs).where(KEY, blobs.c.state == "ready").values(touched=LATER, pins=blobs.c.pins + 1)
)


def reference(connection: Connection, owner: str, sha256: str, size: int, now: float) -> None:
    """Note that somebody wants these bytes kept, also where they were about to be deleted."""
    row = {"owner": owner, "sha256": sha256, "size": size, "state": "ready", "touched": now, "pins": 1}
    later = case((blobs.c.touched > now, blobs.c.touched), else_=now)
    there = {"state": "ready", "touched": later, "pins": blobs.c.pins + 1}
    connection.execute(
        upsert(connection, blobs).values(row).on_conflict_do_update(index_elements=["owner", "sha256"], set_=there)
    )


async def reference_within(database: Database, account: Account, sha256: str, size: int) -> None:
    """The same in a transaction of its own. Raises `BadFile` where the owner has no room for them."""

    def work(connection: Connection) -> None:
        quota_of_owner(connection, account, {sha256}).check(size)
        reference(connection, account.owner, sha256, size, account.clock())

    await database.write(work)


async def reference_again(database: Database, account: Account, sha256: str, size: int) -> bool:
    """Note that somebody wants kept bytes for one more file; whether they are kept. Raises `BadFile` as above."""

    def work(connection: Connection) -> bool:
        quota_of_owner(connection, account, {sha256}).check(size)
        asked = {"who": account.owner, "hash": sha256, "now": account.clock()}
        return connection.execute(UPDATE_REFERENCED_AGAIN, asked).rowcount > 0

    return await database.write(work)


def reference_from_threads(database: Database, account: Account) -> Callable[[str, int], None]:
    """The same for threads that prove files beside this event loop."""
    events = asyncio.get_running_loop()

    def pin_now(sha256: str, size: int) -> None:
        asyncio.run_coroutine_threadsafe(reference_within(database, account, sha256, size), events).result()

    return pin_now


def check_conversation(there: Mapping[int, Attachment], sha256: str, size: int, quotas: Quotas) -> None:
    """Raise `BadFile` where the files of a conversation would have too many bytes. Any thread may ask."""
    quota_beside(quotas, there, {sha256}).check(size)


@dataclass(slots=True)
class QuotaUsage:
    """How many bytes some files have, and how many they may have."""

    what: str
    taken: int
    most: int | None

    def check(self, size: int) -> None:
        """Raise `BadFile` where `size` bytes more are too many."""
        if self.most is not None and self.taken + size > self.most:
            has = f"{self.what} have {size_of(self.taken)} of the {size_of(self.most)} that they may have"
            advice = "delete files or conversations that you no longer need, then add it again"
            raise BadFile("the file", f"has {size_of(size)}, and {has}", advice)


def quota_beside(quotas: Quotas, there: Mapping[int, Attachment], besides: Iterable[str]) -> QuotaUsage:
    """The room in a conversation; what is `besides` doesn't count."""
    sizes: dict[str, int] = {}
    if quotas.conversation is not None:
        now = tuple(there.values())  # at once: while threads prove files, others are numbered
        sizes = {one.facts.sha256: one.facts.size for one in now if one.facts is not None}
    for sha256 in besides:
        sizes.pop(sha256, None)
    return QuotaUsage("the files of this conversation", sum(sizes.values()), quotas.conversation)


def quota_of_owner(connection: Connection, account: Account, besides: Iterable[str]) -> QuotaUsage:
    """The room of all that an owner has, which nobody else takes until the transaction ends."""
    taken = 0
    if account.quotas.owner is not None:
        if connection.dialect.name != "sqlite":
            connection.execute(SELECT_ADVISORY_LOCK, {"who": account.owner})
        asked = {"who": account.owner, "besides": [*besides], "since": account.clock() - WAITING}
        taken = int(connection.execute(SELECT_USED_BYTES, asked).scalar_one())
    return QuotaUsage("all your files", taken, account.quotas.owner)


def reserve(connection: Connection, owner: str, pins: Mapping[str, int], now: float) -> set[str]:
    """Keep bytes from being deleted until the transaction ends and names them, and take back so many of their pins.

    Gives the hashes of those that are still kept.
    """
    held: set[str] = set()
    hashes = sorted(pins)
    for start in range(0, len(hashes), SOME):
        asked = {"who": owner, "hashes": hashes[start : start + SOME]}
        found = [row[0] for row in connection.execute(SELECT_READY, asked)]
        if found:
            touched = [{"who": owner, "hash": one, "now": now, "pinned": pins[one]} for one in found]
            connection.execute(UPDATE_REFERENCES, touched)
        held.update(found)
    return held


def admit(
    connection: Connection, account: Account, there: Mapping[int, Attachment], fresh: Sequence[Attachment]
) -> tuple[Attachment, ...]:
    """The attachments of a message as they may be stored: one without bytes or room is stored with that problem.

    The others' bytes are held until the transaction ends and names them.
    """
    pins = Counter(one.facts.sha256 for one in fresh if one.facts is not None)
    if not pins:
        return tuple(fresh)
    rooms = [quota_beside(account.quotas, there, pins), quota_of_owner(connection, account, pins)]
    held = reserve(connection, account.owner, pins, account.clock())
    sizes = {one.facts.sha256: one.facts.size for one in fresh if one.facts is not None}
    problems = {sha256: consume_quota(rooms, size) if sha256 in held else CLEANED for sha256, size in sizes.items()}
    return tuple(
        one if one.facts is None or (problem := problems[one.facts.sha256]) is None else without_bytes(one, problem)
        for one in fresh
    )


def consume_quota(rooms: Iterable[QuotaUsage], size: int) -> str | None:
    """Take room for bytes; gives which quota they would break, in words."""
    try:
        for room in rooms:
            room.check(size)
    except BadFile as error:
        return f"{error.problem}: {error.advice}"
    for room in rooms:
        room.taken += size
    return None


def without_bytes(one: Attachment, problem: str) -> Attachment:
    """The attachment with its number and name, and a problem instead of bytes; it is still spoken of as what it was."""
    return structs.replace(one, facts=None, address=None, claimed=one.media_type, corrected=None, problem=problem)
