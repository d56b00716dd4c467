"""Find model servers that need no key, on this machine or elsewhere, and list their models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from showandtell.core.capabilities.resolve import examples_of, resolve
from showandtell.errors import ShowAndTellError
from showandtell.network.transport import Transport
from showandtell.providers.rows import ROWS, connect
from showandtell.providers.uploads import UploadRequest
from showandtell.server.auth.cached_fetch import read_json

#: Seconds before a server counts as absent, and the maximum number of models read from its list.
TIMEOUT, MAX_MODELS = 0.5, 200
#: Maximum length of a model's name.
MAX_NAME = 200

#: Providers that need no key.
LOCAL: tuple[str, ...] = tuple(name for name, row in ROWS.items() if not row.needs_key)


async def list_local(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """List the models of every server that responds in time, by provider."""
    async with Transport(environ=environ) as transport:
        lists = await asyncio.gather(*(list_models(transport, name, environ) for name in LOCAL))
    return {name: models for name, models in zip(LOCAL, lists, strict=True) if models is not None}


async def list_models(transport: Transport, provider: str, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """List a server's models from its `/models` endpoint (OpenAI's format); None if it has no usable list."""
    try:
        exchange = connect(resolve(f"{provider}:{examples_of(provider)[0]}"), environ=environ, transport=transport)
        request = UploadRequest(f"{exchange.base}/models", exchange.headers, method="GET")
        async with asyncio.timeout(TIMEOUT), exchange.send(request) as response:
            return names_in(await read_json(response))
    except (ShowAndTellError, msgspec.MsgspecError, OSError, TimeoutError, ValueError):
        return None


def names_in(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The model names in a `/models` response; None if it has another format."""
    try:
        names = [row["id"] for row in cast("list[Any]", value["data"] or [])[:MAX_MODELS]]
    except (KeyError, TypeError):
        return None
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and is_name(name)))


def is_name(name: str) -> bool:
    """Whether a model's name is one that a person could type."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and not any(map(str.isspace, name))
