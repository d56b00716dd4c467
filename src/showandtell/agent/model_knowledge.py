"""What a run knows and learns about the kinds of files that its model takes, beyond the table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256

from showandtell.config.learned_models import LIFETIME, LearnedModels, ModelKey, learned_models
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.modalities import Modality, restrict
from showandtell.core.media_types.kinds import Kind
from showandtell.providers.exchange import Exchange
from showandtell.providers.modalities import host_modalities
from showandtell.providers.rows import ROWS

#: The kinds that hosts tell.
MEDIA_KINDS: frozenset[Kind] = frozenset({"image", "document", "audio", "video"})


@dataclass
class ModelKnowledge:
    """The modalities of one model at one host and account, kept in `learned`. `clock` gives epoch seconds."""

    target: Target
    connect: Callable[[], Exchange]
    learned: LearnedModels = field(default_factory=learned_models)
    clock: Callable[[], float] = time.time

    @cached_property
    def key(self) -> ModelKey:
        """The key of the model's entry."""
        exchange = self.connect()
        return ModelKey(
            exchange.base, self.target.name, f"{self.target.account} {fingerprint(exchange.headers)}".strip()
        )

    @property
    def restricted(self) -> Target:
        """The target without the kinds that the model doesn't take."""
        return restrict(self.target, self.learned.find(self.key))

    def knows(self, kind: Kind) -> bool:
        """Whether anything is known about a kind."""
        return any(modality.kind == kind for modality in self.learned.find(self.key))

    async def ask_host(self, kinds: Iterable[Kind]) -> None:
        """Ask the host which kinds of files the model takes, if it can tell and one of `kinds` is not known yet."""
        row = ROWS.get(self.target.provider)
        if row is None or not row.modalities:
            return
        unknown = MEDIA_KINDS.difference(modality.kind for modality in self.learned.find(self.key))
        if unknown.isdisjoint(kinds) or not self.learned.may_ask(self.key):
            return
        found = await host_modalities(self.connect(), self.target)
        if found is not None:
            await self.learn(found, "its host lists it", takes=True)
            await self.learn(MEDIA_KINDS - found, "its host doesn't list it", takes=False)

    async def learn(self, kinds: Iterable[Kind], evidence: str, *, takes: bool) -> None:
        """Keep for a day whether the model takes these kinds."""
        now = self.clock()
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        found = [Modality(kind, takes, f"{evidence} ({day})", day, now + LIFETIME) for kind in sorted(kinds)]
        await asyncio.to_thread(self.learned.learn, self.key, found)


def fingerprint(headers: Mapping[str, str]) -> str:
    """A short hash of an account's headers, which tells accounts apart and keys to nobody."""
    return sha256(repr(sorted(headers.items())).encode()).hexdigest()[:12] if headers else ""
