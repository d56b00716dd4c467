"""Conversions of a stored file for people: what is known is taken, what is made is kept for as long as the file is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeGuard

from sqlalchemy import bindparam, or_, select

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.storage.conversations.known_results import store_known
from showandtell.storage.database.garbage_collection import ROW
from showandtell.storage.database.quotas import Account, reference_from_threads
from showandtell.storage.database.rows import derivations_of
from showandtell.storage.database.tables import derivations, known
from showandtell.storage.files.convert import load_now

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store

#: What was learnt of some bytes, and of what was made of them.
SELECT_DERIVATIONS = select(*ROW).where(
    known.c.owner == bindparam("who"),
    or_(
        known.c.sha256 == bindparam("hash"),
        known.c.sha256.in_(
            select(derivations.c.sha256).where(
                derivations.c.owner == bindparam("who"), derivations.c.source == bindparam("hash")
            )
        ),
    ),
)


async def known_of(store: Store, owner: str, sha256: str) -> Derivations:
    """What is known of an owner's bytes, or of an address, and of what was made of them."""
    return derivations_of(await store.database.read(SELECT_DERIVATIONS, who=owner, hash=sha256))


async def find_variant(store: Store, owner: str, sha256: str, made: str) -> Facts | None:
    """The bytes of a hash `made`, if they were made of these, or of what was made of these."""
    for found in (await known_of(store, owner, sha256)).values():
        for facts in found.files if isinstance(found, Derivative) else ():
            if facts.sha256 == made:
                return facts
    return None


async def convert(store: Store, owner: str, facts: Facts, recipe: str) -> Derivative | Failed:
    """A conversion of stored bytes, as it is known, or made now and kept; a failure that may pass is tried again.

    It is made once for all who ask meanwhile, and to its end, whoever of them leaves.
    """
    want = DerivationRequest(facts.sha256, recipe)
    found = (await known_of(store, owner, facts.sha256)).get(want)
    if is_final(found):
        return found
    underway, key = store.underway, (owner, want)
    if key not in underway:
        underway[key] = task = asyncio.create_task(make_in_turn(store, owner, facts, want))
        task.add_done_callback(lambda done: finish(store, key, done))
    return await asyncio.shield(underway[key])


def finish(store: Store, key: tuple[str, DerivationRequest], done: asyncio.Task[Derivative | Failed]) -> None:
    """Forget what is done; where all have left who asked for it, nobody else looks at its error."""
    del store.underway[key]
    if not done.cancelled():
        done.exception()


async def make_in_turn(store: Store, owner: str, facts: Facts, want: DerivationRequest) -> Derivative | Failed:
    """A conversion, when there is room for one more; while it waits, another process may make it."""
    async with store.making:
        found = (await known_of(store, owner, facts.sha256)).get(want)
        return found if is_final(found) else await make(store, owner, facts, want)


def is_final(found: Derivative | Failed | None) -> TypeGuard[Derivative | Failed]:
    """Whether what is known needs no further try."""
    return found is not None and not (isinstance(found, Failed) and found.passing)


async def make(store: Store, owner: str, facts: Facts, want: DerivationRequest) -> Derivative | Failed:
    """Convert now, and keep what it gave."""
    account = Account(owner, store.quotas, store.terms.clock)
    file_cache = store.file_cache(owner, reference_from_threads(store.database, account))
    file_cache.facts[facts.sha256] = facts
    found = (await asyncio.to_thread(load_now, [want], file_cache))[want]
    now = store.terms.clock()
    await store.database.write(lambda connection: store_known(connection, owner, {want: found}, now))
    return found
