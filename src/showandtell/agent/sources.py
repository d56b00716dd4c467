"""Finds the files of the conversation that the model cites: providers name them by place in the request, or by id."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from showandtell.core.events.types import SourceEvent, StreamEvent
from showandtell.core.messages.attachments import Address
from showandtell.core.planning.values import RenderedFile
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import iter_slots

#: Kinds of files that count as documents of a request.
DOCUMENTS = frozenset({"document", "text"})


def locate_sources(events: Sequence[StreamEvent], request: Request) -> Sequence[StreamEvent]:
    """The events with the numbers of the files that their sources name. What isn't found stays as it came."""
    for event in events:
        if type(event) is SourceEvent:
            return [_locate(event, request) if isinstance(event, SourceEvent) else event for event in events]
    return events


def _locate(event: SourceEvent, request: Request) -> SourceEvent:
    number = None
    if event.document is not None:
        documents = [file.number for file in _files(request) if file.file.kind in DOCUMENTS]
        number = documents[event.document] if 0 <= event.document < len(documents) else None
    elif event.file_id:
        number = next((file.number for file in _files(request) if _id_of(file) == event.file_id), None)
    source = event.source if number is None else replace(event.source, number=number, name="")
    return SourceEvent(event.id, source)


def _files(request: Request) -> list[RenderedFile]:
    return [slot.rendered for slot in iter_slots(request.items)]


def _id_of(file: RenderedFile) -> str | None:
    return file.file.value if isinstance(file.file, Address) else None
