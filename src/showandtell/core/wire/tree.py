"""Trees with slots: the JSON of a request before any file is base64-encoded, and four ways to read it.

A renderer builds plain dicts, lists and scalars with a `Slot` for each file. A tree yields the body's segments, the
REST body as Python values, the SDK's keyword arguments, and the files at an error's path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from showandtell.checking.checked import checked
from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.planning.values import RenderedFile

#: JSON text has no NUL: msgspec escapes one in a string as \u0000, so an unescaped one always marks a slot.
SLOT_MARK = b"\0"


@checked
class Slot:
    """A leaf for a file: `prefix` and the file's base64, or the value of an `Address`."""

    __slots__ = ("prefix", "rendered")

    def __init__(self, rendered: RenderedFile, prefix: str = "") -> None:
        self.rendered = rendered
        self.prefix = prefix


Tree: TypeAlias = "Mapping[str, Tree] | Sequence[Tree] | str | int | float | bool | Slot | msgspec.Raw | None"
Segment: TypeAlias = bytes | Facts


def to_segments(tree: Tree) -> tuple[Segment, ...]:
    """Encode a tree as JSON bytes with files in between, so that no JSON encoder ever handles base64."""
    files: list[Facts] = []

    def leaf(value: object) -> msgspec.Raw:
        if not isinstance(value, Slot):
            raise TypeError(f"{type(value).__name__} can't be part of a tree")
        file = value.rendered.file
        if isinstance(file, Address):
            return msgspec.Raw(msgspec.json.encode(file.value))
        files.append(file)
        return msgspec.Raw(b'"' + value.prefix.encode() + SLOT_MARK + b'"')

    pieces = msgspec.json.encode(tree, enc_hook=leaf).split(SLOT_MARK)
    joined: list[Segment] = [pieces[0]]
    for file, piece in zip(files, pieces[1:], strict=True):
        joined += (file, piece)
    return tuple(joined)


def to_values(tree: Tree, leaf: Callable[[Slot], object]) -> Any:
    """Return the tree as Python values, with `leaf` called for each slot."""
    match tree:
        case Slot():
            return leaf(tree)
        case msgspec.Raw():
            return msgspec.json.decode(tree)
        case Mapping():
            return {key: to_values(value, leaf) for key, value in tree.items()}
        case str() | int() | float() | None:
            return tree
        case _:
            return [to_values(value, leaf) for value in tree]


def iter_slots(tree: Tree) -> Iterator[Slot]:
    """Yield every slot in the order of the body."""
    match tree:
        case Slot():
            yield tree
        case Mapping():
            for value in tree.values():
                yield from iter_slots(value)
        case str() | int() | float() | msgspec.Raw() | None:
            return
        case _:
            for value in tree:
                yield from iter_slots(value)


def parse_path(path: str) -> list[str | int]:
    """Split an error's path, such as `messages.3.content.1`, `input[3].output[0]` or `#/messages/2`.

    AWS's own validation counts from 1 and writes `messages.4.member.content`.
    """
    path = re.sub(r"(\d+)\.member\b", lambda match: str(int(match[1]) - 1), path)
    return [int(step) if step.isdigit() else step for step in re.findall(r"[A-Za-z_]\w*|\d+", path)]


def camel_case(name: str) -> str:
    """Convert `inline_data` to `inlineData`: errors of Google, and of Claude on Converse, use snake case."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def locate(tree: Tree, path: str) -> tuple[RenderedFile, ...]:
    """Return the files at or below the deepest node of `path` that exists, or none if its first step doesn't exist.

    Anthropic's paths include a block's `type` (`content.0.tool_result.content.1`); that step stays at the same node.
    """
    first, *more = steps_in(tree, path)
    node = _child(tree, first)
    if node is None:
        return ()
    for step in more:
        if (below := _child(node, step)) is not None:
            node = below
        elif not (isinstance(node, Mapping) and node.get("type") == step):
            break
    return tuple(slot.rendered for slot in iter_slots(node))


def steps_in(tree: Tree, path: str) -> list[str | int]:
    """The steps of a path from the first one that the tree has: FastAPI's paths start with `body`. Never empty."""
    steps = parse_path(path) or [""]
    start = next((at for at, step in enumerate(steps) if _child(tree, step) is not None), 0)
    return steps[start:]


def has_place(tree: Tree, steps: Sequence[str | int]) -> bool:
    """Whether the first two steps exist in a tree, or a single one; two may also start at a mapping within it."""
    below = _child(tree, steps[0])
    if below is not None and (len(steps) == 1 or _child(below, steps[1]) is not None):
        return True
    return isinstance(tree, Mapping) and len(steps) > 1 and any(has_place(value, steps) for value in tree.values())


def _child(node: Tree, step: str | int) -> Tree:
    """The value at one step; None if there is none."""
    match node, step:
        case Mapping(), str():
            return node.get(step, node.get(camel_case(step)))
        case list() | tuple(), int() if step < len(node):
            return node[step]
        case _:
            return None
