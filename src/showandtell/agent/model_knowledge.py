"""What a run knows and learns about the files, fields and tokens that its model takes, beyond the table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256

from msgspec.structs import replace

from showandtell.agent.field_errors import FieldState
from showandtell.config.learned_models import LIFETIME, LearnedModels, ModelKey, learned_models
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.modalities import (
    ListedWindow,
    MessageField,
    Modality,
    limit_window,
    restrict,
    with_fields,
)
from showandtell.core.media_types.kinds import Kind
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import find_host
from showandtell.providers.modalities import ask_host

#: The kinds that hosts tell.
MEDIA_KINDS: frozenset[Kind] = frozenset({"image", "document", "audio", "video"})


@dataclass
class ModelKnowledge:
    """The modalities and the window of one model at one host and account, kept in `learned`.

    `clock` gives epoch seconds.
    """

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
        """The target at its base URL, without what the model doesn't take, and with the window that its host tells.

        What the provider's errors tell of the window counts before both, as it is about a request (`ContextFit`).
        """
        known, base_url = self.learned.find(self.key), self.key.base_url.rstrip("/")
        here = self.target if self.target.provider == "inspector" else replace(self.target, base_url=base_url)
        return limit_window(with_fields(restrict(here, known.modalities), known.fields), known.window)

    def knows(self, kind: Kind) -> bool:
        """Whether anything is known about a kind."""
        return any(modality.kind == kind for modality in self.learned.find(self.key).modalities)

    async def ask_host(self, kinds: Iterable[Kind]) -> None:
        """Ask the host what the model takes, if it can tell and one of `kinds` is not known yet."""
        row = find_host(self.target.provider)
        if row is None or not row.modalities:
            return
        unknown = MEDIA_KINDS.difference(modality.kind for modality in self.learned.find(self.key).modalities)
        if unknown.isdisjoint(kinds) or not self.learned.may_ask(self.key):
            return
        facts = await ask_host(self.connect(), self.target)
        found: list[Modality] = []
        if facts.kinds is not None:
            found += self._modalities(facts.kinds, "its host lists it", takes=True)
            found += self._modalities(MEDIA_KINDS - facts.kinds, "its host doesn't list it", takes=False)
        window = None
        if facts.window is not None:
            day, until = self._dates()
            window = ListedWindow(facts.window, f"its host lists it ({day})", day, until)
        if found or window is not None:
            await asyncio.to_thread(self.learned.learn, self.key, found, window)

    async def learn(self, kinds: Iterable[Kind], evidence: str, *, takes: bool) -> None:
        """Keep for a day whether the model takes these kinds."""
        await asyncio.to_thread(self.learned.learn, self.key, self._modalities(kinds, evidence, takes=takes))

    def fields(self, states: Mapping[str, FieldState], evidence: str) -> list[MessageField]:
        """What an error tells about fields of a model's message."""
        day, until = self._dates()
        return [MessageField(name, state, f"{evidence} ({day})", day, until) for name, state in states.items()]

    async def learn_fields(self, fields: Sequence[MessageField]) -> None:
        """Keep for a day which fields the host refuses and requires."""
        if fields:
            await asyncio.to_thread(self.learned.learn, self.key, fields=fields)

    def _modalities(self, kinds: Iterable[Kind], evidence: str, *, takes: bool) -> list[Modality]:
        day, until = self._dates()
        return [Modality(kind, takes, f"{evidence} ({day})", day, until) for kind in sorted(kinds)]

    def _dates(self) -> tuple[str, float]:
        """Today, and when to find out again."""
        now = self.clock()
        return datetime.fromtimestamp(now, UTC).date().isoformat(), now + LIFETIME


def fingerprint(headers: Mapping[str, str]) -> str:
    """A short hash of an account's headers, which tells accounts apart and keys to nobody."""
    return sha256(repr(sorted(headers.items())).encode()).hexdigest()[:12] if headers else ""
