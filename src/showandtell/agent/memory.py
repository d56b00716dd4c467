"""Caches that the steps of a conversation share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from showandtell.agent.fit_context import ContextFit
from showandtell.agent.known_messages import KnownMessages
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.wire.request import Fragments


@dataclass(frozen=True, slots=True)
class Memory:
    """Caches that steps of a conversation share, so that each one plans and encodes only what is new."""

    fragments: Fragments = field(default_factory=dict[Any, Any])
    plan_cache: PlanCache = field(default_factory=PlanCache)
    fit: ContextFit = field(default_factory=ContextFit)
    known: KnownMessages = field(default_factory=KnownMessages)
