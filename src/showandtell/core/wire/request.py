"""Requests: one tree that is sent as segments, or read as JSON, as an SDK's arguments, or by an error's path.

Fragments of entries are cached by (target, entry), and of sixteen in a row by their place. All compare by value, so the
cache needs no invalidation. A body is never held in memory: its files are read and encoded in chunks while it is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import msgspec
import pybase64

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.blobs import BlobReader
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning.conversions import base64_length
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.values import ContainerFile, Entry, Plan, Receipt, RenderedFile
from showandtell.core.wire.hosted_tools import CodeExecution, HostedTool
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.renderers import Renderer, renderer_of
from showandtell.core.wire.tree import Segment, Slot, Tree, has_place, locate, steps_in, to_segments, to_values
from showandtell.errors import BadInput, CannotRender

OPEN_SCHEMA = '{"type":"object"}'
#: Bytes of a file to encode at once. A multiple of 3, so that the chunks' base64 can be concatenated, and small enough
#: that a chunk and its base64 stay in the CPU cache.
CHUNK_SIZE = 192 * 1024


@dataclass(frozen=True, slots=True)
class Fragment:
    """The wire messages of one entry: as trees, as segments without surrounding commas, and their size in bytes."""

    items: tuple[Tree, ...]
    segments: tuple[Segment, ...]
    size: int


#: `head_size` is a multiple of this number of bytes.
HEAD_STEP = 2048
#: Number of consecutive entries that are cached as one fragment: long conversations change only at their end.
GROUP_SIZE = 16
#: By target, entry, and whether the entry has a cache mark.
EntryFragments: TypeAlias = dict[tuple[Target, Entry, bool], Fragment]


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """Consecutive entries without a mark, and their fragment."""

    target: Target
    entries: tuple[Entry, ...]
    fragment: Fragment


@dataclass(slots=True)
class Fragments:
    """What the last request of a conversation was composed of, which the next one begins with.

    groups: by the index of their first entry, because comparing a group with the one that was there before touches none
        of its entries: they are the same objects.
    """

    entries: EntryFragments = field(default_factory=EntryFragments)
    groups: dict[int, EntryGroup] = field(default_factory=dict[int, EntryGroup])


def wire_size(parts: tuple[Segment, ...]) -> int:
    """Return the size in bytes of segments on the wire."""
    return sum(len(part) if isinstance(part, bytes) else base64_length(part.size) for part in parts)


def encode_fragment(items: tuple[Tree, ...]) -> Fragment:
    """Encode wire messages as one fragment."""
    pieces = to_segments(items)
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        inner: tuple[Segment, ...] = (_json_bytes(first)[1:-1],)
    else:
        inner = (_json_bytes(first)[1:], *pieces[1:-1], _json_bytes(last)[:-1])
    return Fragment(items, inner, wire_size(inner))


def _json_bytes(piece: Segment) -> bytes:
    if not isinstance(piece, bytes):
        raise CannotRender("a body must begin and end with JSON")
    return piece


@dataclass(frozen=True)
class Request:
    """One rendered request. `size` is the exact length of the body in bytes."""

    target: Target
    options: Options
    plan: Plan
    head: dict[str, Tree]
    fragments: tuple[Fragment, ...]
    segments: tuple[Segment, ...]
    size: int
    blobs: BlobReader

    @property
    def api(self) -> Renderer:
        """The module of the target's wire format."""
        return renderer_of(self.target.api)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """For each file, what the model receives and why."""
        return self.plan.receipts

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks, reading and encoding files on the way.

        Raises `FileChanged` if a stored file is missing or changed.
        """
        for segment in self.segments:
            if isinstance(segment, bytes):
                yield segment
            else:
                yield from map(pybase64.b64encode, self.blobs.chunks(segment, CHUNK_SIZE))

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body's chunks, for an async HTTP client. Each attempt needs a new iterator."""
        for piece in self.chunks():
            yield piece

    @cached_property
    def items(self) -> tuple[Tree, ...]:
        """All wire messages in order, as trees."""
        return tuple(item for fragment in self.fragments for item in fragment.items)

    def json(self) -> dict[str, Any]:
        """Return the REST body as Python values, with files as base64."""
        return msgspec.json.decode(b"".join(self.chunks()))

    def kwargs(self) -> dict[str, Any]:
        """Return the arguments of the provider's SDK call, as in `client.messages.create(**request.kwargs())`."""
        leaf = self._raw_value if self.api.SDK_TAKES_BYTES else self._text_value
        return self.api.kwargs(to_values(self._tree, leaf), self.target, self.options)

    def locate(self, path: str) -> tuple[RenderedFile, ...]:
        """Return the files at an error's path, such as `messages.3.content.1` or `input[3].output[0]`."""
        return locate(self._tree, path)

    def leads_elsewhere(self, path: str) -> bool:
        """Whether an error's path leads to a part of the request that isn't among its messages, such as a tool."""
        steps = steps_in(self._tree, path)
        starts = range(max(len(steps) - 1, 1))
        return steps[0] != self.api.MESSAGES_KEY and any(has_place(self.head, steps[start:]) for start in starts)

    @property
    def _tree(self) -> Tree:
        return {**self.head, self.api.MESSAGES_KEY: self.items}

    def _raw_value(self, slot: Slot) -> object:
        file = slot.rendered.file
        return file.value if isinstance(file, Address) else self.blobs.read(file)

    def _text_value(self, slot: Slot) -> object:
        file = slot.rendered.file
        if isinstance(file, Address):
            return file.value
        return slot.prefix + pybase64.b64encode_as_string(self.blobs.read(file))


def compose(
    plan: Plan, target: Target, options: Options, blobs: BlobReader, fragments: Fragments | None = None
) -> Request:
    """Build the request of a plan. Raises `CannotRender` if the plan contains something that the API can't carry.

    Raises `BadInput` for a body beyond the provider's limit: no file is in view by then, so its text is too long.
    """
    if plan.wants:
        raise CannotRender("the plan still needs conversions: call `prepare` first")
    options = declare_called_tools(options, plan) if target.dialect.resend_tools and not options.tools else options
    head, start, parts = begin_body(target, with_container(options, plan))
    fragments, used = fragments or Fragments(), Fragments()
    parts += serialize_plan(plan, target, fragments, used)
    # The next request won't need what this one didn't: marked forms of older entries, and evicted files.
    fragments.entries, fragments.groups = used.entries, used.groups
    body = [*join_fragments(parts)]
    body[0] = start + _json_bytes(body[0])
    body[-1] = _json_bytes(body[-1]) + b"]}"
    size = len(start) + joined_size(parts) + 2
    if target.budget.bytes is not None and size > target.budget.bytes:
        sizes = f"{format_size(size)}, one request to {target.name} holds {format_size(target.budget.bytes)}"
        raise BadInput(f"the text of this conversation is too long: {sizes}; start a new one, or shorten it")
    return Request(target, options, plan, head, tuple(parts), tuple(body), size, blobs)


def with_container(options: Options, plan: Plan) -> Options:
    """The options with the ids of the files that code of the provider may read."""
    if not options.hosted:
        return options
    ids = tuple(part.file_id for entry in plan.entries for part in entry.parts if isinstance(part, ContainerFile))
    if not ids:
        return options
    return msgspec.structs.replace(options, hosted=tuple(_with_ids(tool, ids) for tool in options.hosted))


def _with_ids(tool: HostedTool, ids: tuple[str, ...]) -> HostedTool:
    return msgspec.structs.replace(tool, ids=ids) if isinstance(tool, CodeExecution) else tool


def begin_body(target: Target, options: Options) -> tuple[dict[str, Tree], bytes, list[Fragment]]:
    """The head of a request, the start of its body up to the messages, and the messages that options lead to."""
    api = renderer_of(target.api)
    head = api.head(target, options)
    start = (
        _json_bytes(to_segments(head)[0])[:-1] + (b"," if head else b"") + msgspec.json.encode(api.MESSAGES_KEY) + b":["
    )
    return head, start, [encode_fragment(tuple(leading))] if (leading := api.leading_messages(options, target)) else []


def head_size(target: Target, options: Options) -> int:
    """The bytes of a request besides the conversation, rounded up, so that another date in it changes nothing."""
    _, start, leading = begin_body(target, options)
    return -(-(len(start) + joined_size(leading)) // HEAD_STEP) * HEAD_STEP


def serialize_plan(plan: Plan, target: Target, fragments: Fragments, used: Fragments) -> Iterator[Fragment]:
    """Yield the fragments of a plan's entries, in groups where they have no mark. Adds each to `used`."""
    marked = {mark // GROUP_SIZE for mark in plan.marks}
    for at, start in enumerate(range(0, len(plan.entries), GROUP_SIZE)):
        entries = plan.entries[start : start + GROUP_SIZE]
        if len(entries) == GROUP_SIZE and at not in marked:
            group = fragments.groups.get(start)
            if group is None or group.entries != entries or group.target != target:
                group = EntryGroup(target, entries, serialize_group(entries, target, fragments))
            used.groups[start] = group
            yield group.fragment
        else:
            marks = frozenset(mark - start for mark in plan.marks)
            yield from serialize_entries(entries, target, fragments.entries, used.entries, marks)


def serialize_group(entries: tuple[Entry, ...], target: Target, fragments: Fragments) -> Fragment:
    """Return one fragment for consecutive entries without a mark."""
    parts = [*serialize_entries(entries, target, fragments.entries, {}, frozenset())]
    items = tuple(item for part in parts for item in part.items)
    return Fragment(items, join_fragments(parts), joined_size(parts))


def serialize_entries(
    entries: Sequence[Entry], target: Target, fragments: EntryFragments, used: EntryFragments, marks: frozenset[int]
) -> Iterator[Fragment]:
    """Yield a fragment for each entry that isn't empty for this target. `marks` are indexes of `entries`."""
    api = renderer_of(target.api)
    for index, entry in enumerate(entries):
        key = (target, entry, index in marks)
        cached = fragments.get(key)
        if cached is None:
            items = api.render_entry(entry, target)
            cached = encode_fragment(tuple(api.with_cache_mark(items, target) if index in marks else items))
        used[key] = cached
        if cached.items:
            yield cached


def declare_called_tools(options: Options, plan: Plan) -> Options:
    """Declare the tools that the history calls, for a request without tools.

    Bedrock Converse requires `toolConfig` while messages contain toolUse (docs/providers.md).
    """
    called = {part.tool for entry in plan.entries for part in entry.parts if isinstance(part, ToolCall)}
    missing = tuple(ToolSpec(name, f"{name} is not available any more.", OPEN_SCHEMA) for name in sorted(called))
    return msgspec.structs.replace(options, tools=missing, tool_choice="none") if missing else options


def join_fragments(parts: Sequence[Fragment]) -> tuple[Segment, ...]:
    """Concatenate fragments, separated by commas, and merge adjacent JSON into one segment."""
    joined: list[Segment] = []
    pending: list[bytes] = []
    for part in parts:
        first = _json_bytes(part.segments[0])
        pending += (b",", first) if pending else (first,)
        if len(part.segments) > 1:
            joined.append(b"".join(pending))
            joined += part.segments[1:-1]
            pending = [_json_bytes(part.segments[-1])]
    return (*joined, b"".join(pending))


def joined_size(parts: Sequence[Fragment]) -> int:
    """Return the size in bytes of fragments on the wire, with the commas between them."""
    return sum(part.size for part in parts) + max(len(parts) - 1, 0)
