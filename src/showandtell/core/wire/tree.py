"""Trees with slots: how every api's JSON is written down before any base64 exists, and four ways to read one.

A renderer builds plain dicts, lists and scalars with a `Slot` wherever a file goes. From one tree come the body's
segments, the REST body as Python values, the SDK's keyword arguments, and the files that an API's error path means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.planning.values import RenderedFile

#: JSON text has no NUL: msgspec writes one in a string as \u0000, so a bare one can only be a slot's.
MARK = b"\0"


class Slot:
    """A leaf where a file goes: `before` and its base64, or, for an `Address`, what it points with."""

    __slots__ = ("before", "placed")

    def __init__(self, placed: RenderedFile, before: str = "") -> None:
        self.placed = placed
        self.before = before


Tree: TypeAlias = "Mapping[str, Tree] | Sequence[Tree] | str | int | float | bool | Slot | msgspec.Raw | None"
Segment: TypeAlias = bytes | Facts


def segments(tree: Tree) -> tuple[Segment, ...]:
    """Encode a tree to JSON bytes, split where files go; no JSON encoder ever sees base64."""
    found: list[Facts] = []

    def leaf(value: object) -> msgspec.Raw:
        if not isinstance(value, Slot):
            raise TypeError(f"{type(value).__name__} can't stand in a tree")
        file = value.placed.file
        if isinstance(file, Address):
            return msgspec.Raw(msgspec.json.encode(file.value))
        found.append(file)
        return msgspec.Raw(b'"' + value.before.encode() + MARK + b'"')

    pieces = msgspec.json.encode(tree, enc_hook=leaf).split(MARK)
    joined: list[Segment] = [pieces[0]]
    for file, piece in zip(found, pieces[1:], strict=True):
        joined += (file, piece)
    return tuple(joined)


def values(tree: Tree, leaf: Callable[[Slot], object]) -> Any:
    """The tree as Python values, each slot by `leaf`."""
    match tree:
        case Slot():
            return leaf(tree)
        case msgspec.Raw():
            return msgspec.json.decode(tree)
        case Mapping():
            return {key: values(value, leaf) for key, value in tree.items()}
        case str() | int() | float() | None:
            return tree
        case _:
            return [values(value, leaf) for value in tree]


def slots(tree: Tree) -> Iterator[Slot]:
    """Every slot in the order of the body."""
    match tree:
        case Slot():
            yield tree
        case Mapping():
            for value in tree.values():
                yield from slots(value)
        case str() | int() | float() | msgspec.Raw() | None:
            return
        case _:
            for value in tree:
                yield from slots(value)


def steps(path: str) -> list[str | int]:
    """Split an error's path: `messages.3.content.1`, `input[3].output[0]` and `#/messages/2` are all seen.

    AWS's own checks count from 1, and say so by a word: `messages.4.member.content`.
    """
    path = re.sub(r"(\d+)\.member\b", lambda found: str(int(found[1]) - 1), path)
    return [int(word) if word.isdigit() else word for word in re.findall(r"[A-Za-z_]\w*|\d+", path)]


def camel(word: str) -> str:
    """`inline_data` as JSON writes it: Google's errors, and Claude's behind Converse, name fields otherwise."""
    first, *rest = word.split("_")
    return first + "".join(part.capitalize() for part in rest)


def locate(tree: Tree, path: str) -> tuple[RenderedFile, ...]:
    """The files at or below the deepest place of `path` that exists; none where even its first step is unknown.

    Anthropic's paths name a block's `type` on the way (`content.0.tool_result.content.1`): that step stays in place.
    """
    here: Tree = tree
    moved = False
    for step in steps(path):
        match here, step:
            case Mapping(), str() if (key := step if step in here else camel(step)) in here:
                here, moved = here[key], True
            case list() | tuple(), int() if step < len(here):
                here, moved = here[step], True
            case Mapping(), str() if here.get("type") == step:
                pass
            case _:
                break
    return tuple(slot.placed for slot in slots(here)) if moved else ()
