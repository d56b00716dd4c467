"""The planner: turns a stored conversation into entries and receipts. It reads no file and never waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.planning.assemble import Assembly
from showandtell.core.planning.cache_marks import mark_prefixes
from showandtell.core.planning.eviction import advance_eviction
from showandtell.core.planning.incremental import EMPTY, PlanCache
from showandtell.core.planning.values import Plan, Policy, Receipt, View
from showandtell.errors import UnsupportedFile


def plan(
    view: View,
    target: Target,
    known: Derivations,
    policy: Policy,
    *,
    cache: PlanCache | None = None,
    scale: float = 1.0,
) -> Plan:
    """Decide where every file goes. Add what `wants` names to `known` and plan again, until `wants` is empty.

    Pass the same `cache` at each step of a conversation: the plan is the same, but only new messages are planned.
    `scale` is how many tokens the model has counted for one that was estimated. A new one affects what leaves next.
    """
    cached = EMPTY if cache is None else cache.find(view, target, known, policy)
    eviction = advance_eviction(cached.eviction, cached.rest(view), target, known, policy, scale=scale)
    assembly = Assembly(view, target, known, policy, eviction)
    planned = assembly.extend(assembly.evict(cached), len(view.messages), len(eviction.uses))
    if assembly.wants:
        return Plan((), (), frozenset(assembly.wants))
    # `View.answering` affects what is refused or lifted, so a plan without these holds for any later view.
    if cache is not None and not assembly.for_now and view.messages and view.messages[-1].role != "assistant":
        cache.store(target, replace(planned, policy=policy, known=dict(known), eviction=eviction))
    marks = mark_prefixes(planned.entries, target, policy)
    return Plan(planned.entries, tuple(planned.receipts.values()), frozenset(), marks, eviction.tokens(policy))


def raise_refused(plan: Plan, target: Target) -> None:
    """Raise `UnsupportedFile` that names all refused files, if there are any."""
    refused = [receipt for receipt in plan.receipts if receipt.delivery == "refused"]
    if refused:
        files = [(f"{receipt.label} ({receipt.name})", receipt.reason) for receipt in refused]
        raise UnsupportedFile(target.name, files)


def inline_files(receipts: Iterable[Receipt], view: View) -> list[Facts]:
    """The stored files whose bytes a plan with these receipts sends inline."""
    files: list[Facts] = []
    for receipt in receipts:
        is_inline = receipt.cell is not None and receipt.cell.form == "inline"
        if receipt.place == "answer" or (receipt.place is not None and is_inline):
            facts = view.attachments[receipt.number].facts
            files += receipt.variant.files if receipt.variant is not None else [facts] if facts else []
    return files


LoadDerivations = Callable[[Iterable[DerivationRequest]], Awaitable[Derivations]]


async def call_here(work: Callable[[], Plan]) -> Plan:
    """Plan in the thread of the event loop."""
    return work()


async def prepare(
    view: View,
    target: Target,
    known: Derivations,
    load: LoadDerivations,
    policy: Policy,
    *,
    cache: PlanCache | None = None,
    scale: float = 1.0,
    call: Callable[[Callable[[], Plan]], Awaitable[Plan]] = call_here,
) -> tuple[Plan, Derivations]:
    """Plan and load what the plan wants until it wants nothing. Returns the plan and all known derivations.

    `call` runs the planner, in another thread perhaps.
    """
    while True:
        planned = await call(partial(plan, view, target, known, policy, cache=cache, scale=scale))
        if not planned.wants:
            return planned, known
        known = {**known, **await load(planned.wants)}
