"""Requests: one tree, read as segments for the network, as JSON, as an SDK's arguments, and by an error's path.

Fragments of entries are kept by (target, entry), both equal by value, so nothing is ever invalidated. A body is never
joined: files are read and encoded in pieces while it is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import msgspec
import pybase64

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.conversions import encoded
from showandtell.core.planning.values import Entry, Plan, Receipt, RenderedFile
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.renderers import APIS, Api
from showandtell.core.wire.tree import Segment, Slot, Tree, locate, segments, values
from showandtell.errors import CannotRender

OPEN_SCHEMA = '{"type":"object"}'
#: A multiple of 3, so that base64 of the pieces is base64 of the whole; small, so that both stay in the cache.
PIECE = 192 * 1024


@dataclass(frozen=True, slots=True)
class Fragment:
    """The wire messages of one entry: as trees, as segments without the commas around them, and their size in bytes."""

    items: tuple[Tree, ...]
    segments: tuple[Segment, ...]
    size: int


#: So many entries in a row are kept as one fragment too: a long conversation changes at its end alone.
RUN = 16
Fragments: TypeAlias = MutableMapping[tuple[Target, Entry | tuple[Entry, ...], bool], Fragment]


def measure(parts: tuple[Segment, ...]) -> int:
    """The bytes that segments come to on the wire."""
    return sum(len(part) if isinstance(part, bytes) else encoded(part.size) for part in parts)


def fragment(items: tuple[Tree, ...]) -> Fragment:
    """Encode wire messages once."""
    pieces = segments(items)
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        inner: tuple[Segment, ...] = (_bytes(first)[1:-1],)
    else:
        inner = (_bytes(first)[1:], *pieces[1:-1], _bytes(last)[:-1])
    return Fragment(items, inner, measure(inner))


def _bytes(piece: Segment) -> bytes:
    if not isinstance(piece, bytes):
        raise CannotRender("a body begins and ends with JSON")
    return piece


@dataclass(frozen=True)
class Request:
    """One request, ready to be read in any of four ways. `size` is the exact length of the body in bytes."""

    target: Target
    options: Options
    plan: Plan
    head: dict[str, Tree]
    fragments: tuple[Fragment, ...]
    segments: tuple[Segment, ...]
    size: int
    blobs: Blobs

    @property
    def api(self) -> Api:
        """The wire module."""
        return APIS[self.target.api]

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """What the model is given of each file, and why."""
        return self.plan.receipts

    def chunks(self) -> Iterator[bytes]:
        """The body in pieces, files read and encoded as they are asked for. Raises `FileChanged`."""
        for segment in self.segments:
            if isinstance(segment, bytes):
                yield segment
            else:
                for piece in self.blobs.chunks(segment, PIECE):
                    yield pybase64.b64encode(piece)

    async def body(self) -> AsyncIterator[bytes]:
        """The same, for an HTTP client; call it anew for each try."""
        for piece in self.chunks():
            yield piece

    @cached_property
    def items(self) -> tuple[Tree, ...]:
        """Every wire message in order, as trees."""
        return tuple(item for fragment in self.fragments for item in fragment.items)

    def json(self) -> dict[str, Any]:
        """The REST body as Python values."""
        return msgspec.json.decode(b"".join(self.chunks()))

    def kwargs(self) -> dict[str, Any]:
        """What the provider's own SDK takes: `client.messages.create(**request.kwargs())` and its likes."""
        tree: Tree = {**self.head, self.api.LIST: self.items}
        leaf = self._raw if self.api.RAW_BYTES else self._text
        return self.api.kwargs(values(tree, leaf), self.target, self.options)

    def locate(self, path: str) -> tuple[RenderedFile, ...]:
        """The files that an API's error path means: `messages.3.content.1`, `input[3].output[0]`."""
        return locate({**self.head, self.api.LIST: self.items}, path)

    def _raw(self, slot: Slot) -> object:
        file = slot.placed.file
        return file.value if isinstance(file, Address) else self.blobs.read(file)

    def _text(self, slot: Slot) -> object:
        file = slot.placed.file
        if isinstance(file, Address):
            return file.value
        return slot.before + pybase64.b64encode_as_string(self.blobs.read(file))


def compose(plan: Plan, target: Target, options: Options, fragments: Fragments, blobs: Blobs) -> Request:
    """Spell a plan for its target. Raises `CannotRender` where the plan put something that the api can't carry."""
    if plan.wants:
        raise CannotRender("the plan still wants conversions: ask `prepare` for one that doesn't")
    api = APIS[target.api]
    options = declare(options, plan) if target.dialect.resend_tools and not options.tools else options
    head = api.head(target, options)
    parts = [fragment(tuple(leading))] if (leading := api.leading(options, target)) else []
    used: Fragments = {}
    parts += spell(plan, target, fragments, used)
    # What this request didn't need, the next one won't: marked forms of older entries, and what left the view.
    fragments.clear()
    fragments.update(used)
    start = _bytes(segments(head)[0])[:-1] + (b"," if head else b"") + msgspec.json.encode(api.LIST) + b":["
    whole = [*join(parts)]
    whole[0] = start + _bytes(whole[0])
    whole[-1] = _bytes(whole[-1]) + b"]}"
    size = len(start) + joined_size(parts) + 2
    return Request(target, options, plan, head, tuple(parts), tuple(whole), size, blobs)


def spell(plan: Plan, target: Target, fragments: Fragments, used: Fragments) -> Iterator[Fragment]:
    """The fragments of a plan's entries, in runs where they hold no mark; `used` takes each."""
    for start in range(0, len(plan.entries), RUN):
        entries = plan.entries[start : start + RUN]
        marks = frozenset(mark - start for mark in plan.marks if start <= mark < start + RUN)
        if len(entries) == RUN and not marks:
            yield spell_run(entries, target, fragments, used)
        else:
            yield from spell_entries(entries, target, fragments, used, marks)


def spell_run(entries: tuple[Entry, ...], target: Target, fragments: Fragments, used: Fragments) -> Fragment:
    """Entries without a mark as one fragment."""
    key = (target, entries, False)
    found = fragments.get(key)
    if found is None:
        parts = [*spell_entries(entries, target, fragments, {}, frozenset())]
        items = tuple(item for part in parts for item in part.items)
        found = Fragment(items, join(parts), joined_size(parts))
    used[key] = found
    return found


def spell_entries(
    entries: Sequence[Entry], target: Target, fragments: Fragments, used: Fragments, marks: frozenset[int]
) -> Iterator[Fragment]:
    """A fragment for each entry of which anything is for this provider; `marks` are indexes."""
    api = APIS[target.api]
    for index, entry in enumerate(entries):
        key = (target, entry, index in marks)
        found = fragments.get(key)
        if found is None:
            items = api.entry(entry, target)
            found = fragment(tuple(api.marked(items, target) if index in marks else items))
        used[key] = found
        if found.items:
            yield found


def declare(options: Options, plan: Plan) -> Options:
    """Options that declare the tools which the history calls, where none are declared any more.

    Bedrock Converse wants `toolConfig` while messages hold toolUse (docs/providers.md).
    """
    called = {part.tool for entry in plan.entries for part in entry.parts if isinstance(part, ToolCall)}
    gone = tuple(ToolSpec(name, f"{name} is not available any more.", OPEN_SCHEMA) for name in sorted(called))
    return msgspec.structs.replace(options, tools=gone, tool_choice="none") if gone else options


def join(parts: Sequence[Fragment]) -> tuple[Segment, ...]:
    """Put fragments behind each other, commas between them, neighbouring JSON in one segment."""
    joined: list[Segment] = []
    pending: list[bytes] = []
    for part in parts:
        first = _bytes(part.segments[0])
        pending += (b",", first) if pending else (first,)
        if len(part.segments) > 1:
            joined.append(b"".join(pending))
            joined += part.segments[1:-1]
            pending = [_bytes(part.segments[-1])]
    return (*joined, b"".join(pending))


def joined_size(parts: Sequence[Fragment]) -> int:
    """The bytes that fragments come to on the wire, with the commas between them."""
    return sum(part.size for part in parts) + max(len(parts) - 1, 0)
