"""Converts messages, files and derivations to database rows and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from sqlalchemy import ColumnElement, Executable, bindparam

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.planning.step_record import Step
from showandtell.errors import StorageFailed
from showandtell.storage.database.database import Database, Row

T = TypeVar("T")

#: How many records are decoded at a time. Larger sets are decoded in a thread.
BATCH = 500
#: Values in a query of `read_any`. With two sizes there are few queries to compile.
FEW, MANY = 40, 200
#: Characters of a name by which files are sorted: an index holds no more than a few kilobytes of each row.
MAX_SORTED = 100

encode = msgspec.json.Encoder().encode


class Outcome(Struct, frozen=True):
    """The record of a `known` row. Exactly one field is set."""

    # Stored records call it `variant`.
    derivative: Derivative | None = field(default=None, name="variant")
    failed: Failed | None = None


read_messages = msgspec.json.Decoder(list[Message])
read_attachments = msgspec.json.Decoder(list[Attachment])
read_steps = msgspec.json.Decoder(list[Step])
read_outcomes = msgspec.json.Decoder(list[Outcome])
read_text = msgspec.json.Decoder(str).decode


def serialize(value: Struct | str) -> str:
    """A record as JSON, which can hold text that PostgreSQL's text type can't."""
    return encode(value).decode()


def serialize_outcome(outcome: Derivative | Failed) -> str:
    """The record of a `known` row."""
    return serialize(Outcome(derivative=outcome) if isinstance(outcome, Derivative) else Outcome(failed=outcome))


def row_of(message: Message, conversation_id: str, seq: int, now: float, step: Step | None = None) -> dict[str, Any]:
    """The row of a message; `now` is in epoch seconds."""
    return {
        "conversation_id": conversation_id,
        "seq": seq,
        "id": message.id,
        "parent_id": message.parent_id,
        "created": now,
        "record": serialize(message),
        "step": None if step is None else serialize(step),
    }


def row_of_file(file: Attachment, conversation_id: str, owner: str) -> dict[str, Any]:
    """The columns of table `attachments`."""
    return {
        "id": file.id,
        "conversation_id": conversation_id,
        "owner": owner,
        "number": file.number,
        "sha256": file.facts.sha256 if file.facts else None,
        "address": file.address.sha256 if file.address else None,
        "state": file.state,
        "record": serialize(file),
        "words": searchable(f"{file.name} {file.description or ''}"),
        "media_type": searchable(file.media_type),
        "date": searchable(file.date),
        "size": file.facts.size if file.facts else None,
        "name": searchable(file.name)[:MAX_SORTED],
    }


def row_of_new_file(file: Attachment, conversation_id: str, owner: str, now: float) -> dict[str, Any]:
    """The same for a file that is added now (epoch seconds), or was on the day of its date."""
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")[:-6]
    added = moment if moment.startswith(file.date) else searchable(file.date)
    return {**row_of_file(file, conversation_id, owner), "added": added}


def searchable(text: str) -> str:
    """Text in lower case, without what PostgreSQL's text type can't hold."""
    return text.lower().replace("\0", " ").encode(errors="replace").decode()


async def decode_in_thread(decode: Callable[[], T], rows: Sequence[Row]) -> T:
    """Decode rows, in a thread if there are many. Raises `StorageFailed` for damaged records."""
    try:
        return await asyncio.to_thread(decode) if len(rows) > BATCH else decode()
    except (KeyError, msgspec.DecodeError) as error:
        raise StorageFailed(f"a stored conversation is damaged ({error}): restore it from a backup") from error


def read_all(decoder: msgspec.json.Decoder[list[T]], rows: Sequence[Row], column: int) -> list[T]:
    """The records in a column. Decoding in batches is faster than one by one, and lets other threads run in between."""
    records: list[T] = []
    for start in range(0, len(rows), BATCH):
        records += decoder.decode(join_records(rows[start : start + BATCH], column))
    return records


def join_records(rows: Sequence[Row], column: int) -> str:
    """Records as one JSON array."""
    return f"[{','.join([row[column] for row in rows])}]"


def any_of(column: ColumnElement[str], count: int) -> ColumnElement[bool]:
    """Whether a column is one of this many values of `read_any`."""
    return column.in_([bindparam(f"any{index}") for index in range(count)])


async def read_any(
    database: Database, select: Callable[[int], Executable], values: Sequence[str], **parameters: object
) -> list[Row]:
    """The rows for any of these values. `select` makes the query for a number of values, with `any_of`; cache it."""
    rows: list[Row] = []
    for start in range(0, len(values), MANY):
        some = values[start : start + MANY]
        count = FEW if len(some) <= FEW else MANY
        padded = {f"any{index}": some[min(index, len(some) - 1)] for index in range(count)}
        rows += await database.read(select(count), **padded, **parameters)
    return rows


def derivations_of(rows: Sequence[Row]) -> dict[DerivationRequest, Derivative | Failed]:
    """Conversions, uploads and rejections from their rows."""
    outcomes = read_all(read_outcomes, rows, 4)
    return {
        DerivationRequest(row[2], row[3], row[5] or None): result
        for row, outcome in zip(rows, outcomes, strict=True)
        if (result := outcome.derivative or outcome.failed) is not None
    }
