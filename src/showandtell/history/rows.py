"""Messages and files as rows of their tables."""

from __future__ import annotations

from typing import Any

from showandtell.content import Message
from showandtell.files import Attachment
from showandtell.history.loading import spell
from showandtell.steps import Step


def row_of(message: Message, conversation_id: str, seq: int, now: float, step: Step | None = None) -> dict[str, Any]:
    """The row of a message; `now` is in epoch seconds."""
    return {
        "conversation_id": conversation_id,
        "seq": seq,
        "id": message.id,
        "parent_id": message.parent_id,
        "created": now,
        "record": spell(message),
        "step": None if step is None else spell(step),
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
        "record": spell(one),
    }
