"""Timeouts of HTTP requests."""

from __future__ import annotations

from dataclasses import dataclass

from showandtell.checking.checked import TakesDict
from showandtell.core.limits import Positive


@dataclass(frozen=True, slots=True)
class Timeouts(TakesDict):
    """Timeouts in seconds: to connect, between two bytes of request or response, and for the whole exchange.

    >>> from showandtell import Timeouts, Transport
    >>> transport = Transport(Timeouts(connect=5, idle=60))
    >>> transport.timeouts.total
    3600
    """

    connect: Positive = 10
    idle: Positive = 120
    total: Positive = 3600
