"""A streamed answer as a list of events and back again, so that a fault can change what a house has spelled.

A form is how the events lie in the bytes: server-sent ("sse", and "crlf" with Google's line ends), AWS's frames
("frames"), or Claude's events in frames of their own ("chunks").
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
    """One event: its JSON, and the name that stands beside it; or `raw`, where it is none, bytes as they are sent."""

    data: Data | None = None
    name: str = ""
    raw: bytes = b""


def find_form(base: str, media_type: str) -> Form | None:
    """The form of a house's stream; None where an answer is none."""
    if media_type.startswith("application/vnd.amazon.eventstream"):
        return "frames" if base == "bedrock" else "chunks"
    if media_type.startswith("text/event-stream"):
        return "crlf" if base in {"google", "vertex"} else "sse"
    return None


def read_events(body: bytes, form: Form) -> list[Event]:
    """The events of a whole stream."""
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
    """One event as it is sent."""
    if event.data is None:
        return event.raw if form in {"frames", "chunks"} else event.raw + _end(form)
    return write_payload(event, msgspec.json.encode(_inner(event, form)), form)


def write_payload(event: Event, payload: bytes, form: Form) -> bytes:
    """The same event with other bytes in the place of its JSON."""
    match form:
        case "frames":
            return encode(next(iter(event.data or {"": 0})), payload)
        case "chunks":
            return encode("chunk", msgspec.json.encode({"bytes": base64.b64encode(payload).decode()}))
        case "sse" | "crlf":
            name = b"event: %b\n" % event.name.encode() if event.name else b""
            return name + b"data: " + payload + _end(form)


def inner_of(event: Event, form: Form) -> bytes:
    """The JSON text of an event, as it stands in its frame."""
    return msgspec.json.encode(_inner(event, form))


def _inner(event: Event, form: Form) -> Any:
    """In AWS's frames the kind of an event stands in the headers."""
    return next(iter((event.data or {}).values())) if form == "frames" else event.data


def _end(form: Form) -> bytes:
    return b"\r\n\r\n" if form == "crlf" else b"\n\n"


def find(data: Any, path: Path) -> Any:
    """What lies at a path; None where it ends before."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def put(data: Any, path: Path, value: Any) -> Any:
    """The same JSON with another value at a path."""
    if not path:
        return value
    step, *rest = path
    items = enumerate(data) if isinstance(data, list) else data.items()
    changed = {key: put(item, tuple(rest), value) if key == step else item for key, item in items}
    if isinstance(data, list):
        return list(changed.values())
    return changed if step in changed else {**changed, step: put({}, tuple(rest), value)}


def change(events: Sequence[Event], path: Path, value: Any) -> list[Event]:
    """Put a value wherever the path exists."""
    return [
        event if find(event.data, path) is None else replace(event, data=put(event.data, path, value))
        for event in events
    ]


def keep_first(
    events: Sequence[Event], key: Callable[[Data], Hashable | None], renew: Callable[[Data], Mapping[str, Any]]
) -> list[Event]:
    """Of the events with one key only the first stays, renewed; those without a key all stay as they are."""
    kept: list[Event] = []
    met: set[Hashable] = set()
    for event in events:
        mark = key(event.data) if event.data is not None else None
        if mark is None:
            kept.append(event)
        elif mark not in met:
            met.add(mark)
            kept.append(replace(event, data=dict(renew(event.data or {}))))
    return kept
