"""Cache marks in the parts of OpenAI's two APIs, by the field name that the host reads."""

from __future__ import annotations

from collections.abc import Mapping

from showandtell.core.wire.tree import Tree

#: Field that ends a cached prefix, on its last part: OpenAI's (openai 3.54), and OpenRouter's for Claude.
CACHE_MARKS: dict[str, Tree] = {"prompt_cache_breakpoint": {"mode": "explicit"}, "cache_control": {"type": "ephemeral"}}


def mark_last(parts: Tree, mark: str) -> Tree:
    """Return a list of parts with the mark added to the last one. Returns anything else unchanged."""
    match parts:
        case [*front, Mapping() as part]:
            return [*front, {**part, mark: CACHE_MARKS[mark]}]
        case _:
            return parts
