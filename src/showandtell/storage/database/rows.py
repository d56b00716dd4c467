"""Messages, files and what is known of them as rows of their tables: how records are written and read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.messages import Message
from showandtell.core.planning.step import Step
from showandtell.errors import StorageFailed
from showandtell.storage.database.database import Row

T = TypeVar("T")

#: So many records are decoded at a time, and more of them in a thread.
SOME = 500

encode = msgspec.json.Encoder().encode


class Outcome(Struct, frozen=True):
    """A row of `Known`: exactly one of the two."""

    variant: Derivative | None = None
    failed: Failed | None = None


read_messages = msgspec.json.Decoder(list[Message])
read_attachments = msgspec.json.Decoder(list[Attachment])
read_steps = msgspec.json.Decoder(list[Step])
read_outcomes = msgspec.json.Decoder(list[Outcome])
read_text = msgspec.json.Decoder(str).decode


def serialize(value: Struct | str) -> str:
    """A record as it is stored; as JSON, text may hold what PostgreSQL can't."""
    return encode(value).decode()


def serialize_outcome(found: Derivative | Failed) -> str:
    """A row of `Known` as it is stored."""
    return serialize(Outcome(variant=found) if isinstance(found, Derivative) else Outcome(failed=found))


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


def row_of_file(one: Attachment, conversation_id: str, owner: str) -> dict[str, Any]:
    """The row of a file."""
    return {
        "id": one.id,
        "conversation_id": conversation_id,
        "owner": owner,
        "number": one.number,
        "sha256": one.facts.sha256 if one.facts else None,
        "address": one.address.sha256 if one.address else None,
        "state": one.state,
        "record": serialize(one),
    }


async def decode_in_thread(decode: Callable[[], T], rows: Sequence[Row]) -> T:
    """Decode rows: many in a thread, for others to go on. Raises `StorageFailed` where they can't be."""
    try:
        return await asyncio.to_thread(decode) if len(rows) > SOME else decode()
    except (KeyError, msgspec.DecodeError) as error:
        raise StorageFailed(f"a stored conversation is damaged ({error}): restore it from a backup") from error


def read_all(decoder: msgspec.json.Decoder[list[T]], rows: Sequence[Row], column: int) -> list[T]:
    """The records in a column. Many at once are decoded faster than each alone; other threads go on after every few."""
    found: list[T] = []
    for start in range(0, len(rows), SOME):
        found += decoder.decode(join(rows[start : start + SOME], column))
    return found


def join(rows: Sequence[Row], column: int) -> str:
    """Records as one JSON array."""
    return f"[{','.join([row[column] for row in rows])}]"


def derivations_of(rows: Sequence[Row]) -> dict[DerivationRequest, Derivative | Failed]:
    """Conversions, uploads and rejections."""
    outcomes = read_all(read_outcomes, rows, 4)
    return {
        DerivationRequest(row[2], row[3], row[5] or None): found
        for row, outcome in zip(rows, outcomes, strict=True)
        if (found := outcome.variant or outcome.failed) is not None
    }
