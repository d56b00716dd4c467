"""What an agent is made of: its bounds, what its plans may do, and the way to its model's host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import structs

from showandtell.agent.decide import LoopLimits
from showandtell.agent.loader import Fetch, Sharing
from showandtell.agent.settings import FilePolicy, RunLimits
from showandtell.agent.tools import Tool
from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.file import File
from showandtell.core.planning.values import Policy, by_kind
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy, fetch
from showandtell.providers.client import read_client
from showandtell.providers.rows import locate


def bound(tools: Mapping[str, Tool], limits: RunLimits) -> LoopLimits:
    """What bounds a run. Raises `BadInput` for a bound that lets nothing through."""
    if limits.steps < 1:
        raise BadInput("RunLimits.steps must be at least 1: it counts model calls")
    if (limits.tokens is not None and limits.tokens < 1) or (limits.seconds is not None and not limits.seconds > 0):
        raise BadInput("RunLimits.tokens and RunLimits.seconds must be more than 0, or None for no limit")
    approval = frozenset(tool.name for tool in tools.values() if tool.approval)
    idempotent = frozenset(tool.name for tool in tools.values() if tool.idempotent)
    return LoopLimits(limits.steps, approval, limits.tokens, limits.seconds, idempotent)


def permit(tools: Mapping[str, Tool], sharing: Sharing, files: FilePolicy) -> Policy:
    """What plans may do: as the program says, and as there are the tools and ways for it."""
    return Policy(
        on_unsupported=by_kind(files.on_unsupported),
        focus=files.max_in_context,
        cache=True,
        uploads=files.uploads,
        links=sharing.link is not None,
        expected_steps=files.expected_steps,
        can_view="view_file" in tools,
        fetch=sharing.fetch is not None,
    )


def read_output_type(output_type: object) -> Mapping[str, Any] | None:
    """The JSON schema of an answer. Raises `BadInput` for a type, which isn't supported yet."""
    if output_type is None or isinstance(output_type, Mapping):
        return cast("Mapping[str, Any] | None", output_type)
    raise BadInput("output_type takes a JSON schema as a mapping; types are not supported yet")


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
