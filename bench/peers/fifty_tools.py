"""Fifty functions, as a program may have for a model: four parameters each, two of which the docstring describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SOURCE = '''
def tool_{number}(city: str, days: int = 3, unit: str | None = None, places: tuple[str, ...] = ()) -> str:
    """Tell the weather, number {number}.

    Args:
        city: The city.
        days: The number of days.
    """
    return city
'''


def make_tools() -> list[Callable[..., Any]]:
    """The functions."""
    scope: dict[str, Any] = {}
    for number in range(50):
        exec(SOURCE.format(number=number), scope)  # noqa: S102 - our own
    return [scope[f"tool_{number}"] for number in range(50)]
