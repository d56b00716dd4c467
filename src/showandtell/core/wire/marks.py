"""Cache marks in the parts of OpenAI's two APIs, by the field name that the host reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from showandtell.core.wire.tree import Tree

#: Field that ends a cached prefix, on its last part: OpenAI's (openai 3.54), and OpenRouter's for Claude.
CACHE_MARKS: dict[str, Tree] = {"prompt_cache_breakpoint": {"mode": "explicit"}, "cache_control": {"type": "ephemeral"}}
#: Marks that are only read on text parts (OpenRouter's docs, "Prompt caching"). OpenAI's may be on any part.
ON_TEXT = frozenset({"cache_control"})


def mark_last(parts: Tree, mark: str) -> Tree:
    """Return a list of parts with the mark added to the last one that may have it. Returns anything else unchanged."""
    match parts:
        case [*front, Mapping() as part] if mark not in ON_TEXT or part.get("type") == "text":
            return [*front, {**part, mark: CACHE_MARKS[mark]}]
        case [*front, part] if front:
            return [*cast("list[Tree]", mark_last(front, mark)), part]
        case _:
            return parts
