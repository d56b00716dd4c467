"""Servers on this machine, or others that ask for no key: which answer, and which models they have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.capabilities.table import FAMILIES
from showandtell.errors import ShowAndTellError
from showandtell.network.transport import Transport
from showandtell.providers.rows import ROWS, connect
from showandtell.providers.uploads import Parcel
from showandtell.server.auth.cached_fetch import read_json

#: How long a server may take, in seconds; the most models of its list that are read.
PATIENCE, MOST_MODELS = 0.5, 200
#: The most letters of a model's name.
MOST_LETTERS = 200

#: The providers whose servers anybody may run.
LOCAL: tuple[str, ...] = tuple(name for name, row in ROWS.items() if not row.needs_key)


async def list_local(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The models of every server that answers within half a second, by provider; none of those that don't."""
    async with Transport(environ=environ) as transport:
        lists = await asyncio.gather(*(list_models(transport, name, environ) for name in LOCAL))
    return {name: found for name, found in zip(LOCAL, lists, strict=True) if found is not None}


async def list_models(transport: Transport, provider: str, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The models that a server says it has, as OpenAI's `/models` lists them; None where it says nothing of use."""
    try:
        exchange = connect(resolve(f"{provider}:{example_of(provider)}"), environ=environ, transport=transport)
        asked = Parcel(f"{exchange.base}/models", exchange.headers, method="GET")
        async with asyncio.timeout(PATIENCE), exchange.send(asked) as answer:
            return names_in(await read_json(answer))
    except (ShowAndTellError, msgspec.MsgspecError, OSError, TimeoutError, ValueError):
        return None


def names_in(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names in a list of models; None where it is none."""
    try:
        names = [row["id"] for row in cast("list[Any]", value["data"] or [])[:MOST_MODELS]]
    except (KeyError, TypeError):
        return None
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and is_name(name)))


def is_name(name: str) -> bool:
    """Whether somebody could write this name of a model."""
    return 0 < len(name) <= MOST_LETTERS and name.isprintable() and not any(map(str.isspace, name))


def example_of(provider: str) -> str:
    """A model that the table knows of a provider."""
    return next(family.example for family in FAMILIES if family.provider == provider)
