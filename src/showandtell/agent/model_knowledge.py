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

    async def learn(self, kinds: Iterable[Kind], evidence: str, *, takes: bool) -> None:
        """Keep for a day whether the model takes these kinds."""
        now = self.clock()
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        found = [Modality(kind, takes, f"{evidence} ({day})", day, now + LIFETIME) for kind in sorted(kinds)]
        await asyncio.to_thread(self.learned.learn, self.key, found)


def fingerprint(headers: Mapping[str, str]) -> str:
    """A short hash of an account's headers, which tells accounts apart and keys to nobody."""
    return sha256(repr(sorted(headers.items())).encode()).hexdigest()[:12] if headers else ""
