"""Plans the requests of a run, and checks that the stored files which they send are intact."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from showandtell.agent.loader import Loader
from showandtell.agent.memory import Memory
from showandtell.agent.provider_uploads import forget_expired
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import Derivations
from showandtell.core.planning.plan import inline_files, prepare
from showandtell.core.planning.receipts import new_receipts
from showandtell.core.planning.values import Plan, Policy, Receipt


@dataclass(slots=True)
class RequestPlanner:
    """Plans the requests of one run.

    checked: the files that were found intact, which the receipts of the last plan and all before it name. They are
        checked again if sending them shows that they have changed.
    """

    memory: Memory
    checked: set[Facts] = field(default_factory=set[Facts])
    receipts: tuple[Receipt, ...] = ()

    def forget(self) -> None:
        """Check all files again."""
        self.checked.clear()
        self.receipts = ()

    async def plan(self, loader: Loader, policy: Policy, failures: Derivations) -> Plan:
        """Plan a request, and plan again until no stored file has changed meanwhile."""
        conversation, target, memory = loader.conversation, loader.target, self.memory
        if policy.uploads or policy.signed_urls:
            await forget_expired(conversation, loader.sharing.clock())
        while True:
            known, view = conversation.known(), memory.fit.view(conversation.view())
            current = {**known, **failures} if failures else known
            call, scale = partial(memory.plan, len(view.messages), target), memory.fit.scale
            args = view, target, current, loader.load, policy
            plan, _ = await prepare(*args, cache=memory.plan_cache, scale=scale, call=call)
            new = set(inline_files(new_receipts(plan.receipts, self.receipts), view)) - self.checked
            problems = await conversation.check(new)
            self.checked |= new - problems.keys()
            if not problems:
                self.receipts = plan.receipts
                return memory.fit.with_left_out(plan, view)
