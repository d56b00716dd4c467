"""Reads a complete conversation from the database with one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Integer, Text, bindparam, cast, func, literal_column, null, select, union, union_all
from sqlalchemy.sql import Executable

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.message import BranchPoint, Message
from showandtell.core.planning.values import Receipt
from showandtell.storage.conversations.access import Right, allowed, check_id, check_right, check_user, not_found
from showandtell.storage.conversations.metadata import read_metadata
from showandtell.storage.conversations.statements import select_column
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import (
    decode_in_thread,
    derivations_of,
    read_all,
    read_attachments,
    read_messages,
    read_steps,
    read_text,
)
from showandtell.storage.database.tables import attachments, conversations, derivations, intents, known, messages

T = TypeVar("T")


class State(Struct, frozen=True):
    """A complete conversation, on its current branch."""

    id: str
    owner: str
    version: int
    messages: list[Message]
    attachments: list[Attachment]
    receipts: dict[int, Receipt]
    derivations: dict[DerivationRequest, Derivative | Failed]
    started_calls: set[str]
    metadata: dict[str, Any]
    #: Nobody had its lease when it was read.
    is_free: bool = True
    #: The bytes of its records.
    size: int = 0


def empty(id: str, owner: str, metadata: dict[str, Any]) -> State:  # noqa: A002 - it is one
    """A conversation without messages."""
    return State(id, owner, 0, [], [], {}, {}, set(), metadata)


#: Occurs in the JSON of steps that have receipts, and only there (empty fields are omitted). Other steps aren't
#: decoded.
RECEIPTS = '"receipts":'


@cache
def rows_of(right: Right) -> Executable:
    """The query for all rows of a conversation that `user` has a right to. The first column is the kind of the row."""
    nothing = cast(null(), Text)

    def kind(letter: str) -> Any:
        return literal_column(f"'{letter}'", Text).label("kind")

    mine = (
        select(*(conversations.c[name] for name in ("id", "owner", "head", "version", "metadata", "lease_token")))
        .where(conversations.c.id == bindparam("id"), allowed(right))
        .cte("mine")
    )
    zero = cast(literal_column("0"), Integer)
    hashes = (
        select(attachments.c.owner, func.coalesce(attachments.c.sha256, attachments.c.address).label("sha256"))
        .join(mine, mine.c.id == attachments.c.conversation_id)
        .cte("hashes")
    )
    derived = select(derivations.c.owner, derivations.c.sha256).join(
        hashes, (derivations.c.owner == hashes.c.owner) & (derivations.c.source == hashes.c.sha256)
    )
    subjects = union(select(hashes), derived).subquery("subjects")
    return union_all(
        select(kind("c"), mine.c.version, mine.c.id, mine.c.head, mine.c.owner, mine.c.metadata),
        select(kind("f"), zero, nothing, nothing, nothing, nothing).where(mine.c.lease_token.is_(None)),
        select(kind("m"), messages.c.seq, messages.c.id, messages.c.parent_id, messages.c.record, messages.c.step).join(
            mine, mine.c.id == messages.c.conversation_id
        ),
        select(kind("a"), attachments.c.number, nothing, nothing, attachments.c.record, nothing).join(
            mine, mine.c.id == attachments.c.conversation_id
        ),
        select(kind("k"), zero, known.c.sha256, known.c.recipe, known.c.record, known.c.at).join(
            subjects, (known.c.owner == subjects.c.owner) & (known.c.sha256 == subjects.c.sha256)
        ),
        select(kind("i"), zero, intents.c.call_id, nothing, nothing, nothing).join(
            mine, mine.c.id == intents.c.conversation_id
        ),
    )


async def load(
    database: Database,
    id: str,  # noqa: A002 - it is one
    user: str,
    right: Right,
    lead: BranchPoint | None = None,
) -> State:
    """Read a conversation on its current branch, or on the branch that ends at a message.

    Raises `NotFound` if it doesn't exist or `user` lacks the right, and `StorageFailed` if the stored records
    contradict each other.
    """
    rows = await database.read(rows_of(check_right(right)), id=check_id(id), user=check_user(user))
    if lead is not None and lead.message_id is not None and all(lead.message_id != row[2] for row in rows):
        raise not_found(lead.message_id)
    state = await decode_in_thread(lambda: read_state(rows, lead), rows)
    if state is None:
        raise not_found(id)
    return state


async def read_column(
    database: Database,
    id: str,  # noqa: A002 - it is one
    user: str,
    right: Right,
    column: str,
) -> list[Row]:
    """A column of all messages that have one, in the order in which they were stored. Raises `NotFound`."""
    rows = await database.read(select_column(column, right), conversation=id, user=user)
    if not rows:
        raise not_found(id)
    return [row for row in rows if row[0] is not None]


def read_state(all_rows: Iterable[Row], lead: BranchPoint | None) -> State | None:
    """Build a conversation from its rows; None without rows."""
    rows: dict[str, list[Row]] = {"c": [], "m": [], "a": [], "k": [], "i": [], "f": []}
    for row in all_rows:
        rows[row[0]].append(row)
    if not rows["c"]:
        return None
    _, version, id, head, owner, metadata = rows["c"][0]  # noqa: A001 - it is one
    branch = branch_of({row[2]: (row, row[3]) for row in rows["m"]}, head if lead is None else lead.message_id)
    return State(
        id=id,
        owner=owner,
        version=version,
        messages=read_all(read_messages, branch, 4),
        attachments=read_all(read_attachments, sorted(rows["a"], key=number_of), 4),
        receipts=latest_receipts([row for row in branch if row[5] is not None and RECEIPTS in row[5]]),
        derivations=derivations_of(rows["k"]),
        started_calls={read_text(row[2]) for row in rows["i"]},
        metadata=read_metadata(metadata),
        is_free=bool(rows["f"]),
        size=sum(len(row[4]) for row in (*branch, *rows["a"])),
    )


def number_of(row: Row) -> int:
    """The number of an attachment."""
    return row[1]


def branch_of(items: dict[str, tuple[T, str | None]], head: str | None) -> list[T]:
    """The items up to `head`, oldest first. `items` are by id, with the ids of their parents; they are consumed.

    Raises `KeyError` if one is missing.
    """
    branch: list[T] = []
    while head is not None:
        item, head = items.pop(head)  # removed, so that a cycle raises `KeyError`
        branch.append(item)
    branch.reverse()
    return branch


def latest_receipts(rows: Sequence[Row]) -> dict[int, Receipt]:
    """The latest receipt of each file."""
    return {receipt.number: receipt for step in read_all(read_steps, rows, 5) for receipt in step.receipts}
