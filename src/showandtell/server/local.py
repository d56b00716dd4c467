"""Servers on this machine, or others that ask for no key: which answer, and which models they have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import aiohttp
import msgspec

from showandtell.capabilities.resolve import resolve
from showandtell.capabilities.table import FAMILIES
from showandtell.errors import ShowAndTellError
from showandtell.providers.rows import ROWS, connect

#: How long a server may take, in seconds; the most bytes and models of its list that are read.
PATIENCE, MOST_BYTES, MOST_MODELS = 0.5, 1_000_000, 200
#: The most letters of a model's name.
MOST_LETTERS = 200

#: The providers whose servers anybody may run.
LOCAL: tuple[str, ...] = tuple(name for name, row in ROWS.items() if not row.needs_key)


async def list_local(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The models of every server that answers within half a second, by provider; none of those that don't."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        lists = await asyncio.gather(*(list_models(session, name, environ) for name in LOCAL))
    return {name: found for name, found in zip(LOCAL, lists, strict=True) if found is not None}


async def list_models(
    session: aiohttp.ClientSession, provider: str, environ: Mapping[str, str]
) -> tuple[str, ...] | None:
    """The models that a server says it has, as OpenAI's `/models` lists them; None where it says nothing of use."""
    try:
        exchange = connect(resolve(f"{provider}:{example_of(provider)}"), environ=environ)
        async with session.get(f"{exchange.base}/models", headers=exchange.headers, allow_redirects=False) as response:
            text = await read_all(response.content)
            return names_in(text) if response.status == 200 and text is not None else None
    except (ShowAndTellError, aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return None


async def read_all(content: aiohttp.StreamReader) -> bytes | None:
    """All bytes of an answer; None where there are too many."""
    found = bytearray()
    async for piece in content.iter_any():
        found += piece
        if len(found) > MOST_BYTES:
            return None
    return bytes(found)


def names_in(text: bytes) -> tuple[str, ...] | None:
    """The names in a list of models; None where it is none."""
    try:
        value: Any = msgspec.json.decode(text)
        rows = cast("list[Any]", value["data"] or [])
        names = [row["id"] for row in rows[:MOST_MODELS]]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return None
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and is_name(name)))


def is_name(name: str) -> bool:
    """Whether somebody could write this name of a model."""
    return 0 < len(name) <= MOST_LETTERS and name.isprintable() and not any(map(str.isspace, name))


def example_of(provider: str) -> str:
    """A model that the table knows of a provider."""
    return next(family.example for family in FAMILIES if family.provider == provider)
