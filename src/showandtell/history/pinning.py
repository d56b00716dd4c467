"""Rows of blobs: noted before the bytes are put in place, within quotas, and held when a message names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs
from sqlalchemy import Double, and_, bindparam, case, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from showandtell.errors import BadFile
from showandtell.files import Attachment, Facts
from showandtell.history.database import Database
from showandtell.history.tables import blobs

MIB = 1024 * 1024
CLEANED = "its bytes were cleared away before its message was stored: add the file again"


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


KEY = and_(blobs.c.owner == bindparam("who"), blobs.c.sha256 == bindparam("hash"))
LATER = case((blobs.c.touched > bindparam("now"), blobs.c.touched), else_=bindparam("now", type_=Double[float]()))
HOLD = update(blobs).where(KEY, blobs.c.state == "ready").values(touched=LATER)
USED = select(func.coalesce(func.sum(blobs.c.size), 0)).where(blobs.c.owner == bindparam("who"))
OTHERS = USED.where(blobs.c.sha256 != bindparam("hash"), blobs.c.state == "ready")


async def pin(connection: AsyncConnection, owner: str, sha256: str, size: int, now: float) -> None:
    """Note that somebody wants these bytes kept, also where they were about to be deleted."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = {"owner": owner, "sha256": sha256, "size": size, "state": "ready", "touched": now}
    later = case((blobs.c.touched > now, blobs.c.touched), else_=now)
    there = {"state": "ready", "touched": later}
    await connection.execute(
        insert(blobs).values(row).on_conflict_do_update(index_elements=["owner", "sha256"], set_=there)
    )


async def pin_within(database: Database, account: Account, sha256: str, size: int) -> None:
    """The same in a transaction of its own. Raises `BadFile` where the owner has no room for them."""
    async with database.write() as connection:
        await check_owner(connection, account, sha256, size)
        await pin(connection, account.owner, sha256, size, account.clock())


async def check_owner(connection: AsyncConnection, account: Account, sha256: str, size: int) -> None:
    """Raise `BadFile` where all files of the owner would have too many bytes."""
    if account.quotas.owner is not None:
        used = (await connection.execute(OTHERS, {"who": account.owner, "hash": sha256})).scalar_one()
        check_room("all your files", int(used), size, account.quotas.owner)


def check_conversation(there: Mapping[int, Attachment], sha256: str, size: int, quotas: Quotas) -> None:
    """Raise `BadFile` where the files of a conversation would have too many bytes."""
    if quotas.conversation is not None:
        sizes = {one.facts.sha256: one.facts.size for one in there.values() if one.facts is not None}
        sizes.pop(sha256, None)
        check_room("the files of this conversation", sum(sizes.values()), size, quotas.conversation)


def check_room(what: str, used: int, size: int, most: int) -> None:
    """Raise `BadFile` where `size` bytes more are too many."""
    if used + size > most:
        raise BadFile(
            "the file",
            f"has {spell_size(size)}, and {what} have {spell_size(used)} of the {spell_size(most)} that they may have",
            "delete files or conversations that you no longer need, then add it again",
        )


def spell_size(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / MIB:.1f} MiB" if size >= MIB else f"{size} bytes"


async def admit(
    connection: AsyncConnection, account: Account, there: Mapping[int, Attachment], fresh: Sequence[Attachment]
) -> tuple[Attachment, ...]:
    """The attachments of a message as they may be stored: one without bytes or room is stored with that problem.

    The others' bytes are held until the transaction ends and names them.
    """
    held: set[str] = set()
    for sha256 in sorted({one.facts.sha256 for one in fresh if one.facts is not None}):
        if (await connection.execute(HOLD, {"who": account.owner, "hash": sha256, "now": account.clock()})).rowcount:
            held.add(sha256)
    admitted: list[Attachment] = []
    for one in fresh:
        beside = {**there, **{other.number: other for other in admitted}} if account.quotas.conversation else there
        problem = None if one.facts is None else await refuse(connection, account, one.facts, beside)
        if one.facts is not None and one.facts.sha256 not in held:
            problem = CLEANED
        admitted.append(one if problem is None else without_bytes(one, problem))
    return tuple(admitted)


async def refuse(
    connection: AsyncConnection, account: Account, facts: Facts, there: Mapping[int, Attachment]
) -> str | None:
    """Which quota these bytes would break, in words."""
    try:
        check_conversation(there, facts.sha256, facts.size, account.quotas)
        await check_owner(connection, account, facts.sha256, facts.size)
    except BadFile as error:
        return f"{error.problem}: {error.advice}"
    return None


def without_bytes(one: Attachment, problem: str) -> Attachment:
    """The attachment with its number and name, and a problem instead of bytes; it is still spoken of as what it was."""
    return structs.replace(one, facts=None, address=None, claimed=one.media_type, corrected=None, problem=problem)
