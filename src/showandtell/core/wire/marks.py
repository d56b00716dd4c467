"""Cache marks that stand in a part of OpenAI's two apis, each as its host spells it."""

from __future__ import annotations

from collections.abc import Mapping

from showandtell.core.wire.tree import Tree

MARKS: dict[str, Tree] = {"prompt_cache_breakpoint": {"mode": "explicit"}, "cache_control": {"type": "ephemeral"}}


def mark_last(parts: Tree, mark: str) -> Tree:
    """A list of parts with the mark in its last one; anything else as it is."""
    match parts:
        case [*front, Mapping() as part]:
            return [*front, {**part, mark: MARKS[mark]}]
        case _:
            return parts
