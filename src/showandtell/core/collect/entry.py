"""The entry: any Python value becomes parts."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from showandtell.core.collect.blocks import read_block, read_content
from showandtell.core.collect.nodes import Collected, Link, cut_tree
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.collect.walk import Findings, walk, walk_several


def collect(value: object) -> tuple[Collected, ...]:
    """Turn what a tool returned into parts, in order. Files inside JSON are named by JSON pointer.

    Raises `BadValue`, which names the place, for NaN, for bytes of unknown type, and for objects without JSON.
    """
    return tuple(part.plain if isinstance(part, Link) else part for part in collect_links(value))


def collect_links(value: object, folder: Path | None = None) -> tuple[Collected, ...]:
    """Like `collect`, with addresses of content blocks as `Link`, and files of `folder` by the `file_path` of objects.

    Raises `BadValue`, which names the place, for NaN, for bytes of unknown type, and for objects without JSON.
    """
    try:
        findings = Findings()
        findings.folder = folder
        content = read_returned_content(value)
        node = walk(value, 0, findings) if content is None else walk_several(content, 0, findings)
        return tuple(cut_tree(node, has_parts=bool(findings)))
    except PointerError as error:
        raise error.to_bad_value() from None


def read_returned_content(value: object) -> tuple[Collected, ...] | None:
    """The parts of a returned content block or list of blocks, even if all are text. None for other values.

    Deeper in a value, blocks without a file are data (`walk.read_file_content`).
    """
    if type(value) is dict:
        block = read_block(cast("object", value))
        return None if block is None else (block,)
    return read_content(cast("list[object]", value)) if type(value) is list else None
