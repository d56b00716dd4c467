"""A conversation as it lies in the database: how records are written, and how all of them are read by one query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Integer, Text, bindparam, cast, func, literal_column, null, select, union, union_all
from sqlalchemy.sql import Executable

from showandtell.content import Message
from showandtell.delivery.values import Receipt
from showandtell.events.types import Usage
from showandtell.files import Attachment, Failed, Variant, Want
from showandtell.history.access import Right, allowed, check_id, not_found
from showandtell.history.database import Database, Row
from showandtell.history.tables import attachments, conversations, derivations, intents, known, messages

encode = msgspec.json.Encoder().encode


class Step(Struct, frozen=True, omit_defaults=True):
    """What is stored beside a model's message: the tokens it took, and the receipts that changed with it."""

    usage: Usage | None = None
    receipts: tuple[Receipt, ...] = ()


class Outcome(Struct, frozen=True):
    """A row of `Known`: exactly one of the two."""

    variant: Variant | None = None
    failed: Failed | None = None


class State(Struct, frozen=True):
    """All of a conversation, on the branch that is talked on."""

    id: str
    owner: str
    version: int
    messages: list[Message]
    attachments: list[Attachment]
    receipts: dict[int, Receipt]
    known: dict[Want, Variant | Failed]
    begun: set[str]


#: What stands in a step that has any, and in no other: most have none.
RECEIPTS = '"receipts":'

read_messages = msgspec.json.Decoder(list[Message])
read_attachments = msgspec.json.Decoder(list[Attachment])
read_steps = msgspec.json.Decoder(list[Step])
read_outcomes = msgspec.json.Decoder(list[Outcome])
read_text = msgspec.json.Decoder(str).decode


def spell(value: Struct | str) -> str:
    """A record as it is stored; as JSON, text may hold what PostgreSQL can't."""
    return encode(value).decode()


def spell_outcome(found: Variant | Failed) -> str:
    """A row of `Known` as it is stored."""
    return spell(Outcome(variant=found) if isinstance(found, Variant) else Outcome(failed=found))


@cache
def everything(right: Right) -> Executable:
    """The query for all rows of a conversation that `user` has this right to; the first column says what a row is."""
    nothing = cast(null(), Text)

    def kind(letter: str) -> Any:
        return literal_column(f"'{letter}'", Text).label("kind")

    mine = (
        select(conversations.c.id, conversations.c.owner, conversations.c.head, conversations.c.version)
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
        select(kind("c"), mine.c.version, mine.c.id, mine.c.head, mine.c.owner, nothing),
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


async def load(database: Database, id: str, user: str, right: Right) -> State:  # noqa: A002 - it is one
    """Read a conversation. Raises `NotFound` where it isn't there, or `user` has no such right."""
    rows: dict[str, list[Row]] = {"c": [], "m": [], "a": [], "k": [], "i": []}
    for row in await database.read(everything(right), id=check_id(id), user=user):
        rows[row[0]].append(row)
    if not rows["c"]:
        raise not_found(id)
    _, version, _, head, owner, _ = rows["c"][0]
    said = lead_to(rows["m"], head)
    return State(
        id=id,
        owner=owner,
        version=version,
        messages=read_messages.decode(join(said, 4)),
        attachments=read_attachments.decode(join(sorted(rows["a"], key=number_of), 4)),
        receipts=told([row for row in said if row[5] is not None and RECEIPTS in row[5]]),
        known=learnt(rows["k"]),
        begun={read_text(row[2]) for row in rows["i"]},
    )


def join(rows: Sequence[Row], column: int) -> str:
    """Records as one JSON array, which is decoded faster than each alone."""
    return f"[{','.join([row[column] for row in rows])}]"


def number_of(row: Row) -> int:
    """The number of an attachment."""
    return row[1]


def lead_to(rows: Sequence[Row], head: str | None) -> list[Row]:
    """The rows of the messages that lead to one, from the first."""
    by_id = {row[2]: row for row in rows}
    found: list[Row] = []
    while head is not None:
        found.append(by_id[head])
        head = found[-1][3]
    found.reverse()
    return found


def told(rows: Sequence[Row]) -> dict[int, Receipt]:
    """What the model was last given of each file."""
    return {receipt.number: receipt for step in read_steps.decode(join(rows, 5)) for receipt in step.receipts}


def learnt(rows: Sequence[Row]) -> dict[Want, Variant | Failed]:
    """Conversions, uploads and rejections."""
    outcomes = read_outcomes.decode(join(rows, 4))
    return {
        Want(row[2], row[3], row[5] or None): found
        for row, outcome in zip(rows, outcomes, strict=True)
        if (found := outcome.variant or outcome.failed) is not None
    }
