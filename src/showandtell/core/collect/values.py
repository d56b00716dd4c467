"""Any Python value becomes ordered parts: words, JSON, and the files in it wherever they lie.

One walk makes a plain tree in which only parts and files are left as objects; parts are cut from that tree.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias, cast

import msgspec

from showandtell.core.collect.base64_text import join_surrogates, read_bytes, split_files
from showandtell.core.collect.blocks import read_block, read_content
from showandtell.core.collect.libraries import read_aside, recognise
from showandtell.core.collect.objects import SCALARS, refuse, unfold
from showandtell.core.collect.pointer_errors import PointerError, escape
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft
from showandtell.core.messages.parts import Json, Shown, Text, ToolCall

Collected: TypeAlias = Text | Json | File | Shown
#: A plain value with parts as leaves. A tuple holds several values that stand side by side in a result.
Node: TypeAlias = "Collected | Plain | list[Node] | dict[str, Node] | tuple[Node, ...]"
Plain: TypeAlias = str | int | float | None

PARTS = (File, Shown, Text, Json)
#: A bound that no honest result reaches, and that stops one which holds itself.
DEEPEST = 100
#: The same structure in many places is small in memory and without bound as JSON; what holds more is data for a file.
MOST_NODES = 1_000_000
#: Python writes out no whole number that is much longer, and readers of JSON read none.
TOO_LOW, TOO_HIGH = -(10**4299), 10**4299
#: No shorter key has a file written out in it.
LONG_KEY = 24


class Findings(list[Collected]):
    """The parts and files that a walk has met, in order, and how many values it has visited."""

    visited = 0

    def visit(self, count: int) -> None:
        """Count values before they are walked; PointerError where they are too many."""
        self.visited += count
        if self.visited > MOST_NODES:
            raise PointerError(f"more than {MOST_NODES:,} values in all; return less of it, or a file")


def collect(value: object) -> tuple[Collected, ...]:
    """Turn what a tool returned into parts, in order; files inside JSON are named there by JSON pointer.

    Raises `BadValue`, which names the place, for NaN, for bytes of no known type, and for objects that have no JSON.
    """
    try:
        found = Findings()
        return tuple(cut(walk(read_whole(value), 0, found), holds=bool(found)))
    except PointerError as misfit:
        raise misfit.located() from None


def read_whole(value: object) -> object:
    """What is returned whole as content blocks is content, even where all of it is words."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return value
    if kind is dict:
        return read_block(value) or value
    parts = read_content(cast("list[object]", value))
    return value if parts is None else ToolResult(*parts)


def walk(value: object, depth: int, found: Findings) -> Node:
    """Make a plain tree of a value; every part and file goes into `found`, too, as it is met."""
    kind = type(value)
    if kind is str:
        return read_string(cast("str", value), found)
    if kind is int:
        number: Any = value  # with no call of `cast`, for there may be a million
        if TOO_LOW < number < TOO_HIGH:
            return number
        raise PointerError("a whole number of more than 4,299 digits; return it in another form")
    if kind is bool or value is None:
        return cast("Plain", value)
    if kind is float:
        return check_finite(cast("float", value))
    if depth > DEEPEST:
        raise PointerError(f"nested deeper than {DEEPEST}, or holding itself; return less of it")
    if kind is dict:
        return walk_dict(cast("dict[object, object]", value), depth, found)
    if kind is list:
        return walk_items(cast("list[object]", value), depth, found)
    return walk_object(value, depth, found)


def read_string(text: str, found: Findings) -> Node:
    """Words as they are, with no lone surrogate; files that are written out in them stand beside them."""
    pieces = split_files(text)
    if pieces is None:
        return text if text.isascii() else join_surrogates(text)
    nodes = tuple(join_surrogates(piece) if isinstance(piece, str) else note(piece, found) for piece in pieces)
    return nodes[0] if len(nodes) == 1 else nodes


def check_finite(value: float) -> float:
    """A float that JSON has: not NaN, not an infinity."""
    if isfinite(value):
        return value
    raise PointerError(f"{value} has no JSON; return None or a string instead")


def note(part: Collected, found: Findings) -> Collected:
    """Put a part on record."""
    found.append(part)
    return part


def walk_dict(value: Mapping[object, object], depth: int, found: Findings) -> Node:
    """A mapping with string keys, or what it stands for where it is a block of content."""
    if "type" in value or "content" in value:
        stands = recognise(value)
        if stands is not None:
            return walk_several(stands, depth, found)
    found.visit(len(value))
    plain: dict[str, Node] = {}
    key: object = None
    try:
        for key, item in value.items():
            name = key if type(key) is str and key.isascii() and len(key) <= LONG_KEY else spell_key(key)
            plain[name] = walk(item, depth + 1, found)
    except PointerError as misfit:
        misfit.steps.append(key)
        raise
    if len(plain) != len(value):
        raise PointerError("two keys are the same once they are strings; rename one")
    return plain


def spell_key(key: object) -> str:
    """A key as JSON has it: a string."""
    if type(key) is str:
        if split_files(key):
            raise PointerError("a key that is a file, written out as base64; make it the value of a short key")
        return join_surrogates(key)
    match walk(key, DEEPEST, Findings()):
        case str() as node:
            return node
        case bool() | int() | float() | None as node:
            return spell(node)
        case _:
            raise PointerError("a key that is no string or number; use strings as keys")


def walk_items(value: Collection[object], depth: int, found: Findings) -> Node:
    """A list, or several values side by side where parts or files lie in it at any depth."""
    found.visit(len(value))
    shown = read_shown(value)
    if shown:
        return walk_several(shown, depth, found)
    before = len(found)
    place = 0
    nodes: list[Node] = []
    try:
        for place, item in enumerate(value):  # noqa: B007 - the place is read where an item is a misfit
            nodes.append(walk(item, depth + 1, found))
    except PointerError as misfit:
        misfit.steps.append(place)
        raise
    return tuple(nodes) if len(found) > before else nodes


def read_shown(values: Iterable[object]) -> tuple[object, ...] | None:
    """The parts of a list of content blocks that shows a file; blocks that are all words are data here."""
    if not isinstance(values, list | tuple) or not values or type(values[0]) is not dict or "type" not in values[0]:
        return None
    parts = read_content(cast("Sequence[object]", values))
    return parts if parts and any(isinstance(part, File) for part in parts) else None


def walk_several(values: Sequence[object], depth: int, found: Findings) -> Node:
    """What stands for one value: nothing, another value, or several side by side."""
    found.visit(len(values))
    nodes = tuple(walk(value, depth + 1, found) for value in values)
    return nodes[0] if len(nodes) == 1 else nodes or None


def walk_object(value: Any, depth: int, found: Findings) -> Node:
    """Anything that isn't one of JSON's own types."""
    if isinstance(value, Text):
        return read_words(value, found)
    if isinstance(value, PARTS):
        return note(clean_part(cast("Collected", value)), found)
    if isinstance(value, ToolResult):
        return walk_several(value.parts, depth, found)
    if type(value) in SCALARS:
        return walk(unfold(value), depth + 1, found)
    stands = recognise(value)
    if stands is not None:
        return walk_several(stands, depth, found)
    match value:
        case bytes() | bytearray() | memoryview():
            return walk(read_bytes(bytes(cast("bytes", value))), depth + 1, found)
        case io.BytesIO():
            return walk(read_bytes(value.getvalue()), depth + 1, found)
        case str():
            return walk(unfold(value), depth + 1, found)
        case Mapping():
            return walk_dict(cast("Mapping[object, object]", value), depth, found)
        case tuple() if depth == 0 and is_several(cast("tuple[object, ...]", value)):
            return tuple(cast("list[Node]", walk_items(cast("tuple[object, ...]", value), depth, found)))
        case Sequence() | deque() | ValuesView():
            return walk_items(cast("Collection[object]", value), depth, found)
        case AbstractSet():
            return walk_items(order(cast("AbstractSet[object]", value)), depth, found)
        case _:
            return walk_unfolded(value, depth, found)


def is_several(values: tuple[object, ...]) -> bool:
    """Whether a returned tuple is several values: words beside something else, and no named record."""
    words = sum(isinstance(value, str) for value in values)
    return 0 < words < len(values) and not hasattr(values, "_fields")


def order(values: AbstractSet[Any]) -> Collection[object]:
    """A set's members in an order that is the same in every process, where they have one."""
    try:
        return sorted(values)
    except TypeError:
        return values


def walk_unfolded(value: object, depth: int, found: Findings) -> Node:
    """An object by its fields, or a scalar by its JSON spelling."""
    plain = unfold(value)
    if plain is value:
        raise refuse(value)
    return walk(plain, depth + 1, found)


def read_words(part: Text, found: Findings) -> Node:
    """A text part as `read_string` reads words, for the same audience."""
    pieces = split_files(part.text) or [part.text]
    parts = [piece if isinstance(piece, File) else Text(join_surrogates(piece), part.audience) for piece in pieces]
    return tuple(note(piece, found) for piece in parts) if len(parts) > 1 else note(parts[0], found)


def clean_part(part: Collected) -> Collected:
    """A part as it is, JSON with no lone surrogate in its words: no other text may be stored as JSON."""
    if not isinstance(part, Json):
        return part
    text = join_surrogates(part.text)
    check_json(text)
    return part if text is part.text else Json(text, part.files)


def cut(node: Node, *, holds: bool) -> Iterable[Collected]:
    """Cut a tree into parts; `holds` says whether there are parts and files in it at all."""
    match node:
        case None | "" | Text(text=""):
            return
        case str():
            yield Text(node)
        case bool() | int() | float():
            yield Text(spell(node))
        case tuple():
            for item in node:
                yield from cut(item, holds=holds)
        case File() | Shown() | Text() | Json():
            yield node
        case list() | dict():
            files: list[tuple[str, File | Shown]] = []
            yield Json(spell(embed(node, "", files) if holds else node), tuple(files))


def embed(node: Node, pointer: str, files: list[tuple[str, File | Shown]]) -> object:
    """A tree as JSON values, null where a file is; `files` takes each with its pointer."""
    match node:
        case list() | tuple():
            return [embed(item, f"{pointer}/{place}", files) for place, item in enumerate(node)]
        case dict():
            return {key: embed(item, f"{pointer}/{escape(key)}", files) for key, item in node.items()}
        case File() | Shown():
            files.append((pointer, node))
            return None
        case Text(audience="user"):
            raise PointerError(f"words for the user alone at {pointer}; return them beside the JSON")
        case Text():
            return node.text
        case Json():
            files += [(pointer + inner, file) for inner, file in node.files]
            return check_json(node.text)
        case _:
            return node


def check_json(text: str) -> msgspec.Raw:
    """JSON text that goes into other JSON as it is."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise PointerError(f"a Json part whose text isn't JSON ({error}); build it with collect") from None
    return msgspec.Raw(text)


def spell(value: object) -> str:
    """A JSON value as compact text."""
    return msgspec.json.encode(value).decode()


@dataclass(frozen=True, slots=True, init=False)
class ToolResult:
    """What a tool returns: values of any kind, in order, an error flag, and metadata that the model never sees.

    `ToolResult("two charts", figure, {"rows": 3}, metadata=run_id)`. Values of other libraries bring their own error
    flag, and a single one its metadata. Raises `BadValue` as `collect` does.
    """

    parts: tuple[Collected, ...]
    is_error: bool
    metadata: object = field(compare=False)

    def __init__(self, *values: object, is_error: bool = False, metadata: object = None) -> None:
        object.__setattr__(self, "parts", tuple(part for value in values for part in collect(value)))
        asides = [look_aside(value) for value in values]
        if metadata is None and len(asides) == 1:
            metadata = asides[0][1]
        object.__setattr__(self, "is_error", is_error or any(failed for failed, _ in asides))
        object.__setattr__(self, "metadata", metadata)

    @property
    def files(self) -> tuple[File | Shown, ...]:
        """Every file in order, those inside JSON included."""
        return tuple(file for part in self.parts for file in list_files(part))

    @property
    def text(self) -> str:
        """The words, and JSON as its text, by line; a file is marked with its place here, a `Shown` by its number."""
        lines: list[str] = []
        place = 0
        for part in self.parts:
            if isinstance(part, Text | Json):
                lines.append(part.text)
            for file in list_files(part):
                place += 1
                lines.append(mark(file, place))
        return "\n".join(lines)

    @property
    def without_files(self) -> ToolResult:
        """The same result with its words and JSON alone; where files lay in JSON there is null."""
        kept = (Json(part.text) if isinstance(part, Json) else part for part in self.parts)
        words = [part for part in kept if isinstance(part, Text | Json)]
        return ToolResult(*words, is_error=self.is_error, metadata=self.metadata)


def look_aside(value: object) -> tuple[bool, object]:
    """The error flag and the metadata that a value brings along."""
    return (value.is_error, value.metadata) if isinstance(value, ToolResult) else read_aside(value)


def list_files(part: Collected) -> tuple[File | Shown, ...]:
    """The files of one part."""
    match part:
        case File() | Shown():
            return (part,)
        case Json():
            return tuple(file for _, file in part.files)
        case Text():
            return ()


def mark(file: File | Shown, place: int) -> str:
    """How a file is written among words."""
    if isinstance(file, Shown):
        return f"[file {file.number}]"
    name = join_surrogates(file.name or file.media_type or "")
    return f"[file {place}: {name}]" if name else f"[file {place}]"


def result_draft(call: ToolCall, result: ToolResult) -> Draft:
    """A tool's result as a message before ingest."""
    return Draft("tool", result.parts, call.call_id, call.tool, result.is_error)
