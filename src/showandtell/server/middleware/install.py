"""Install the middleware in its order."""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.applications import Starlette

from showandtell.server.middleware.body_limits import BodyLimits
from showandtell.server.middleware.origin_guard import OriginGuard
from showandtell.server.middleware.rate_limits import RateLimits, read_rates


def install_middleware(
    app: Starlette, hosts: Collection[str], origins: Collection[str], rates: str, clock: Callable[[], float]
) -> None:
    """Add origin checks, rate limits and body limits to all routes. Raises `BadInput` for invalid rates."""
    app.add_middleware(BodyLimits)  # the middleware added last runs first
    app.add_middleware(RateLimits, rates=read_rates(rates), clock=clock)
    app.add_middleware(OriginGuard, hosts=hosts, origins=origins)
