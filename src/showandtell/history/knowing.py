"""Rows of what conversions, uploads and rejections taught, and of which bytes were converted from which."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from sqlalchemy import bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from showandtell.files import Facts, Known, Variant, Want
from showandtell.history.loading import spell_outcome
from showandtell.history.pinning import HOLD, pin
from showandtell.history.tables import derivations, known

KEY = ("owner", "sha256", "recipe", "at")
FORGET = delete(known).where(*(known.c[name] == bindparam(f"_{name}") for name in KEY))


def key_of(owner: str, want: Want) -> dict[str, str]:
    """The columns that a want is found by."""
    return {"owner": owner, "sha256": want.sha256, "recipe": want.recipe, "at": want.at or ""}


async def store_known(connection: AsyncConnection, owner: str, news: Known, now: float) -> None:
    """Store what was learnt; converted bytes are noted as such, and stay for as long as their source does."""
    made = {(facts, want) for want, found in news.items() if isinstance(found, Variant) for facts in found.files}
    # First the bytes, then what is known of them: so does who deletes them, and neither waits for the other for ever.
    await derive(connection, owner, {(facts, want) for facts, want in made if facts.sha256 != want.sha256}, now)
    fresh = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(known)
    upsert = fresh.on_conflict_do_update(index_elements=KEY, set_={"record": fresh.excluded.record})
    rows = [{**key_of(owner, want), "record": spell_outcome(news[want])} for want in sorted(news, key=spell_key)]
    await connection.execute(upsert, rows)


def spell_key(want: Want) -> tuple[str, str, str]:
    """Rows are written in one order by all, so that no two transactions wait for each other."""
    return (want.sha256, want.recipe, want.at or "")


async def derive(connection: AsyncConnection, owner: str, made: AbstractSet[tuple[Facts, Want]], now: float) -> None:
    """Note which bytes were made of which, where their source is still stored."""
    fresh = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(derivations)
    sizes = {facts.sha256: facts.size for facts, _ in made}
    held: set[str] = set()
    for sha256 in sorted({*sizes, *(want.sha256 for _, want in made)}):
        if sha256 in sizes:
            await pin(connection, owner, sha256, sizes[sha256], now)
        if (await connection.execute(HOLD, {"who": owner, "hash": sha256, "now": now})).rowcount:
            held.add(sha256)
    for facts, want in made:
        if want.sha256 in held:
            row = {"owner": owner, "sha256": facts.sha256, "source": want.sha256, "recipe": want.recipe}
            await connection.execute(fresh.values(row).on_conflict_do_nothing())


async def drop_known(connection: AsyncConnection, owner: str, wants: Iterable[Want]) -> None:
    """Delete what holds no more."""
    keys = [key_of(owner, want) for want in sorted(wants, key=spell_key)]
    await connection.execute(FORGET, [{f"_{name}": value for name, value in key.items()} for key in keys])
