"""What a host gets back of its own parts: what it wrote, without the fields that it doesn't take back."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.planning.values import Entry


def returned(part: Opaque, target: Target) -> Opaque | None:
    """A part for the host that wrote it; None if it gets nothing of it."""
    if not target.wrote(part):
        return None
    if not target.refused_fields or names_of(part).isdisjoint(target.refused_fields):
        return part
    fields = msgspec.json.decode(part.text, type=dict[str, msgspec.Raw])
    kept = {} if "type" in fields else {key: raw for key, raw in fields.items() if key not in target.refused_fields}
    return msgspec.structs.replace(part, text=msgspec.json.encode(kept).decode()) if kept else None


def names_of(part: Opaque) -> frozenset[str]:
    """The names of the fields that a part holds; of a block or item, its type."""
    try:
        fields = msgspec.json.decode(part.text, type=dict[str, msgspec.Raw])
        kind = msgspec.json.decode(fields.get("type", b"null"), type=str | None)
    except msgspec.MsgspecError:
        return frozenset()
    return frozenset(fields) if kind is None else frozenset({kind})


def sent_names(entries: Iterable[Entry]) -> frozenset[str]:
    """The names of all fields in a request that are the host's own."""
    parts = (part.opaque if isinstance(part, ToolCall) else part for entry in entries for part in entry.parts)
    return frozenset(name for part in parts if isinstance(part, Opaque) for name in names_of(part))
