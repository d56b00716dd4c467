"""The fourth pass: which entries end a prefix that is worth caching. Marks change no other byte."""

from __future__ import annotations

from collections.abc import Sequence

from showandtell.core.capabilities.cells import Target
from showandtell.core.planning.values import Entry, Policy


def mark(entries: Sequence[Entry], target: Target, policy: Policy) -> tuple[int, ...]:
    """The last user entry of this request and that of the one before: one is written to the cache, one read from it."""
    if not policy.cache or not target.order.marks:
        return ()
    users = [index for index, entry in enumerate(entries) if entry.role == "user"]
    return tuple(users[-min(2, target.order.marks) :])
