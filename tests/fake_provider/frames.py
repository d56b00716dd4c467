"""Parse a streamed response into events and serialize it again, so that faults can change events.

A form is the encoding of events: server-sent ("sse", and "crlf" with Google's line ends), AWS's frames ("frames"), or
Claude's events inside AWS's frames ("chunks").
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import msgspec

from showandtell.core.wire.aws_eventstream import Splitter, encode

Form: TypeAlias = Literal["sse", "crlf", "frames", "chunks"]
Data: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
BLANK = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True)
class Event:
    """An event: its JSON and its name, or its bytes as `raw` if it isn't JSON."""

    data: Data | None = None
    name: str = ""
    raw: bytes = b""


def find_form(base: str, media_type: str) -> Form | None:
    """The form of a host's stream. None if the response is not a stream."""
    if media_type.startswith("application/vnd.amazon.eventstream"):
        return "frames" if base == "bedrock" else "chunks"
    if media_type.startswith("text/event-stream"):
        return "crlf" if base in {"google", "vertex"} else "sse"
    return None


def read_events(body: bytes, form: Form) -> list[Event]:
    """All events of a stream."""
    if form in {"frames", "chunks"}:
        return [Event(msgspec.json.decode(text)) for text in Splitter().feed(body)]
    return [_read_block(block) for block in BLANK.split(body) if block]


def _read_block(block: bytes) -> Event:
    fields = dict(line.split(b": ", 1) for line in block.splitlines() if not line.startswith(b":"))
    data = fields.get(b"data", b"")
    return (
        Event(msgspec.json.decode(data), fields.get(b"event", b"").decode()) if data[:1] == b"{" else Event(raw=block)
    )


def write_events(events: Iterable[Event], form: Form) -> bytes:
    return b"".join(write_event(event, form) for event in events)


def write_event(event: Event, form: Form) -> bytes:
    """Serialize an event."""
    if event.data is None:
        return event.raw if form in {"frames", "chunks"} else event.raw + _end(form)
    return write_payload(event, msgspec.json.encode(_inner(event, form)), form)


def write_payload(event: Event, payload: bytes, form: Form) -> bytes:
    """Serialize an event with other bytes instead of its JSON."""
    match form:
        case "frames":
            return encode(next(iter(event.data or {"": 0})), payload)
        case "chunks":
            return encode("chunk", msgspec.json.encode({"bytes": base64.b64encode(payload).decode()}))
        case "sse" | "crlf":
            name = b"event: %b\n" % event.name.encode() if event.name else b""
            return name + b"data: " + payload + _end(form)


def inner_of(event: Event, form: Form) -> bytes:
    """The JSON text of an event in its frame."""
    return msgspec.json.encode(_inner(event, form))


def _inner(event: Event, form: Form) -> Any:
    """AWS's frames have the type of an event in the headers."""
    return next(iter((event.data or {}).values())) if form == "frames" else event.data


def _end(form: Form) -> bytes:
    return b"\r\n\r\n" if form == "crlf" else b"\n\n"


def find(data: Any, path: Path) -> Any:
    """The value at a path, or None."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def put(data: Any, path: Path, value: Any) -> Any:
    """A copy of the JSON with another value at a path."""
    if not path:
        return value
    step, *rest = path
    items = enumerate(data) if isinstance(data, list) else data.items()
    changed = {key: put(item, tuple(rest), value) if key == step else item for key, item in items}
    if isinstance(data, list):
        return list(changed.values())
    return changed if step in changed else {**changed, step: put({}, tuple(rest), value)}


def change(events: Sequence[Event], path: Path, value: Any) -> list[Event]:
    """Put a value into each event that has the path."""
    return [
        event if find(event.data, path) is None else replace(event, data=put(event.data, path, value))
        for event in events
    ]


def keep_first(
    events: Sequence[Event], key: Callable[[Data], Hashable | None], renew: Callable[[Data], Mapping[str, Any]]
) -> list[Event]:
    """Keep only the first event for each key, changed by `renew`. Events without a key stay."""
    result: list[Event] = []
    seen_keys: set[Hashable] = set()
    for event in events:
        event_key = key(event.data) if event.data is not None else None
        if event_key is None:
            result.append(event)
        elif event_key not in seen_keys:
            seen_keys.add(event_key)
            result.append(replace(event, data=dict(renew(event.data or {}))))
    return result
