"""Caches that the steps of a conversation share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from showandtell.agent.fit_context import ContextFit
from showandtell.agent.known_messages import KnownMessages
from showandtell.core.capabilities.cells import Target
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.values import Plan, View
from showandtell.core.wire.request import Fragments, Request
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.uncancelled import shielded

#: More new messages are read and planned in a thread: fewer take a few milliseconds at most.
MANY = 200
#: Requests with more entries are composed in a thread, even if nearly all of them are known.
MANY_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Memory:
    """Caches that steps of a conversation share, so that each one plans and encodes only what is new."""

    fragments: Fragments = field(default_factory=Fragments)
    plan_cache: PlanCache = field(default_factory=PlanCache)
    fit: ContextFit = field(default_factory=ContextFit)
    known: KnownMessages = field(default_factory=KnownMessages)

    async def restore(self, view: View) -> None:
        """Take in messages that are new, in a thread if there are many: the event loop is for others, too."""
        if len(view.messages) - self.known.count > MANY:
            await shielded(run_in_thread(self._follow, view))
        else:
            self._follow(view)

    def _follow(self, view: View) -> None:
        self.known.follow(view.messages)
        self.fit.restore(view, has_summaries=self.known.has_summaries)

    async def plan(self, count: int, target: Target, work: Callable[[], Plan]) -> Plan:
        """Plan `count` messages, in the same way."""
        is_long = count - self.plan_cache.count(target) > MANY
        return await run_in_thread(work) if is_long else work()

    async def compose(self, plan: Plan, work: Callable[[], Request]) -> Request:
        """Compose a request, in the same way."""
        is_long = len(plan.entries) > (MANY_ENTRIES if self.fragments.groups else MANY)
        return await run_in_thread(work) if is_long else work()
