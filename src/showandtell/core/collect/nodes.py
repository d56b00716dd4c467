"""The plain tree between the walk and the parts, and how it is cut into parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from showandtell.core.collect.pointer_errors import PointerError, escape
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Shown, Text

Collected: TypeAlias = Text | Json | File | Shown
Plain: TypeAlias = str | int | float | None
#: A plain value with parts as leaves. A tuple holds several values that stay side by side in the result.
Node: TypeAlias = "Collected | Plain | list[Node] | dict[str, Node] | tuple[Node, ...]"


class Link(Text, frozen=True):
    """The text of an address in a content block. Only inside a `ToolResult` is it known as one; then it is a `Text`.

    media_type: the type that the block claims.
    """

    name: str = ""
    address: str = ""
    media_type: str | None = None

    @property
    def plain(self) -> Text:
        """The same as text."""
        return Text(self.text, self.audience)


@dataclass(frozen=True, slots=True)
class HasParts:
    """A value that is collected already. The walk takes over its parts."""

    parts: tuple[Collected, ...]


def cut_tree(node: Node, *, has_parts: bool) -> Iterable[Collected]:
    """Cut a tree into parts, in order. `has_parts` says whether any leaf is a part."""
    match node:
        case None | "" | Text(text=""):
            return
        case str():
            yield Text(node)
        case bool() | int() | float():
            yield Json(to_json(node))
        case tuple():
            for item in node:
                yield from cut_tree(item, has_parts=has_parts)
        case File() | Shown() | Text() | Json():
            yield node
        case list() | dict():
            files: list[tuple[str, File | Shown]] = []
            texts: list[Text] = []
            yield Json(to_json(embed(node, "", files, texts) if has_parts else node), tuple(files))
            yield from texts


def embed(node: Node, pointer: str, files: list[tuple[str, File | Shown]], texts: list[Text]) -> object:
    """A tree as a JSON value with null in place of files, and of texts that only one audience may read.

    Appends each file and its pointer to `files`, and such texts to `texts`.
    """
    match node:
        case list() | tuple():
            return [embed(item, f"{pointer}/{index}", files, texts) for index, item in enumerate(node)]
        case dict():
            return {key: embed(item, f"{pointer}/{escape(key)}", files, texts) for key, item in node.items()}
        case File() | Shown():
            files.append((pointer, node))
            return None
        case Text(audience="both"):
            return node.text
        case Text():
            texts.append(node)
            return None
        case Json():
            files += [(pointer + inner, file) for inner, file in node.files]
            return check_json(node.text)
        case _:
            return node


def check_json(text: str) -> msgspec.Raw:
    """JSON text, to be embedded in other JSON. Raises `PointerError` if it is invalid."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise PointerError(f"a Json part whose text isn't JSON ({error}); build it with collect") from None
    return msgspec.Raw(text)


def to_json(value: object) -> str:
    """A JSON value as compact text."""
    return msgspec.json.encode(value).decode()
