"""Conversions of stored files for people: existing ones are reused, new ones are stored as long as the file is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeGuard

from sqlalchemy import bindparam, func, or_, select

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.media import gate
from showandtell.media.turns import acting_for, caller
from showandtell.storage.blobs.threads import LONG_JOBS, THUMBNAIL_JOBS, DaemonThreads
from showandtell.storage.conversations.known_results import load_result, store_results
from showandtell.storage.database.garbage_collection import KNOWN_COLUMNS
from showandtell.storage.database.quotas import Account, reference_from_threads
from showandtell.storage.database.rows import derivations_of
from showandtell.storage.database.tables import derivations, known
from showandtell.storage.files.convert import WAIT_SECONDS, convert_all

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store

#: The records of some bytes, and of everything derived from them.
SELECT_DERIVATIONS = select(*KNOWN_COLUMNS).where(
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

#: Maximum number of pages of a file that are kept for people; each is about 100 kB.
MAX_KEPT_PAGES = 100
COUNT_PAGES = select(func.count()).where(
    known.c.owner == bindparam("who"), known.c.sha256 == bindparam("hash"), known.c["recipe"].like("pages?%only=%")
)


async def load_derivations(store: Store, owner: str, sha256: str) -> Derivations:
    """The derivations of an owner's bytes or address, and of everything derived from them."""
    return derivations_of(await store.database.read(SELECT_DERIVATIONS, who=owner, hash=sha256))


async def find_derivative(store: Store, owner: str, sha256: str, derived_sha256: str) -> Facts | None:
    """The facts of `derived_sha256`, if it was derived from these bytes, directly or indirectly."""
    for result in (await load_derivations(store, owner, sha256)).values():
        for facts in result.files if isinstance(result, Derivative) else ():
            if facts.sha256 == derived_sha256:
                return facts
    return None


async def convert(store: Store, owner: str, facts: Facts, conversion: str) -> Derivative | Failed:
    """A conversion of stored bytes, stored or new. A failure that may pass is tried again.

    Callers wait in their own turn, and those whose turn it is share one conversion. It completes even if callers are
    cancelled. Raises `TooBusy`.
    """
    request = DerivationRequest(facts.sha256, conversion)
    result = await load_result(store.database, owner, request)
    if is_final(result):
        return result
    user, in_lane = caller.get().owner, conversion == "thumbnail"
    gate.BUDGET.check(user)
    turns, threads = (store.thumbnail_turns, THUMBNAIL_JOBS) if in_lane else (store.conversion_turns, LONG_JOBS)
    underway, key = store.active_conversions, (owner, request)
    with acting_for(user, in_lane=in_lane):
        async with turns.awaited(user, WAIT_SECONDS) as place:
            if key in underway:  # another caller's, which may fail because that caller has too much in progress
                await asyncio.wait([underway[key]])
            result = await load_result(store.database, owner, request)
            if is_final(result):
                return result
            if key not in underway:
                underway[key] = place.keep_for(asyncio.create_task(convert_now(store, owner, facts, request, threads)))
                underway[key].add_done_callback(lambda done: finish(store, key, done))
            return await asyncio.shield(underway[key])


async def convert_page(store: Store, owner: str, facts: Facts, conversion: str) -> Derivative | Failed | None:
    """Like `convert`, for a page of a document. None if the page can't be kept, and must be drawn for each caller.

    That is if many pages of the document are kept, or the owner's quota is used up. Raises `TooBusy`.
    """
    result = await load_result(store.database, owner, DerivationRequest(facts.sha256, conversion))
    if is_final(result):
        return result
    ((count,),) = await store.database.read(COUNT_PAGES, who=owner, hash=facts.sha256)
    result = await convert(store, owner, facts, conversion) if count < MAX_KEPT_PAGES else None
    return result if is_final(result) else None


def finish(store: Store, key: tuple[str, DerivationRequest], task: asyncio.Task[Derivative | Failed]) -> None:
    """Forget a finished conversion. Its exception is retrieved here, because all callers may be gone."""
    del store.active_conversions[key]
    if not task.cancelled():
        task.exception()


def is_final(result: Derivative | Failed | None) -> TypeGuard[Derivative | Failed]:
    """Whether a result exists and needs no retry."""
    return result is not None and not (isinstance(result, Failed) and result.passing)


async def convert_now(
    store: Store, owner: str, facts: Facts, request: DerivationRequest, threads: DaemonThreads
) -> Derivative | Failed:
    """Convert in one of these threads, and store the result."""
    account = Account(owner, store.quotas, store.terms.clock)
    file_cache = store.file_cache(owner, reference_from_threads(store.database, account))
    file_cache.facts[facts.sha256] = facts
    result = (await asyncio.wrap_future(threads.submit(convert_all, [request], file_cache)))[request]
    now = store.terms.clock()
    await store.database.write(lambda connection: store_results(connection, owner, {request: result}, now))
    return result
