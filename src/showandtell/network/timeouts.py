"""Timeouts of HTTP requests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: to connect, between two bytes of request or response, and for the whole exchange.

    >>> from showandtell import Timeouts, Transport
    >>> transport = Transport(Timeouts(connect=5, idle=60))
    >>> transport.timeouts.total
    3600
    """

    connect: float = 10
    idle: float = 120
    total: float = 3600
