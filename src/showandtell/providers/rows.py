"""Hosts as rows: how each is reached. Only the embedded inspector is, so far; every other host can be rendered for."""

from __future__ import annotations

from showandtell.capabilities.cells import Target
from showandtell.errors import ProviderUnavailable
from showandtell.inspector.send import send as inspect
from showandtell.providers.exchange import PARSERS, Exchange

#: As each provider's own SDK takes its base URL: with /v1 for OpenAI, without for Anthropic.
BASES = {"anthropic-messages": "http://inspector", "openai-chat": "http://inspector/v1"}


def connect(target: Target) -> Exchange:
    """The way to a target's host. Raises `ProviderUnavailable` where there is none."""
    if target.provider != "inspector":
        raise ProviderUnavailable(
            f"{target.name} can't be asked from here yet: use render() with its SDK, or the model inspector"
        )
    if target.api not in PARSERS:
        spoken = ", ".join(f"inspector:{api}" for api in PARSERS)
        raise ProviderUnavailable(f"{target.name} doesn't answer yet; these do: {spoken}")
    return Exchange(inspect, BASES[target.api], {})
