"""Turns an agent's public settings into what the loop takes: limits, planning policy, fetch function and target."""

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
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import head_size
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy, fetch
from showandtell.providers.client import read_client
from showandtell.providers.rows import locate


def loop_limits(tools: Mapping[str, Tool], limits: RunLimits) -> LoopLimits:
    """The limits of the loop. Raises `BadInput` for limits that allow no step."""
    if limits.steps < 1:
        raise BadInput("RunLimits.steps must be at least 1: it counts model calls")
    if (limits.tokens is not None and limits.tokens < 1) or (limits.seconds is not None and not limits.seconds > 0):
        raise BadInput("RunLimits.tokens and RunLimits.seconds must be more than 0, or None for no limit")
    approval = frozenset(tool.name for tool in tools.values() if tool.approval)
    idempotent = frozenset(tool.name for tool in tools.values() if tool.idempotent)
    return LoopLimits(limits.steps, approval, limits.tokens, limits.seconds, idempotent)


def plan_policy(
    tools: Mapping[str, Tool], sharing: Sharing, files: FilePolicy, target: Target, options: Options
) -> Policy:
    """The planning policy: the user's settings, what the agent's tools and functions make possible, and their size."""
    return Policy(
        on_unsupported=by_kind(files.on_unsupported),
        max_in_context=files.max_in_context,
        cache=True,
        uploads=files.uploads,
        signed_urls=sharing.link is not None,
        expected_steps=files.expected_steps,
        can_view="view_file" in tools,
        fetch=sharing.fetch is not None,
        head_bytes=head_size(target, options),
    )


def read_output_type(output_type: object) -> Mapping[str, Any] | None:
    """The JSON schema of an answer. Raises `BadInput` for a type, which isn't supported yet."""
    if output_type is None or isinstance(output_type, Mapping):
        return cast("Mapping[str, Any] | None", output_type)
    raise BadInput("output_type takes a JSON schema as a mapping; types are not supported yet")


def fetcher(allow: FetchPolicy | None) -> Fetch | None:
    """A function that fetches URLs within a policy; None if the policy allows no fetching."""
    if allow is None or not allow.fetch:
        return None

    async def fetch_file(url: str, folder: Path, max_bytes: int) -> File:
        return (await fetch(url, folder, max_bytes=max_bytes, policy=allow)).file

    return fetch_file


def with_account(target: Target, client: object) -> Target:
    """The target with its account, which URLs and stored rejections contain."""
    return locate(target) if client is None else structs.replace(target, account=read_client(client).account)
