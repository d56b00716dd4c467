"""Stores the results of conversions, uploads and rejections, and which bytes were derived from which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from sqlalchemy import Connection, bindparam, delete, select

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.storage.database.database import Database
from showandtell.storage.database.quotas import reserve
from showandtell.storage.database.rows import read_all, read_outcomes, serialize_outcome
from showandtell.storage.database.tables import attachments, derivations, known
from showandtell.storage.database.upserts import upsert

KEY = ("owner", "sha256", "recipe", "at")
SELECT_KNOWN = select(known.c.record).where(*(known.c[name] == bindparam(f"_{name}") for name in KEY))
DELETE_KNOWN = delete(known).where(*(known.c[name] == bindparam(f"_{name}") for name in KEY))
SELECT_ADDRESSES = select(attachments.c.address).where(
    attachments.c.owner == bindparam("who"), attachments.c.address.in_(bindparam("hashes", expanding=True))
)


def key_of(owner: str, request: DerivationRequest) -> dict[str, str]:
    """The key columns of a request."""
    return {"owner": owner, "sha256": request.sha256, "recipe": request.conversion, "at": request.scope or ""}


async def load_result(database: Database, owner: str, request: DerivationRequest) -> Derivative | Failed | None:
    """The stored result of a request; None if there is none."""
    key = {f"_{name}": value for name, value in key_of(owner, request).items()}
    outcomes = read_all(read_outcomes, await database.read(SELECT_KNOWN, **key), 0)
    return next((outcome.derivative or outcome.failed for outcome in outcomes), None)


def store_results(connection: Connection, owner: str, results: Derivations, now: float) -> None:
    """Store results for files that still exist. Derived bytes are kept as long as their source.

    For deleted files only uploads are stored, because they still have to be deleted at the provider.
    """
    pins = Counter(facts.sha256 for result in results.values() for facts in files_of(result))
    for request in results:
        pins[request.sha256] += 0
    # Lock blobs before results, as garbage collection does, so that they can't deadlock.
    reserved = reserve(connection, owner, pins, now)
    missing = {request.sha256 for request in results} - reserved
    if missing:
        rows = connection.execute(SELECT_ADDRESSES, {"who": owner, "hashes": sorted(missing)})
        reserved |= {row[0] for row in rows}
    stored = {
        request: results[request]
        for request in sorted(results, key=sort_key)
        if is_worth_storing(request, results[request], reserved)
    }
    store_derivations(connection, owner, stored)
    if stored:
        fresh = upsert(connection, known)
        insert = fresh.on_conflict_do_update(index_elements=KEY, set_={"record": fresh.excluded.record})
        rows = [{**key_of(owner, request), "record": serialize_outcome(result)} for request, result in stored.items()]
        connection.execute(insert, rows)


def files_of(result: Derivative | Failed) -> tuple[Facts, ...]:
    """The files of a conversion's result."""
    return result.files if isinstance(result, Derivative) else ()


def is_worth_storing(request: DerivationRequest, result: Derivative | Failed, reserved: AbstractSet[str]) -> bool:
    """Whether to store a result: its source and its files still exist, or it is an upload."""
    if isinstance(result, Derivative) and result.file_id is not None:
        return True
    return request.sha256 in reserved and all(facts.sha256 in reserved for facts in files_of(result))


def sort_key(request: DerivationRequest) -> tuple[str, str, str]:
    """Rows are written in one order, so that transactions can't deadlock."""
    return (request.sha256, request.conversion, request.scope or "")


def store_derivations(connection: Connection, owner: str, stored: Derivations) -> None:
    """Store which bytes were derived from which."""
    rows = [
        {"owner": owner, "sha256": facts.sha256, "source": request.sha256, "recipe": request.conversion}
        for request, result in stored.items()
        for facts in files_of(result)
        if facts.sha256 != request.sha256
    ]
    if rows:
        connection.execute(upsert(connection, derivations).on_conflict_do_nothing(), rows)


def delete_results(connection: Connection, owner: str, requests: Iterable[DerivationRequest]) -> None:
    """Delete outdated results."""
    keys = [key_of(owner, request) for request in sorted(requests, key=sort_key)]
    connection.execute(DELETE_KNOWN, [{f"_{name}": value for name, value in key.items()} for key in keys])
