"""How long a host may take to answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a host may take, in seconds: to connect, between two bytes of request or answer, and for all of it."""

    connect: float = 10
    idle: float = 120
    total: float = 3600
