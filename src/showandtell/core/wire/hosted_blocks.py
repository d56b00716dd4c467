"""Blocks of tools that a provider runs itself, and blocks of unknown types, as every API's parser keeps them."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import BlockRead, StreamEvent
from showandtell.core.messages.parts import HostedBlock, HostedState

Fields: TypeAlias = dict[str, Any]
#: Maximum characters of a text, and items of a list, in what people see of a block. The block itself is kept whole.
MAX_TEXT, MAX_ITEMS = 4_000, 50
#: Maximum levels of what people see.
MAX_LEVELS = 6
#: Starts of the names of fields that only the provider can read.
PRIVATE = ("encrypted", "signature", "thoughtSignature", "obfuscation")


def hosted_block(
    block: Fields, call_id: str, tool: str, *, given: object = None, output: object = None, state: HostedState = "done"
) -> HostedBlock:
    """A block, with its input and output for people."""
    return HostedBlock("", to_json(block), call_id, tool, for_people(given), for_people(output), state)


def read_block(block: HostedBlock, calls: HostedCalls, events: list[StreamEvent]) -> None:
    """Append the events of a complete block."""
    events += (BlockRead(block), calls.follow(block))


def for_people(value: object) -> str:
    """A value as JSON for people, without what only the provider can read; empty for None and empty values."""
    return "" if value in (None, "", {}, []) else to_json(_readable(value, MAX_LEVELS))


def parsed(text: str) -> object:
    """The value of a JSON text, or the text itself if it isn't JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def to_json(value: object) -> str:
    """JSON text of a plain value."""
    return msgspec.json.encode(value).decode()


def _readable(value: object, levels: int) -> object:
    match value:
        case str():
            return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… ({len(value) - MAX_TEXT} more characters)"
        case dict() | list() if levels == 0:
            return "…"
        case dict():
            fields = cast("Fields", value).items()
            return {name: _readable(item, levels - 1) for name, item in fields if not name.startswith(PRIVATE)}
        case list():
            items = cast("list[object]", value)
            more = [f"… ({len(items) - MAX_ITEMS} more)"] if len(items) > MAX_ITEMS else []
            return [*(_readable(item, levels - 1) for item in items[:MAX_ITEMS]), *more]
        case _:
            return value
