"""The fourth pass: which entries end a prefix worth caching. Marks change no other byte."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from showandtell.core.capabilities.cells import Target
from showandtell.core.planning.values import Entry, Policy


def mark_prefixes(entries: Sequence[Entry], target: Target, policy: Policy) -> tuple[int, ...]:
    """Mark the last two user entries: the newest is written to the cache, the one before is read from it."""
    if not policy.cache or not target.order.marks:
        return ()
    users = (index for index in reversed(range(len(entries))) if entries[index].role == "user")
    return tuple(islice(users, min(2, target.order.marks)))[::-1]
