"""Walks any Python value and builds a plain tree: JSON values, with parts and files as leaves."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from math import isfinite
from pathlib import Path
from typing import Any, cast

from showandtell.core.collect.base64_text import read_bytes, split_files, split_text
from showandtell.core.collect.blocks import read_content
from showandtell.core.collect.file_objects import read_file_object
from showandtell.core.collect.json_text import parse_json
from showandtell.core.collect.libraries import recognize
from showandtell.core.collect.nodes import Collected, HasParts, Link, Node, Plain, check_json, to_json
from showandtell.core.collect.objects import SCALARS, unfold, unsupported
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Shown, Text

PARTS = (File, Shown, Text, Json)
#: Far beyond any real result; stops a value that contains itself.
MAX_DEPTH = 100
#: One structure in many places is small in memory and unbounded as JSON. Larger data belongs in a file.
MAX_VALUES = 1_000_000
#: Python refuses to convert integers that are much longer, and JSON readers refuse to read them.
TOO_LOW, TOO_HIGH = -(10**4299), 10**4299
#: Maximum length of keys that aren't searched for files. A data URI is longer.
MAX_UNCHECKED_KEY = 24


class Findings(list[Collected]):
    """The parts and files of a walk, in order, and the number of values that it has visited.

    in_text: the values were parsed from text, and addresses in them stay text.
    folder: where a `file_path` of an object may lead.
    """

    visited = 0
    in_text = False
    folder: Path | None = None

    def visit(self, count: int) -> None:
        """Count values before they are walked. Raises `PointerError` over `MAX_VALUES`."""
        self.visited += count
        if self.visited > MAX_VALUES:
            raise PointerError(f"more than {MAX_VALUES:,} values in all; return less of it, or a file")


def walk(value: object, depth: int, findings: Findings) -> Node:
    """Build the tree of a value, and append its parts and files to `findings`.

    Raises `PointerError` for values without JSON.
    """
    kind = type(value)
    if kind is str:
        return walk_string(cast("str", value), depth, findings)
    if kind is int:
        number: Any = value  # `cast` costs a call for each of maybe a million numbers
        if TOO_LOW < number < TOO_HIGH:
            return number
        raise PointerError("a whole number of more than 4,299 digits; return it in another form")
    if kind is bool or value is None:
        return cast("Plain", value)
    if kind is float:
        return check_finite(cast("float", value))
    if depth > MAX_DEPTH:
        raise PointerError(f"nested deeper than {MAX_DEPTH}, or holding itself; return less of it")
    if kind is dict:
        return walk_dict(cast("dict[object, object]", value), depth, findings)
    if kind is list:
        return walk_items(cast("list[object]", value), depth, findings)
    return walk_object(value, depth, findings)


def walk_string(text: str, depth: int, findings: Findings) -> Node:
    """Text without lone surrogates, and the files that are written in it."""
    node = walk_json_text(text, depth, findings)
    if node is not None:
        return node
    pieces = split_files(text)
    if pieces is None:
        return text if text.isascii() else join_surrogates(text)
    nodes = tuple(join_surrogates(piece) if isinstance(piece, str) else record(piece, findings) for piece in pieces)
    return nodes[0] if len(nodes) == 1 else nodes


def walk_json_text(text: str, depth: int, findings: Findings) -> Node:
    """The value of JSON text with files or marks in it. None for any other text, which stays as it is."""
    value = parse_json(text)
    if value is None:
        return None
    inner = Findings()
    inner.visited, inner.in_text = findings.visited, True
    try:
        node = walk(value, depth + 1, inner)
    except PointerError:
        return None
    if not any(isinstance(part, File) or getattr(part, "audience", "both") != "both" for part in inner):
        return None
    findings += inner
    findings.visited = inner.visited
    return node


def check_finite(value: float) -> float:
    """Raise `PointerError` for NaN and infinities, which JSON lacks."""
    if isfinite(value):
        return value
    raise PointerError(f"{value} has no JSON; return None or a string instead")


def record(part: Collected, findings: Findings) -> Collected:
    """Append a part to the findings and return it."""
    findings.append(part)
    return part


def walk_dict(value: Mapping[object, object], depth: int, findings: Findings) -> Node:
    """A mapping with string keys, or the parts of a content block or an MCP result."""
    if "type" in value or "content" in value:
        replacement = recognize(value)
        if replacement is not None:
            return walk_several(replacement, depth, findings)
    findings.visit(len(value))
    nodes: dict[str, Node] = {}
    key: object = None
    try:
        for key, item in value.items():
            name = key if type(key) is str and key.isascii() and len(key) <= MAX_UNCHECKED_KEY else convert_key(key)
            nodes[name] = walk(item, depth + 1, findings)
    except PointerError as error:
        error.steps.append(key)
        raise
    if len(nodes) != len(value):
        raise PointerError("two keys are the same once they are strings; rename one")
    return nodes


def convert_key(key: object) -> str:
    """A key as a string, as JSON needs it."""
    if type(key) is str:
        if split_files(key):
            raise PointerError("a key that is a file, written out as base64; make it the value of a short key")
        return join_surrogates(key)
    match walk(key, MAX_DEPTH, Findings()):
        case str() as node:
            return node
        case bool() | int() | float() | None as node:
            return to_json(node)
        case _:
            raise PointerError("a key that is no string or number; use strings as keys")


def walk_items(value: Collection[object], depth: int, findings: Findings) -> Node:
    """A list, or several values side by side if there are parts or files in it at any depth."""
    findings.visit(len(value))
    content = read_file_content(value)
    if content:
        return walk_several(content, depth, findings)
    count_before = len(findings)
    index = 0
    nodes: list[Node] = []
    try:
        for index, item in enumerate(value):  # noqa: B007 - read in the except clause
            nodes.append(walk(item, depth + 1, findings))
    except PointerError as error:
        error.steps.append(index)
        raise
    return tuple(nodes) if len(findings) > count_before else nodes


def read_file_content(values: Iterable[object]) -> tuple[object, ...] | None:
    """The parts of a list of content blocks with a file among them. Lists of text blocks are data."""
    if not isinstance(values, list | tuple) or not values or type(values[0]) is not dict or "type" not in values[0]:
        return None
    parts = read_content(cast("Sequence[object]", values))
    return parts if parts and any(isinstance(part, File) for part in parts) else None


def walk_several(values: Sequence[object], depth: int, findings: Findings) -> Node:
    """Values that replace one value: none, another value, or several side by side."""
    findings.visit(len(values))
    nodes = tuple(walk(value, depth + 1, findings) for value in values)
    return nodes[0] if len(nodes) == 1 else nodes or None


def walk_object(value: Any, depth: int, findings: Findings) -> Node:
    """Anything that isn't one of JSON's own types."""
    if isinstance(value, Link):
        return record(value.plain if findings.in_text else value, findings)
    if isinstance(value, Text):
        return walk_text(value, depth, findings)
    if isinstance(value, PARTS):
        return record(clean_part(cast("Collected", value)), findings)
    if isinstance(value, HasParts):
        return walk_several(value.parts, depth, findings)
    if type(value) in SCALARS:
        return walk(unfold(value), depth + 1, findings)
    replacement = recognize(value)
    if replacement is not None:
        return walk_several(replacement, depth, findings)
    match value:
        case bytes() | bytearray() | memoryview():
            return walk(read_bytes(bytes(cast("bytes", value))), depth + 1, findings)
        case str():
            return walk(unfold(value), depth + 1, findings)
        case Mapping():
            return walk_dict(cast("Mapping[object, object]", value), depth, findings)
        case tuple() if depth == 0 and is_several(cast("tuple[object, ...]", value)):
            return tuple(cast("list[Node]", walk_items(cast("tuple[object, ...]", value), depth, findings)))
        case Sequence() | deque() | ValuesView():
            return walk_items(cast("Collection[object]", value), depth, findings)
        case AbstractSet():
            return walk_items(sort_members(cast("AbstractSet[object]", value)), depth, findings)
        case _:
            return walk_unfolded(value, depth, findings)


def is_several(values: tuple[object, ...]) -> bool:
    """Whether a returned tuple is several values: strings beside something else, and not a named tuple."""
    strings = sum(isinstance(value, str) for value in values)
    return 0 < strings < len(values) and not hasattr(values, "_fields")


def sort_members(values: AbstractSet[Any]) -> Collection[object]:
    """The members of a set, sorted if they can be, so that every process gives the same order."""
    try:
        return sorted(values)
    except TypeError:
        return values


def walk_unfolded(value: object, depth: int, findings: Findings) -> Node:
    """The file that an object holds, its fields, or a scalar as JSON."""
    file = read_file_object(value, findings.folder)
    plain = unfold(value) if file is None else file
    if plain is value:
        raise unsupported(value)
    return walk(plain, depth + 1, findings)


def walk_text(part: Text, depth: int, findings: Findings) -> Node:
    """A text part, split like a string, with its audience."""
    node = walk_json_text(part.text, depth, findings) if part.audience == "both" else None
    if node is not None:
        return node
    nodes: tuple[Node, ...] = tuple(record(piece, findings) for piece in split_text(part))
    return nodes[0] if len(nodes) == 1 else nodes


def clean_part(part: Collected) -> Collected:
    """A part with valid JSON and no lone surrogates, which couldn't be stored as JSON."""
    if not isinstance(part, Json):
        return part
    text = join_surrogates(part.text)
    check_json(text)
    return part if text is part.text else Json(text, part.files)
