"""What an agent is made of: its bounds, what its plans may do, and the way to its model's host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from showandtell.agent.decide import RunLimits
from showandtell.agent.loader import Fetch, Sharing
from showandtell.agent.tools import Tool
from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.file import File
from showandtell.core.planning.values import Policy
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy, fetch
from showandtell.network.transport import Transport
from showandtell.providers.client import connect_client, read_client
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import connect, locate


def bound(tools: Mapping[str, Tool], steps: int, tokens: int | None, seconds: float | None) -> RunLimits:
    """What bounds a run. Raises `BadInput` for a bound that lets nothing through."""
    if steps < 1:
        raise BadInput("max_steps must be at least 1: it counts model calls")
    if (tokens is not None and tokens < 1) or (seconds is not None and not seconds > 0):
        raise BadInput("max_tokens_in_all and max_seconds must be more than 0, or None for no bound")
    approval = frozenset(tool.name for tool in tools.values() if tool.approval)
    idempotent = frozenset(tool.name for tool in tools.values() if tool.idempotent)
    return RunLimits(steps, approval, tokens, seconds, idempotent)


def permit(
    tools: Mapping[str, Tool], sharing: Sharing, *, strict: bool, focus: int | None, uploads: bool, expected_steps: int
) -> Policy:
    """What plans may do: as the program says, and as there are the tools and ways for it."""
    return Policy(
        strict=strict,
        focus=focus,
        cache=True,
        uploads=uploads,
        links=sharing.link is not None,
        expected_steps=expected_steps,
        can_view="view_file" in tools,
        fetch=sharing.fetch is not None,
    )


def fetcher(allow: FetchPolicy | None) -> Fetch | None:
    """How addresses are fetched: within what is allowed; None where nothing is."""
    if allow is None or not allow.fetch:
        return None

    async def fetch_file(url: str, folder: Path, most: int) -> File:
        return (await fetch(url, folder, most=most, allow=allow)).file

    return fetch_file


def aim(target: Target, client: object) -> Target:
    """The target with its account, which addresses and rejections hold."""
    return locate(target) if client is None else structs.replace(target, account=read_client(client).account)


def reach(
    target: Target,
    client: object,
    base_url: str | None,
    api_key: str | None,
    headers: Mapping[str, str] | None,
    *,
    transport: Transport,
) -> Exchange:
    """The way to a target's host: as an SDK's client goes, or as arguments and variables say."""
    if client is None:
        return connect(target, base_url=base_url, api_key=api_key, headers=headers, transport=transport)
    if base_url or api_key or headers:
        raise BadInput("client= says all of base_url, api_key and headers: give one or the other")
    return connect_client(target, client, transport=transport)
