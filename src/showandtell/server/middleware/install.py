"""What every request passes on its way to a route, in its order."""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.applications import Starlette

from showandtell.server.middleware.body_limits import BodyLimits
from showandtell.server.middleware.origin_guard import OriginGuard
from showandtell.server.middleware.rate_limits import RateLimits, read_rates


def guard(
    app: Starlette, hosts: Collection[str], origins: Collection[str], rates: str, clock: Callable[[], float]
) -> None:
    """Put the gate, the limits and the bodies' bounds before all routes. Raises `BadInput` for rates that are none."""
    app.add_middleware(BodyLimits)  # the last that is added is the first to be passed
    app.add_middleware(RateLimits, rates=read_rates(rates), clock=clock)
    app.add_middleware(OriginGuard, hosts=hosts, origins=origins)
