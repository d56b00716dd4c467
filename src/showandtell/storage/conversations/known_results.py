"""Rows of what conversions, uploads and rejections taught, and of which bytes were converted from which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from sqlalchemy import Connection, bindparam, delete, select

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.storage.database.quotas import reserve
from showandtell.storage.database.rows import serialize_outcome
from showandtell.storage.database.tables import attachments, derivations, known, upsert

KEY = ("owner", "sha256", "recipe", "at")
DELETE_KNOWN = delete(known).where(*(known.c[name] == bindparam(f"_{name}") for name in KEY))
SELECT_ADDRESSES = select(attachments.c.address).where(
    attachments.c.owner == bindparam("who"), attachments.c.address.in_(bindparam("hashes", expanding=True))
)


def key_of(owner: str, want: DerivationRequest) -> dict[str, str]:
    """The columns that a want is found by."""
    return {"owner": owner, "sha256": want.sha256, "recipe": want.conversion, "at": want.at or ""}


def store_known(connection: Connection, owner: str, news: Derivations, now: float) -> None:
    """Store what was learnt of files that are still there; converted bytes stay for as long as their source does.

    Of a file that was deleted meanwhile nothing is kept but its uploads, for they have to be deleted, too.
    """
    pins = Counter(facts.sha256 for found in news.values() for facts in made_by(found))
    for want in news:
        pins[want.sha256] += 0
    # First the bytes, then what is known of them: so does who deletes them, and neither waits for the other for ever.
    held = reserve(connection, owner, pins, now)
    gone = {want.sha256 for want in news} - held
    if gone:
        rows = connection.execute(SELECT_ADDRESSES, {"who": owner, "hashes": sorted(gone)})
        held |= {row[0] for row in rows}
    stored = {want: news[want] for want in sorted(news, key=spell_key) if holds(want, news[want], held)}
    derive(connection, owner, stored)
    if stored:
        fresh = upsert(connection, known)
        insert = fresh.on_conflict_do_update(index_elements=KEY, set_={"record": fresh.excluded.record})
        rows = [{**key_of(owner, want), "record": serialize_outcome(found)} for want, found in stored.items()]
        connection.execute(insert, rows)


def made_by(found: Derivative | Failed) -> tuple[Facts, ...]:
    """The files that a conversion gave."""
    return found.files if isinstance(found, Derivative) else ()


def holds(want: DerivationRequest, found: Derivative | Failed, held: AbstractSet[str]) -> bool:
    """Whether something that was learnt is worth keeping: its subject and its bytes are there, or it is an upload."""
    if isinstance(found, Derivative) and found.file_id is not None:
        return True
    return want.sha256 in held and all(facts.sha256 in held for facts in made_by(found))


def spell_key(want: DerivationRequest) -> tuple[str, str, str]:
    """Rows are written in one order by all, so that no two transactions wait for each other."""
    return (want.sha256, want.conversion, want.at or "")


def derive(connection: Connection, owner: str, stored: Derivations) -> None:
    """Note which bytes were made of which."""
    rows = [
        {"owner": owner, "sha256": facts.sha256, "source": want.sha256, "recipe": want.conversion}
        for want, found in stored.items()
        for facts in made_by(found)
        if facts.sha256 != want.sha256
    ]
    if rows:
        connection.execute(upsert(connection, derivations).on_conflict_do_nothing(), rows)


def drop_known(connection: Connection, owner: str, wants: Iterable[DerivationRequest]) -> None:
    """Delete what holds no more."""
    keys = [key_of(owner, want) for want in sorted(wants, key=spell_key)]
    connection.execute(DELETE_KNOWN, [{f"_{name}": value for name, value in key.items()} for key in keys])
