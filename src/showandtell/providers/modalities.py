"""Asks a host which files a model takes and how many tokens."""

from __future__ import annotations

import asyncio

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.providers.exchange import Exchange, close_body, read_limited
from showandtell.providers.hosts import find_host
from showandtell.providers.modality_sources import ModalitySource, ModelFacts
from showandtell.providers.uploads import UploadRequest


async def ask_host(exchange: Exchange, target: Target, *, seconds: float = 2.0) -> ModelFacts:
    """The kinds of files that a model takes and its context window, as its host tells them.

    Kinds are "image", "document", "audio" and "video". The host's endpoints are asked in turn until one tells the
    kinds, for `seconds` in all, with the exchange's headers; none is asked for the window alone. A host that can't be
    reached, is slow, refuses, doesn't know the model, or answers in another form tells nothing; only cancellation
    raises.
    """
    row = find_host(target.provider)
    facts = ModelFacts()
    try:
        async with asyncio.timeout(seconds):
            for source in row.modalities if row is not None else ():
                facts = facts.completed(await ask(exchange, source, target.model))
                if facts.kinds is not None:
                    break
    except TimeoutError:
        pass
    return facts


async def ask(exchange: Exchange, source: ModalitySource, model: str) -> ModelFacts:
    """Ask one endpoint once."""
    try:
        data = await fetch(exchange, source, model)
        return source.read(data, model) if data is not None else ModelFacts()
    except Exception:  # noqa: BLE001 - a host may answer anything, a transport may raise anything, and a run can do without
        return ModelFacts()


async def fetch(exchange: Exchange, source: ModalitySource, model: str) -> bytes | None:
    """The complete answer of an endpoint; None for another status than 200, and for an answer that is too long."""
    body = msgspec.json.encode({"model": model}) if source.posts_model else b""
    headers = {**exchange.headers, "content-length": str(len(body))}
    if body:
        headers["content-type"] = "application/json"
    request = UploadRequest(source.url(exchange.base), headers, (body,), method="POST" if body else "GET")
    async with exchange.send(request) as response:
        try:
            data = await read_limited(response.body, source.max_bytes + 1) if response.status == 200 else None
        finally:
            await close_body(response)
    return data if data is not None and len(data) <= source.max_bytes else None
