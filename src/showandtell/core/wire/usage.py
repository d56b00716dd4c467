"""Token counts and costs reported by providers, limited to sane values because they count against a run's budget."""

from __future__ import annotations

import msgspec

from showandtell.core.events.types import Usage

#: Maximum of one count: the largest integer that every JSON reader represents exactly, far above any real count.
MAX_COUNT = 2**53
#: Default of an undecoded JSON field.
NULL = msgspec.Raw(b"null")


def clamp_usage(usage: Usage) -> Usage:
    """Limit every count to 0…`MAX_COUNT`, so that a negative count can't raise a budget."""
    return Usage(
        _clamp(usage.input_tokens),
        _clamp(usage.output_tokens),
        _clamp(usage.cached_tokens),
        _clamp(usage.written_tokens),
        _clamp(usage.reasoning_tokens),
        {kind: _clamp(count) for kind, count in usage.modalities.items()},
        usage.cost,
    )


def dollars(amount: object, parts: int = 1) -> float | None:
    """Convert a cost in 1/`parts` dollars to dollars. Returns None for invalid amounts; some hosts send objects."""
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount <= MAX_COUNT:
        return None
    return amount if parts == 1 else amount / parts


def _clamp(count: int) -> int:
    return min(max(count, 0), MAX_COUNT)
