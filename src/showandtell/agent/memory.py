"""Caches that the steps of a conversation share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from showandtell.agent.fit_context import ContextFit
from showandtell.agent.known_messages import KnownMessages
from showandtell.core.capabilities.cells import Target
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.values import Plan
from showandtell.core.wire.request import Fragments, Request
from showandtell.storage.blobs.threads import run_in_thread

#: New messages that are planned in a thread: fewer take a few milliseconds at most.
MANY = 200


@dataclass(frozen=True, slots=True)
class Memory:
    """Caches that steps of a conversation share, so that each one plans and encodes only what is new."""

    fragments: Fragments = field(default_factory=dict[Any, Any])
    plan_cache: PlanCache = field(default_factory=PlanCache)
    fit: ContextFit = field(default_factory=ContextFit)
    known: KnownMessages = field(default_factory=KnownMessages)

    async def plan(self, count: int, target: Target, work: Callable[[], Plan]) -> Plan:
        """Plan `count` messages, in a thread if many of them are new: the event loop is for others, too."""
        is_long = count - self.plan_cache.count(target) > MANY
        return await run_in_thread(work) if is_long else work()

    async def compose(self, plan: Plan, work: Callable[[], Request]) -> Request:
        """Compose a request, in the same way."""
        is_long = not self.fragments and len(plan.entries) > MANY
        return await run_in_thread(work) if is_long else work()
