"""Tokens and money as providers tell them, held within bounds, for a run's budget is counted with them."""

from __future__ import annotations

import msgspec

from showandtell.core.events.types import Usage

#: The most that one count may be: every JSON reader keeps whole numbers up to here, and no model comes near.
MOST_TOKENS = 2**53
#: Where no usage is told.
NOTHING = msgspec.Raw(b"null")


def within(usage: Usage) -> Usage:
    """The same with no count below 0 or above `MOST_TOKENS`, so that a negative one can't lift a budget."""
    return Usage(
        _hold(usage.input_tokens),
        _hold(usage.output_tokens),
        _hold(usage.cached_tokens),
        _hold(usage.written_tokens),
        _hold(usage.reasoning_tokens),
        {kind: _hold(count) for kind, count in usage.modalities.items()},
        usage.cost,
    )


def dollars(told: object, parts: int = 1) -> float | None:
    """A cost that is told in so many `parts` of a dollar; None for what is no sum of money: some hosts say objects."""
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told <= MOST_TOKENS:
        return None
    return told if parts == 1 else told / parts


def _hold(count: int) -> int:
    return min(max(count, 0), MOST_TOKENS)
