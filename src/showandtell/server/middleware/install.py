"""Install the middleware in its order."""

from __future__ import annotations

from starlette.applications import Starlette

from showandtell.server.addresses import split_public_url
from showandtell.server.config import Config
from showandtell.server.middleware.body_limits import BodyLimits
from showandtell.server.middleware.origin_guard import OriginGuard, check_origin, hosts_of
from showandtell.server.middleware.rate_limits import RateLimits, read_rates


def install_middleware(app: Starlette, config: Config) -> None:
    """Add origin checks, rate limits and body limits to all routes. Raises `BadInput` for invalid rates or origins."""
    app.add_middleware(BodyLimits)  # the middleware added last runs first
    app.add_middleware(RateLimits, rates=read_rates(config.rates), clock=config.clock)
    app.add_middleware(
        OriginGuard,
        hosts=hosts_of(config.bind, config.hosts),
        origins=[check_origin(origin) for origin in config.origins],
        public_origin=split_public_url(config.public_url)[0] if config.public_url else None,
        # In another program, any host is fine that another machine asks for: the program knows its own.
        is_strict=config.user is None or bool(config.hosts),
    )
